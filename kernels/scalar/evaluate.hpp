#pragma once

#include <span>
#include <vector>

#include "kernels/program.hpp"

/// Programs evaluated for one set of inputs at a time: what the faster evaluators are checked
/// against.
namespace starpmc::scalar {

/// With the functions of <cmath>.
/// @param inputs  one value per input of the program
/// @param outputs one value per output
/// @param values  room for the intermediate values; what it holds before and after is of no use
/// @throws RunError where a span has the wrong size
template <class Real>
void evaluate(const Program& program, std::span<const Real> inputs, std::span<Real> outputs,
              std::vector<Real>& values);

/// With the operations of kernels/common/functions.h: the same bits as simd::evaluate_exact and
/// the OpenCL text of opencl::emit_exact_function, but for the sign and payload of a NaN.
void evaluate_exact(const Program& program, std::span<const double> inputs,
                    std::span<double> outputs, std::vector<double>& values);

/// As above, with room of their own.
template <class Real>
void evaluate(const Program& program, std::span<const Real> inputs, std::span<Real> outputs) {
  std::vector<Real> values;
  evaluate(program, inputs, outputs, values);
}
inline void evaluate_exact(const Program& program, std::span<const double> inputs,
                           std::span<double> outputs) {
  std::vector<double> values;
  evaluate_exact(program, inputs, outputs, values);
}

}  // namespace starpmc::scalar
