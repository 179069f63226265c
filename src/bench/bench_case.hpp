#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace starpmc {

/// One measured number; the name carries the unit, as in summary.json.
struct Figure {
  std::string quantity;
  double value;
};

/// One line of the benchmark: what was measured where.
struct BenchCase {
  std::string term;  ///< probe, an operation, steps or errors
  std::string system;
  std::string implementation;
  std::string precision;
  std::string device;
  std::vector<Figure> figures;
  std::string functions{};  ///< built-in or expressions; empty where no pair function takes part

  /// nullptr where there is none of that name.
  const Figure* figure(std::string_view quantity) const {
    for (const Figure& figure : figures) {
      if (figure.quantity == quantity) return &figure;
    }
    return nullptr;
  }
};

}  // namespace starpmc
