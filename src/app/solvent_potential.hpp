#pragma once

#include <string>
#include <vector>

#include "qm/engine.hpp"
#include "sampling/chain.hpp"

namespace starpmc {

/// What a QM program is told of a configuration.
struct SolventPotential {
  std::vector<double> at_points;
  std::vector<double> at_nuclei;
  PointCharges charges;
  Quadrature quadrature = Quadrature::fine;  ///< at whose points
};

/// Takes the place of an engine for a chain that computes the potential of its MM molecules, so
/// that the engine can be asked later, while the chain goes on. Outlives the chain.
class PotentialRecorder final : public QmEngine {
 public:
  explicit PotentialRecorder(const QmEngine& engine, Quadrature quadrature = Quadrature::fine)
      : engine_(engine), quadrature_(quadrature) {}

  /// Of the chain's present configuration.
  SolventPotential record(Chain& chain) {
    chain.update_density(*this);
    return std::move(potential_);
  }

  const DensityGrid& quadrature_points() const override {
    return quadrature_ == Quadrature::fine ? engine_.quadrature_points() : engine_.coarse_points();
  }
  QmResult update(std::span<const double> potential, std::span<const double> nuclear_potential,
                  const PointCharges& charges) override {
    potential_ = {{potential.begin(), potential.end()},
                  {nuclear_potential.begin(), nuclear_potential.end()},
                  charges,
                  quadrature_};
    return {};
  }
  std::string name() const override { return engine_.name(); }
  std::string version() const override { return engine_.version(); }

 private:
  const QmEngine& engine_;
  Quadrature quadrature_;
  SolventPotential potential_;
};

}  // namespace starpmc
