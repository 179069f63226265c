// How fast expressions are beside hand-tuned loops: nanoseconds a pair, one core, everything in the
// first-level cache. Four targets meet rows of sources. Each figure is the least of many rounds,
// the contestants taking turns.
#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/pair_benchmark.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/pair_sum-inl.hpp"

#ifndef STARPMC_PAIR_BENCHMARK_ONCE
#define STARPMC_PAIR_BENCHMARK_ONCE
#include <vector>

namespace starpmc::test {
constexpr std::size_t kTargets = 4;
constexpr std::size_t kSources = 256;
constexpr double kCutoff = 9;
constexpr double kC12 = 2.5e6;
constexpr double kC6 = 2.6e3;

template <class Real>
struct Pairs {
  std::vector<Real> x, y, z, charge, targets;
  std::vector<double> totals = std::vector<double>(kTargets);
};
}  // namespace starpmc::test
#endif

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {
namespace {

using test::Pairs;

/// The loops of qmmm_coulomb_grid and molecule_row for one kind of pair.
template <bool kLennardJones, class Real>
void hand_tuned(Pairs<Real>& pairs) {
  using D = hn::ScalableTag<Real>;
  using V = VecOf<D>;
  const D d;
  const CoulombWithin<D> coulomb(d, test::kCutoff);
  const V cutoff_squared = hn::Set(d, static_cast<Real>(test::kCutoff * test::kCutoff));
  const V c12 = hn::Set(d, static_cast<Real>(test::kC12));
  const V c6 = hn::Set(d, static_cast<Real>(test::kC6));
  const Periodic<D> periodic(d, {{1, 1, 1}, 1, 1});
  Point<V> targets[test::kTargets];
  V sums[test::kTargets];
  for (std::size_t k = 0; k < test::kTargets; ++k) {
    const auto at = [&](std::size_t axis)
                        HWY_ATTR { return hn::Set(d, pairs.targets[3 * k + axis]); };
    targets[k] = {at(0), at(1), at(2)};
    sums[k] = hn::Zero(d);
  }
  for (std::size_t i = 0; i < test::kSources; i += hn::Lanes(d)) {
    const Point<V> source{hn::LoadU(d, &pairs.x[i]), hn::LoadU(d, &pairs.y[i]),
                          hn::LoadU(d, &pairs.z[i])};
    const V charge = hn::LoadU(d, &pairs.charge[i]);
    pair_step<test::kTargets, Care::cut>(
        d, targets, source, periodic, [&](std::size_t k, V r2) HWY_ATTR {
          if constexpr (kLennardJones) {
            const Distance<V> r = distance(d, r2);
            sums[k] = hn::MulAdd(charge, coulomb.of(r), sums[k]);
            const V inverse2 = hn::Mul(r.inverse, r.inverse);
            const V inverse6 = hn::Mul(hn::Mul(inverse2, inverse2), inverse2);
            const V energy = hn::Mul(hn::MulSub(c12, inverse6, c6), inverse6);
            sums[k] = hn::Add(sums[k], hn::IfThenElseZero(hn::Lt(r2, cutoff_squared), energy));
          } else {
            sums[k] = hn::MulAdd(charge, coulomb(r2), sums[k]);
          }
        });
  }
  for (std::size_t k = 0; k < test::kTargets; ++k) {
    WideSum<D> sum;
    sum.add(d, sums[k]);
    pairs.totals[k] += sum.total();
  }
}

/// r^2 of one target with the sources, for the block evaluator.
template <class Real>
void squared_distances(const Pairs<Real>& pairs, std::size_t target, Real* r2) {
  const hn::ScalableTag<Real> d;
  const auto x = hn::Set(d, pairs.targets[3 * target]);
  const auto y = hn::Set(d, pairs.targets[3 * target + 1]);
  const auto z = hn::Set(d, pairs.targets[3 * target + 2]);
  for (std::size_t i = 0; i < test::kSources; i += hn::Lanes(d)) {
    const auto dx = hn::Sub(x, hn::LoadU(d, &pairs.x[i]));
    const auto dy = hn::Sub(y, hn::LoadU(d, &pairs.y[i]));
    const auto dz = hn::Sub(z, hn::LoadU(d, &pairs.z[i]));
    hn::StoreU(hn::MulAdd(dx, dx, hn::MulAdd(dy, dy, hn::Mul(dz, dz))), d, r2 + i);
  }
}

/// Sum of the energies inside the cutoff.
template <class Real>
double sum_within(const Real* r2, const Real* energies) {
  const hn::ScalableTag<Real> d;
  const auto cutoff_squared = hn::Set(d, static_cast<Real>(test::kCutoff * test::kCutoff));
  auto sum = hn::Zero(d);
  for (std::size_t i = 0; i < test::kSources; i += hn::Lanes(d)) {
    sum = hn::Add(sum, hn::IfThenElseZero(hn::Lt(hn::LoadU(d, r2 + i), cutoff_squared),
                                          hn::LoadU(d, energies + i)));
  }
  WideSum<hn::ScalableTag<Real>> wide;
  wide.add(d, sum);
  return wide.total();
}

}  // namespace

void CoulombDouble(Pairs<double>& p) { hand_tuned<false>(p); }
void CoulombFloat(Pairs<float>& p) { hand_tuned<false>(p); }
void BothDouble(Pairs<double>& p) { hand_tuned<true>(p); }
void BothFloat(Pairs<float>& p) { hand_tuned<true>(p); }
void DistancesDouble(const Pairs<double>& p, std::size_t t, double* r2) {
  squared_distances(p, t, r2);
}
void DistancesFloat(const Pairs<float>& p, std::size_t t, float* r2) {
  squared_distances(p, t, r2);
}
double WithinDouble(const double* r2, const double* e) { return sum_within(r2, e); }
double WithinFloat(const float* r2, const float* e) { return sum_within(r2, e); }

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <random>

#include "kernels/compiled/row.hpp"
#include "kernels/scalar/evaluate.hpp"
#include "kernels/simd/evaluate.hpp"

namespace starpmc::simd {
HWY_EXPORT(CoulombDouble);
HWY_EXPORT(CoulombFloat);
HWY_EXPORT(BothDouble);
HWY_EXPORT(BothFloat);
HWY_EXPORT(DistancesDouble);
HWY_EXPORT(DistancesFloat);
HWY_EXPORT(WithinDouble);
HWY_EXPORT(WithinFloat);

namespace {

using test::kSources;
using test::kTargets;
using test::Pairs;

void by_hand(bool both, Pairs<double>& p) {
  both ? HWY_DYNAMIC_DISPATCH(BothDouble)(p) : HWY_DYNAMIC_DISPATCH(CoulombDouble)(p);
}
void by_hand(bool both, Pairs<float>& p) {
  both ? HWY_DYNAMIC_DISPATCH(BothFloat)(p) : HWY_DYNAMIC_DISPATCH(CoulombFloat)(p);
}
void distances(const Pairs<double>& p, std::size_t t, double* r2) {
  HWY_DYNAMIC_DISPATCH(DistancesDouble)(p, t, r2);
}
void distances(const Pairs<float>& p, std::size_t t, float* r2) {
  HWY_DYNAMIC_DISPATCH(DistancesFloat)(p, t, r2);
}
double within(const double* r2, const double* e) {
  return HWY_DYNAMIC_DISPATCH(WithinDouble)(r2, e);
}
double within(const float* r2, const float* e) { return HWY_DYNAMIC_DISPATCH(WithinFloat)(r2, e); }

/// q (1 - r/rc)^2 / r, and c12/r^12 - c6/r^6 where it is wanted; inputs r^2, q, 1/rc, c12, c6. What
/// the translation of the formulas gives.
Program energy(bool both) {
  Program p;
  p.inputs = {"r2", "q", "1/rc", "c12", "c6"};
  p.constants = {1};
  const auto add = [&](Operation operation, std::uint32_t a, std::uint32_t b = 0) {
    p.instructions.push_back({operation, {a, b, 0}});
    return p.values() - 1;
  };
  const auto inverse = add(Operation::reciprocal_square_root, 0);
  const auto r = add(Operation::multiply, 0, inverse);
  const auto remaining = add(Operation::subtract, 5, add(Operation::multiply, r, 2));
  const auto coulomb =
      add(Operation::multiply, inverse, add(Operation::multiply, remaining, remaining));
  auto total = add(Operation::multiply, 1, coulomb);
  if (both) {
    const auto inverse2 = add(Operation::multiply, inverse, inverse);
    const auto inverse4 = add(Operation::multiply, inverse2, inverse2);
    const auto inverse6 = add(Operation::multiply, inverse4, inverse2);
    const auto depth = add(Operation::subtract, add(Operation::multiply, 3, inverse6), 4);
    total = add(Operation::add, total, add(Operation::multiply, depth, inverse6));
  }
  p.outputs = {total};
  return p;
}

const std::vector<bool> kUniform{false, false, true, true, true};

template <class Real>
std::vector<Real> coefficients() {
  return {static_cast<Real>(1 / test::kCutoff), static_cast<Real>(test::kC12),
          static_cast<Real>(test::kC6)};
}

template <class Real>
Pairs<Real> make_pairs() {
  std::mt19937_64 random(1);
  const auto numbers = [&](std::size_t count, double low, double high) {
    std::uniform_real_distribution<double> real(low, high);
    std::vector<Real> values(count);
    for (Real& value : values) value = static_cast<Real>(real(random));
    return values;
  };
  return {numbers(kSources, 2, 6), numbers(kSources, 2, 6), numbers(kSources, 2, 6),
          numbers(kSources, -1, 1), numbers(3 * kTargets, 0, 1)};
}

struct Contestant {
  const char* name;
  std::function<void()> run;
  double best = HUGE_VAL;
};

/// Nanoseconds a pair of each.
void race(std::vector<Contestant>& contestants) {
  constexpr int kRounds = 200;
  constexpr int kRepeats = 300;
  for (int round = 0; round < kRounds; ++round) {
    for (Contestant& contestant : contestants) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < kRepeats; ++i) contestant.run();
      const std::chrono::duration<double, std::nano> taken =
          std::chrono::steady_clock::now() - start;
      contestant.best = std::min(contestant.best, taken.count() / (kRepeats * kSources * kTargets));
    }
  }
}

template <class Real>
void compare(const char* precision, bool both) {
  const Program program = energy(both);
  Pairs<Real> hand = make_pairs<Real>();
  Pairs<Real> block = hand;
  Pairs<Real> compiled_pairs = hand;
  const std::vector<Real> uniform = coefficients<Real>();
  BlockEvaluator<Real> evaluator(program, Rounding::quick, kUniform);
  evaluator.set_uniform(uniform);
  std::vector<Real> r2(kSources);
  std::vector<Real> energies(kSources);
  const Real squared_cutoff = static_cast<Real>(test::kCutoff * test::kCutoff);
  std::vector<Contestant> contestants{
      {"by hand", [&] { by_hand(both, hand); }},
      {"block evaluator", [&] {
         for (std::size_t t = 0; t < kTargets; ++t) {
           distances(block, t, r2.data());
           const std::array<const Real*, 2> inputs{r2.data(), block.charge.data()};
           const std::array<Real*, 1> outputs{energies.data()};
           evaluator(inputs, kSources, outputs);
           block.totals[t] += within(r2.data(), energies.data());
         }
       }}};
  const auto start = std::chrono::steady_clock::now();
  const auto row = compiled::RowFunction<Real>::compile(
      program, {0, kUniform, kTargets, compiled::RowResult::totals, 0});
  const std::chrono::duration<double, std::milli> compile_time =
      std::chrono::steady_clock::now() - start;
  const Real* const charges = compiled_pairs.charge.data();
  const compiled::RowArguments<Real> arguments{
      {compiled_pairs.x.data(), compiled_pairs.y.data(), compiled_pairs.z.data()},
      kSources,
      compiled_pairs.targets.data(),
      &charges,
      uniform.data(),
      &squared_cutoff,
      compiled_pairs.totals.data(),
      nullptr};
  if (row) contestants.push_back({"compiled", [&] { (*row)(arguments); }});
  race(contestants);
  for (const Contestant& contestant : contestants) {
    fmt::print("{} {:<14} {:<16} {:.4f} ns/pair, {:.3f} of hand-tuned\n", precision,
               both ? "LJ + Coulomb" : "Coulomb", contestant.name, contestant.best,
               contestant.best / contestants[0].best);
  }
  for (std::size_t t = 0; t < kTargets; ++t) {
    fmt::print("  target {}: {:.12g} {:.12g} {:.12g}\n", t, hand.totals[t], block.totals[t],
               compiled_pairs.totals[t]);
  }
  fmt::print("  compiled in {:.1f} ms\n", compile_time.count());
}

}  // namespace
}  // namespace starpmc::simd

int main() {
  for (const bool both : {false, true}) {
    starpmc::simd::compare<double>("fp64", both);
    starpmc::simd::compare<float>("fp32", both);
  }
}
#endif
