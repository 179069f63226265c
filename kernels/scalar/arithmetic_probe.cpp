#include <array>

#include "kernels/operations.hpp"
#include "kernels/scalar/pair_functions.hpp"

namespace starpmc::scalar {
namespace {

/// Independent chains: enough to hide the latency of an operation.
constexpr std::size_t kChains = 8;
/// Sites that meet each point, as in the SIMD kernel.
constexpr std::size_t kSites = 4;

template <class Real, class Operation>
double repeat(int rounds, Operation operation) {
  std::array<Real, kChains> values{};
  for (std::size_t k = 0; k < kChains; ++k) values[k] = static_cast<Real>(0.5 + 0.1 * double(k));
  for (int round = 0; round < rounds; ++round) {
    for (Real& value : values) value = operation(value);
  }
  double sum = 0;
  for (const Real value : values) sum += static_cast<double>(value);
  return sum;
}

template <class Real>
double repeat_pairs(int rounds) {
  const CoulombShiftedForce<Real> coulomb(kProbeCutoff);
  std::array<Real, kSites> sums{};
  Real source = 0;
  for (int round = 0; round < rounds; ++round) {
    source += static_cast<Real>(kProbeStep);
    for (std::size_t k = 0; k < kSites; ++k) {
      const Real dx = static_cast<Real>(1 + k) - source;
      const Real dy = static_cast<Real>(2 + k) - source;
      const Real dz = static_cast<Real>(3 + k) - source;
      sums[k] += source * coulomb(dx * dx + dy * dy + dz * dz);
    }
  }
  double sum = 0;
  for (const Real value : sums) sum += static_cast<double>(value);
  return sum;
}

}  // namespace

template <class Real>
void arithmetic_probe(const ArithmeticProbeArguments& a) {
  std::size_t operations = kChains;
  double sum = 0;
  switch (a.loop) {
    case ArithmeticLoop::multiply_add:
      sum = repeat<Real>(a.rounds, [](Real x) { return x * Real(0.999) + Real(0.001); });
      break;
    case ArithmeticLoop::reciprocal_root:
      sum = repeat<Real>(a.rounds, [](Real x) { return 1 / std::sqrt(x); });
      break;
    case ArithmeticLoop::pair:
      operations = kSites;
      sum = repeat_pairs<Real>(a.rounds);
      break;
  }
  a.result[0] = static_cast<double>(operations) * a.rounds;
  a.result[1] = sum;
}

template void arithmetic_probe<double>(const ArithmeticProbeArguments&);
template void arithmetic_probe<float>(const ArithmeticProbeArguments&);

}  // namespace starpmc::scalar
