#include "qm/engine.hpp"

#include <fmt/format.h>

namespace starpmc {
namespace {

[[noreturn]] void refuse(const QmEngine& engine) {
  throw RunError(
      fmt::format("the QM engine {} cannot serve the exact ensemble: "
                  "sampling.ensemble = perturbative",
                  engine.name()));
}

}  // namespace

Embedding QmEngine::embedding(std::span<const double>, std::span<const double>, const PointCharges&,
                              Quadrature /*quadrature*/) {
  refuse(*this);
}

std::uint64_t QmEngine::add_configuration(const Embedding&) { refuse(*this); }

void QmEngine::forget_configurations() { refuse(*this); }

ReferenceDensity QmEngine::reference(int /*threads*/) { refuse(*this); }

SoluteResponse QmEngine::response(const ResponseRequest&, const WorkProgress&,
                                  ProductHelpers* /*helpers*/) {
  refuse(*this);
}

void QmEngine::take_equations(std::span<const double>) { refuse(*this); }

std::vector<double> QmEngine::multiply(std::span<const double>) { refuse(*this); }

std::vector<double> QmEngine::potentials(std::span<const Vector3>) { refuse(*this); }

double QmEngine::energy(std::uint64_t) { refuse(*this); }

SharedDensity QmEngine::shared_density() { refuse(*this); }

void QmEngine::adopt(const SharedDensity&) { refuse(*this); }

void QmEngine::hold_density() { refuse(*this); }

void QmEngine::restore(std::span<const double> state) {
  if (state.empty()) return;
  throw RunError(fmt::format("the QM engine {} has no state, found {} numbers to restore", name(),
                             state.size()));
}

}  // namespace starpmc
