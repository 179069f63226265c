#include "kernels/all_precisions.hpp"
#include "kernels/decision.hpp"
#include "kernels/operations.hpp"

namespace starpmc::scalar {
namespace {

template <class Real>
struct Exchange {
  void operator()(const PairReal<Real>* left, const PairReal<Real>* entered, double* energies,
                  std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) {
      energies[i] += static_cast<double>(entered[i]) - static_cast<double>(left[i]);
    }
  }
};

}  // namespace

template <class Real>
void metropolis_decide(const MetropolisDecideArguments<Real>& arguments) {
  Decision(arguments, Exchange<Real>{}, exact_grid_energy).run();
}

STARPMC_FOR_ALL_PRECISIONS(metropolis_decide)

}  // namespace starpmc::scalar
