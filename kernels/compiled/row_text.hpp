#pragma once

#include <optional>
#include <string>

#include "kernels/compiled/row.hpp"

namespace starpmc::compiled {

/// LLVM's text of a function "row" over some sources at a time:
///   void row(ptr x, ptr y, ptr z, i64 count, ptr targets, ptr varying, ptr uniform,
///            ptr squared_cutoffs, ptr totals, ptr per_source)
/// @param single fp32 instead of fp64; totals are fp64 either way
/// @return nothing where the program has an operation without a form for vectors
std::optional<std::string> row_text(const Program& program, const RowShape& shape, bool single,
                                    InstructionSet set);

}  // namespace starpmc::compiled
