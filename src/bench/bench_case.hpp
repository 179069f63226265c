#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace starpmc {

/// One measured number; the name carries the unit, as in summary.json.
struct Figure {
  std::string quantity;
  double value;
};

/// Tasks of an operation on a worker, of whole steps with a task per term.
struct KernelTime {
  std::string operation;
  std::string worker;
  std::uint64_t tasks;
  double microseconds_per_step;
};

/// A task of a timeline; milliseconds since the first was submitted.
struct TaskSpan {
  int worker;
  double submitted_ms;
  double started_ms;
  double ended_ms;
};

/// What a measurement gave.
struct Measured {
  std::vector<Figure> figures;
  std::vector<KernelTime> kernels{};
};

/// One line of the benchmark: what was measured where.
struct BenchCase {
  std::string term;  ///< arithmetic, an operation, steps, errors, poses or roots
  std::string system;
  std::string implementation;
  std::string precision;
  std::string device;
  std::vector<Figure> figures;
  std::string functions{};  ///< built-in or expressions; empty where no pair function takes part
  std::vector<KernelTime> kernels{};  ///< in bench.json only, as
  std::vector<TaskSpan> tasks{};      ///< these

  /// nullptr where there is none of that name.
  const Figure* figure(std::string_view quantity) const {
    for (const Figure& figure : figures) {
      if (figure.quantity == quantity) return &figure;
    }
    return nullptr;
  }
};

}  // namespace starpmc
