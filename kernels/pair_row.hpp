#pragma once

#include <optional>
#include <variant>

#include "kernels/compiled/row.hpp"
#include "kernels/simd/block_row.hpp"

namespace starpmc {

/// Rows of pairs of a program, by the fastest means there is: machine code where the program can be
/// compiled, else the block evaluator. Compiling takes tens of milliseconds: make one, and a copy
/// for each thread; copies share the machine code.
template <class Real>
class PairRow {
 public:
  /// @throws RunError where the shape does not fit the program
  PairRow(const Program& program, const compiled::RowShape& shape) : row_(make(program, shape)) {}
  /// Without machine code.
  static PairRow by_blocks(const Program& program, const compiled::RowShape& shape) {
    return PairRow(simd::BlockRow<Real>(program, shape));
  }

  void operator()(const compiled::RowArguments<Real>& arguments) {
    std::visit([&](auto& row) { row(arguments); }, row_);
  }
  bool is_compiled() const { return std::holds_alternative<Compiled>(row_); }

 private:
  using Compiled = compiled::RowFunction<Real>;
  using Row = std::variant<Compiled, simd::BlockRow<Real>>;

  explicit PairRow(Row row) : row_(std::move(row)) {}

  static Row make(const Program& program, const compiled::RowShape& shape) {
    if (auto compiled = Compiled::compile(program, shape)) return std::move(*compiled);
    return simd::BlockRow<Real>(program, shape);
  }

  Row row_;
};

}  // namespace starpmc
