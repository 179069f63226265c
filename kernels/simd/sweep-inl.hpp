// The loops of the block evaluator, one per operation. Included once per instruction set.
#if defined(STARPMC_SWEEP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STARPMC_SWEEP_INL
#undef STARPMC_SWEEP_INL
#else
#define STARPMC_SWEEP_INL
#endif

#include "kernels/elementary_functions.hpp"
#include "kernels/simd/evaluate.hpp"
#include "kernels/simd/functions-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Operands as the loops read them.
template <class D>
struct Row {
  const hn::TFromD<D>* from;
  HWY_INLINE hn::Vec<D> operator()(D d, std::size_t i) const { return hn::LoadU(d, from + i); }
};
template <class D>
struct Same {
  hn::Vec<D> value;
  HWY_INLINE hn::Vec<D> operator()(D, std::size_t) const { return value; }
};

/// One instruction over all values of a block.
template <class D>
class Sweep {
 public:
  using Real = hn::TFromD<D>;
  using V = hn::Vec<D>;

  Sweep(const BlockArguments<Real>& arguments, const BlockInstruction& instruction)
      : a_(arguments), i_(instruction) {}

  void operator()() const {
    const D d;
    switch (i_.fusion) {
      case Fusion::multiply_add:
        return ternary([](V a, V b, V c) HWY_ATTR { return hn::MulAdd(a, b, c); });
      case Fusion::multiply_subtract:
        return ternary([](V a, V b, V c) HWY_ATTR { return hn::MulSub(a, b, c); });
      case Fusion::subtract_product:
        return ternary([](V a, V b, V c) HWY_ATTR { return hn::NegMulAdd(a, b, c); });
      case Fusion::none:
        break;
    }
    const V one = hn::Set(d, Real{1});
    switch (i_.operation) {
      case Operation::add:
        return binary([](V a, V b) HWY_ATTR { return hn::Add(a, b); });
      case Operation::subtract:
        return binary([](V a, V b) HWY_ATTR { return hn::Sub(a, b); });
      case Operation::multiply:
        return binary([](V a, V b) HWY_ATTR { return hn::Mul(a, b); });
      case Operation::divide:
        return binary([](V a, V b) HWY_ATTR { return hn::Div(a, b); });
      case Operation::negate:
        return rows([](V a) HWY_ATTR { return hn::Neg(a); }, row(0));
      case Operation::reciprocal:
        return rows([one](V a) HWY_ATTR { return hn::Div(one, a); }, row(0));
      case Operation::square_root:
        return rows([](V a) HWY_ATTR { return hn::Sqrt(a); }, row(0));
      case Operation::reciprocal_square_root:
        return rows([one](V a) HWY_ATTR { return hn::Div(one, hn::Sqrt(a)); }, row(0));
      default:
        return choose();
    }
  }

 private:
  /// The operations that compare and round.
  void choose() const {
    const D d;
    const V zero = hn::Zero(d);
    const V one = hn::Set(d, Real{1});
    switch (i_.operation) {
      case Operation::abs:
        return rows([](V a) HWY_ATTR { return hn::Abs(a); }, row(0));
      case Operation::floor:
        return rows([](V a) HWY_ATTR { return hn::Floor(a); }, row(0));
      case Operation::ceil:
        return rows([](V a) HWY_ATTR { return hn::Ceil(a); }, row(0));
      case Operation::min:
        return rows([](V a, V b) HWY_ATTR { return hn::IfThenElse(hn::Lt(b, a), b, a); }, row(0),
                    row(1));
      case Operation::max:
        return rows([](V a, V b) HWY_ATTR { return hn::IfThenElse(hn::Lt(a, b), b, a); }, row(0),
                    row(1));
      case Operation::step:
        return rows([zero, one](V a)
                        HWY_ATTR { return hn::IfThenElse(hn::Lt(a, zero), zero, one); },
                    row(0));
      case Operation::delta:
        return rows([zero, one](V a)
                        HWY_ATTR { return hn::IfThenElse(hn::Eq(a, zero), one, zero); },
                    row(0));
      case Operation::select:
        return rows([zero](V a, V b, V c)
                        HWY_ATTR { return hn::IfThenElse(hn::Eq(a, zero), c, b); },
                    row(0), row(1), row(2));
      default:
        return transcendental();
    }
  }

  /// Those of functions.h and angle_functions.h.
  void transcendental() const {
    switch (i_.operation) {
      case Operation::power:
        return wide([](real_t a, real_t b) HWY_ATTR { return exact_power(a, b); }, row(0), row(1));
      case Operation::atan2:
        return wide([](real_t a, real_t b) HWY_ATTR { return exact_atan2(a, b); }, row(0), row(1));
#define STARPMC_CASE(name) \
  case Operation::name:    \
    return wide([](real_t a) HWY_ATTR { return exact_##name(a); }, row(0));
        STARPMC_ELEMENTARY_FUNCTIONS(STARPMC_CASE)
#undef STARPMC_CASE
      default:
        HWY_ABORT("an instruction of a program has no operation");
    }
  }

  Row<D> row(std::size_t k) const { return {a_.read[i_.operands[k].index]}; }

  /// to[i] = function(operands[i]...)
  template <class Function, class... Operands>
  HWY_INLINE void rows(const Function& function, const Operands&... operands) const {
    const D d;
    Real* const to = a_.write[i_.result];
    for (std::size_t i = 0; i < a_.count; i += hn::Lanes(d)) {
      hn::StoreU(function(operands(d, i)...), d, to + i);
    }
  }

  /// The same with a function of doubles.
  template <class Function, class... Operands>
  HWY_INLINE void wide(const Function& function, const Operands&... operands) const {
    if constexpr (sizeof(Real) == sizeof(double)) {
      rows([&](auto... x) HWY_ATTR { return function(real_t{x}...).v; }, operands...);
    } else {
      const hn::Half<D> halves;
      const real_t::D doubles;
      rows(
          [&](auto... x) HWY_ATTR {
            const auto lower =
                function(real_t{hn::PromoteTo(doubles, hn::LowerHalf(halves, x))}...);
            const auto upper =
                function(real_t{hn::PromoteTo(doubles, hn::UpperHalf(halves, x))}...);
            return hn::Combine(D(), hn::DemoteTo(halves, upper.v), hn::DemoteTo(halves, lower.v));
          },
          operands...);
    }
  }

  template <class Next>
  HWY_INLINE void with_operand(std::size_t k, const Next& next) const {
    const D d;
    const BlockOperand& operand = i_.operands[k];
    if (operand.uniform) {
      next(Same<D>{hn::Set(d, a_.uniforms[operand.index])});
    } else {
      next(row(k));
    }
  }

  template <class Function>
  HWY_INLINE void binary(const Function& function) const {
    with_operand(0, [&](const auto& a) HWY_ATTR {
      with_operand(1, [&](const auto& b) HWY_ATTR { rows(function, a, b); });
    });
  }
  template <class Function>
  HWY_INLINE void ternary(const Function& function) const {
    with_operand(0, [&](const auto& a) HWY_ATTR {
      with_operand(1, [&](const auto& b) HWY_ATTR {
        with_operand(2, [&](const auto& c) HWY_ATTR { rows(function, a, b, c); });
      });
    });
  }

  const BlockArguments<Real>& a_;
  const BlockInstruction& i_;
};

template <class Real>
void run_block(const BlockArguments<Real>& a) {
  using D = hn::ScalableTag<Real>;
  for (const BlockInstruction& instruction : a.instructions) Sweep<D>(a, instruction)();
}

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
