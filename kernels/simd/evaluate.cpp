#include "kernels/simd/evaluate.hpp"

#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/evaluate.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/sweep-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {

void RunDouble(const BlockArguments<double>& a) { run_block(a); }
void RunFloat(const BlockArguments<float>& a) { run_block(a); }

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <type_traits>

#include "kernels/base/error.hpp"
#include "kernels/scalar/evaluate.hpp"

namespace starpmc::simd {
HWY_EXPORT(RunDouble);
HWY_EXPORT(RunFloat);

namespace {

/// Bytes of a block's rows: they stay in the first-level cache beside the inputs and outputs.
constexpr std::size_t kBlockBytes = std::size_t{16} * 1024;
constexpr std::size_t kLargestBlock = 512;

void dispatch(const BlockArguments<double>& a) { HWY_DYNAMIC_DISPATCH(RunDouble)(a); }
void dispatch(const BlockArguments<float>& a) { HWY_DYNAMIC_DISPATCH(RunFloat)(a); }

std::size_t block_size_for(std::size_t rows, std::size_t value_bytes) {
  const std::size_t fitting = kBlockBytes / (value_bytes * std::max<std::size_t>(rows, 1));
  return std::clamp(fitting / kBlockGrain * kBlockGrain, kBlockGrain, kLargestBlock);
}

}  // namespace

template <class Real>
BlockEvaluator<Real>::BlockEvaluator(const Program& program, Rounding rounding,
                                     const std::vector<bool>& uniform)
    : program_(program, rounding, uniform),
      exact_(rounding == Rounding::exact),
      block_size_(block_size_for(program_.rows(), sizeof(Real))),
      uniforms_(program_.once.outputs.size()),
      // a row for each row of the program: inputs and outputs have theirs for a last, partial block
      memory_(program_.rows() * block_size_),
      read_(program_.rows()),
      write_(program_.rows()) {
  if (exact_ && !std::is_same_v<Real, double>) {
    throw RunError("only fp64 has exact functions");
  }
  if (program_.once.inputs.empty()) set_uniform({});
}

template <class Real>
void BlockEvaluator<Real>::set_uniform(std::span<const Real> values) {
  if constexpr (std::is_same_v<Real, double>) {
    if (exact_) {
      scalar::evaluate_exact(program_.once, values, uniforms_);
    } else {
      scalar::evaluate<double>(program_.once, values, uniforms_);
    }
  } else {
    scalar::evaluate<Real>(program_.once, values, uniforms_);
  }
  for (std::size_t i = 0; i < program_.filled.size(); ++i) {
    const auto row =
        memory_.begin() + static_cast<std::ptrdiff_t>((program_.first_filled() + i) * block_size_);
    std::fill_n(row, block_size_, uniforms_[program_.filled[i]]);
  }
}

template <class Real>
void BlockEvaluator<Real>::run(std::size_t count) {
  dispatch(BlockArguments<Real>{program_.instructions, read_.data(), write_.data(),
                                uniforms_.data(), count});
  for (const BlockProgram::Copy& copy : program_.copies) {
    Real* const to = write_[program_.varying_inputs + copy.output];
    if (copy.from.uniform) {
      std::fill_n(to, count, uniforms_[copy.from.index]);
    } else {
      std::copy_n(read_[copy.from.index], count, to);
    }
  }
}

template <class Real>
void BlockEvaluator<Real>::operator()(std::span<const Real* const> inputs, std::size_t count,
                                      std::span<Real* const> outputs) {
  if (inputs.size() != program_.varying_inputs || outputs.size() != program_.outputs) {
    throw RunError("a program of " + std::to_string(program_.varying_inputs) +
                   " varying inputs and " + std::to_string(program_.outputs) +
                   " outputs was evaluated with " + std::to_string(inputs.size()) + " and " +
                   std::to_string(outputs.size()));
  }
  for (std::size_t row = 0; row < program_.rows(); ++row) {
    read_[row] = write_[row] = memory_.data() + row * block_size_;
  }
  const std::size_t whole = count / kBlockGrain * kBlockGrain;
  for (std::size_t start = 0; start < whole; start += block_size_) {
    for (std::size_t i = 0; i < inputs.size(); ++i) read_[i] = inputs[i] + start;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      read_[inputs.size() + i] = write_[inputs.size() + i] = outputs[i] + start;
    }
    run(std::min(block_size_, whole - start));
  }
  const std::size_t rest = count - whole;
  if (rest == 0) return;
  for (std::size_t row = 0; row < inputs.size() + outputs.size(); ++row) {
    read_[row] = write_[row] = memory_.data() + row * block_size_;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Real* const row = memory_.data() + i * block_size_;
    std::copy_n(inputs[i] + whole, rest, row);
    std::fill_n(row + rest, kBlockGrain - rest, inputs[i][whole]);
  }
  run(kBlockGrain);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::copy_n(read_[inputs.size() + i], rest, outputs[i] + whole);
  }
}

template class BlockEvaluator<float>;
template class BlockEvaluator<double>;

}  // namespace starpmc::simd
#endif
