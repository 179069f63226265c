#include "kernels/compiled/pair_text.hpp"

#include <span>
#include <utility>

#include "kernels/compiled/function_text.hpp"

namespace starpmc::compiled {

std::uint32_t lanes_of(InstructionSet set, bool single) {
  const std::uint32_t bytes = set == InstructionSet::avx512 ? 64
                              : set == InstructionSet::avx2 ? 32
                                                            : 16;
  return bytes / (single ? 4 : 8);
}

void PairText::set_squared_distance(std::string r2) {
  r2_ = std::move(r2);
  inverse_.clear();
  root_.clear();
}

const std::string& PairText::inverse() {
  if (inverse_.empty()) write_roots();
  return inverse_;
}

std::string PairText::length_squared(std::string_view x, std::string_view y, std::string_view z) {
  const std::string squares = text_.multiply_add(y, y, text_.multiply(z, z));
  return text_.multiply_add(x, x, squares);
}

std::string PairText::at_least(const std::string& value, double least) {
  const std::string limit = text_.constant(least);
  return text_.choose(text_.compare("olt", value, limit), limit, value);
}

bool PairText::needs_roots(const FusedInstruction& instruction,
                           std::uint32_t squared_distance) const {
  if (instruction.fusion != Fusion::none || set_ == InstructionSet::portable) return false;
  if (instruction.operation == Operation::divide) {
    return positive_ && instruction.operands[1] == squared_distance;
  }
  if (instruction.operands[0] != squared_distance) return false;
  switch (instruction.operation) {
    case Operation::reciprocal_square_root:
      return true;
    case Operation::square_root:
    case Operation::reciprocal:
      return positive_;
    default:
      return false;
  }
}

std::string PairText::compute(const FusedInstruction& instruction,
                              const std::vector<std::string>& names) {
  std::vector<std::string> x;
  const auto count = static_cast<std::size_t>(instruction.operands_read());
  for (const std::uint32_t value : std::span(instruction.operands).first(count)) {
    x.push_back(names[value]);
  }
  switch (instruction.fusion) {
    case Fusion::multiply_add:
      return text_.multiply_add(x[0], x[1], x[2]);
    case Fusion::multiply_subtract:
      return text_.multiply_add(x[0], x[1], text_.negate(x[2]));
    case Fusion::subtract_product:
      return text_.multiply_add(text_.negate(x[0]), x[1], x[2]);
    case Fusion::none:
      break;
  }
  return compute_plain(instruction.operation, x);
}

std::string PairText::compute_plain(Operation operation, const std::vector<std::string>& x) {
  const bool of_distance = x[0] == r2_ && set_ != InstructionSet::portable;
  if (of_distance && operation == Operation::reciprocal_square_root) return inverse();
  if (of_distance && positive_ && operation == Operation::square_root) {
    inverse();
    return root_;
  }
  if (of_distance && positive_ && operation == Operation::reciprocal) return squared_inverse();
  if (operation == Operation::divide && x[1] == r2_ && positive_ &&
      set_ != InstructionSet::portable) {
    return text_.multiply(x[0], squared_inverse());
  }
  // r^2 times 1/r: r is refined beside 1/r, for the rounded 1/r would bias it from binade to binade
  const auto is = [&](std::size_t a, std::size_t b) { return x[a] == r2_ && x[b] == inverse_; };
  if (operation == Operation::multiply && !inverse_.empty() && (is(0, 1) || is(1, 0))) return root_;
  return vector_operation(text_, operation, x);
}

/// As kernels/simd/pair_sum-inl.hpp computes them.
void PairText::write_roots() {
  const std::string one = text_.constant(1);
  std::string y = estimate(r2_);
  const auto remainder = [&](const std::string& r) {
    return text_.multiply_add(text_.negate(r), y, one);
  };
  const auto third_order = [&](const std::string& h) {
    return text_.multiply(h, slope_of_third_order(h));
  };
  if (!text_.single()) {
    const std::string h = remainder(text_.multiply(r2_, y));
    y = text_.multiply_add(y, third_order(h), y);
  }
  const std::string r = text_.multiply(r2_, y);
  // one correction for both, as it is or halved at its root: as exact, and one operation less
  const std::string correction =
      text_.single() && set_ == InstructionSet::avx2
          ? third_order(remainder(r))
          : text_.multiply_add(text_.negate(r), halved(y), text_.constant(0.5));
  root_ = text_.multiply_add(r, correction, r);
  inverse_ = text_.multiply_add(y, correction, y);
}

/// Newton's step corrects the estimate y of 1/r and r^2 y, the estimate of r, by one and the same
/// factor.
std::string PairText::compute_growth(FusedInstruction instruction,
                                     const std::vector<std::string>& names,
                                     const std::string& slope) {
  const std::string y = estimate(r2_);
  const std::string r = text_.multiply(r2_, y);
  const std::string less = text_.negate(r);
  std::string factor;
  if (set_ == InstructionSet::avx2) {
    const std::string h = text_.multiply_add(less, y, text_.constant(1));
    factor = text_.multiply_add(h, slope_of_third_order(h), text_.constant(1));
  } else {
    factor = text_.multiply_add(less, halved(y), text_.constant(1.5));
  }
  const std::vector<std::string> operands{text_.multiply_add(r, slope, y), factor,
                                          names[instruction.operands[2]]};
  instruction.operands = {0, 1, 2};
  return compute(instruction, operands);
}

/// 1/sqrt(1 - h) is 1 + h times this.
std::string PairText::slope_of_third_order(const std::string& h) {
  return text_.multiply_add(text_.constant(0.375), h, text_.constant(0.5));
}

std::string PairText::squared_inverse() { return text_.multiply(inverse(), inverse()); }

/// Half of a normal number: one off its exponent. Processors have more units for integers than for
/// products; what becomes of 0, infinities and NaN does not matter, for r^2 y is NaN beside them.
std::string PairText::halved(const std::string& x) {
  const std::string integers =
      joined({"<", std::to_string(text_.lanes()), text_.single() ? " x i32>" : " x i64>"});
  std::string one = "<";
  for (std::uint32_t i = 0; i < text_.lanes(); ++i) {
    one += joined({i == 0 ? "" : ", ", text_.single() ? "i32 8388608" : "i64 4503599627370496"});
  }
  const std::string bits = text_.value({"bitcast ", text_.vector(), " ", x, " to ", integers});
  const std::string less = text_.value({"sub ", integers, " ", bits, ", ", one, ">"});
  return text_.value({"bitcast ", integers, " ", less, " to ", text_.vector()});
}

std::string PairText::estimate(const std::string& r2) {
  const std::string& v = text_.vector();
  if (set_ == InstructionSet::avx512) {
    return text_.value({"call ", v, " @llvm.x86.avx512.rsqrt14.", text_.single() ? "ps" : "pd",
                        ".512(", v, " ", r2, ", ", v, " zeroinitializer, ",
                        text_.single() ? "i16" : "i8", " -1)"});
  }
  if (text_.single()) {
    return text_.value({"call ", v, " @llvm.x86.avx.rsqrt.ps.256(", v, " ", r2, ")"});
  }
  const std::string narrow = text_.value({"fptrunc ", v, " ", r2, " to <4 x float>"});
  const std::string y =
      text_.value({"call <4 x float> @llvm.x86.sse.rsqrt.ps(<4 x float> ", narrow, ")"});
  return text_.value({"fpext <4 x float> ", y, " to ", v});
}

std::string PairText::declarations() const {
  const std::string& v = text_.vector();
  std::string called = text_.declarations() + function_declarations(text_);
  switch (set_) {
    case InstructionSet::avx512:
      return called +
             joined({"declare ", v, " @llvm.x86.avx512.rsqrt14.", text_.single() ? "ps" : "pd",
                     ".512(", v, ", ", v, ", ", text_.single() ? "i16" : "i8", ")\n"});
    case InstructionSet::avx2:
      return called + (text_.single()
                           ? joined({"declare ", v, " @llvm.x86.avx.rsqrt.ps.256(", v, ")\n"})
                           : "declare <4 x float> @llvm.x86.sse.rsqrt.ps(<4 x float>)\n");
    case InstructionSet::portable:
      break;
  }
  return called;
}

/// Without the width, LLVM would part 64-byte vectors on processors that clock them down. Targets
/// side by side are parallel enough: unrolled, the loop would run out of registers.
std::string PairText::attributes() const {
  const std::string_view width = set_ == InstructionSet::avx512
                                     ? " \"min-legal-vector-width\"=\"512\" "
                                       "\"prefer-vector-width\"=\"512\""
                                     : "";
  return joined({"attributes #0 = { nounwind", width, " }\n",
                 "!0 = distinct !{!0, !1}\n!1 = !{!\"llvm.loop.unroll.disable\"}\n"});
}

}  // namespace starpmc::compiled
