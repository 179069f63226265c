#include "kernels/decision.hpp"
#include "kernels/operations.hpp"

namespace starpmc::scalar {

template <class Real>
void metropolis_decide(const MetropolisDecideArguments<Real>& arguments) {
  const auto exchange = [](const PairReal<Real>* left, const PairReal<Real>* entered,
                           double* energies, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      energies[i] += static_cast<double>(entered[i]) - static_cast<double>(left[i]);
    }
  };
  Decision(arguments, exchange, exact_grid_energy).run();
}

template void metropolis_decide(const MetropolisDecideArguments<double>&);
template void metropolis_decide(const MetropolisDecideArguments<float>&);
template void metropolis_decide(const MetropolisDecideArguments<FixedCoordinate>&);

}  // namespace starpmc::scalar
