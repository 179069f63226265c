#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/program.hpp"

/// Programs as OpenCL C. Nothing of a program's names enters the text: values are v0, v1, ... by
/// their number, outputs o0, o1, ..., constants hexadecimal literals.
namespace starpmc::opencl {

/// Type of the values that vary.
enum class ValueType {
  real,  ///< one value, in the precision of the pair terms (opencl/portable.h)
  lanes  ///< a CPU's vector register, or one value on a GPU (opencl/lanes.h)
};

struct FunctionOptions {
  ValueType type = ValueType::real;
  /// Per input: of type real, though the type is lanes. Empty: none.
  std::vector<bool> uniform{};
  /// Per input: surely within [1e-30, 1e30], as a squared distance is; its roots, its reciprocal
  /// and quotients by it are taken by the pair functions' own (opencl/pair_functions.h,
  /// opencl/lanes.h). Empty: none.
  std::vector<bool> moderate{};
};

/// `static inline void NAME(const T v0, const T v1, ..., T *o0, ...)` in the quick precision: the
/// device's functions, multiply-adds fused. Inputs are parameters in the program's order, outputs
/// pointers to private variables: once inlined, all stays in registers. The text goes after
/// opencl/pair_functions.h, or opencl/lanes.h where the type is lanes.
/// @param name must be an identifier, and no name of this program's kernels
/// @throws RunError where it is no identifier, or the options do not fit the program
std::string emit_function(const starpmc::Program& program, std::string_view name,
                          const FunctionOptions& options = {});

/// `static inline void NAME(const double v0, ..., double *o0, ...)` with the same bits as
/// scalar::evaluate_exact on every device (but for the sign and payload of a NaN). The text goes
/// after opencl/functions.h, into a file that is compiled without freedom for the compiler.
std::string emit_exact_function(const starpmc::Program& program, std::string_view name);

}  // namespace starpmc::opencl
