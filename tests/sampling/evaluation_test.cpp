#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "config/option_places.hpp"
#include "config/options.hpp"
#include "io/sha256.hpp"
#include "runtime/starpu_runtime.hpp"
#include "sampling/chain.hpp"
#include "system/read_system.hpp"
#include "tests/codelets/two_cpu_workers.hpp"
#include "tests/test_folders.hpp"

namespace starpmc {
namespace {

constexpr double kElectrons = 16;

class Decisions final : public ChainObserver {
 public:
  void on_step(std::uint64_t, bool accepted, const EnergyTerms& totals) override {
    hash.add(accepted);
    last = totals;
  }
  void on_frame(std::uint64_t, std::span<const Molecule>) override {}

  DecisionHash hash;
  EnergyTerms last;
};

/// Formaldehyde in 512 waters, which are evaluated in several batches: eight boxes of 64.
class Evaluation : public test::TwoCpuWorkers {
 protected:
  Evaluation() {
    const auto data = source_folder() / "tests/data/small";
    system_ = read_system({.coordinates = data / "small.gro",
                           .topology = data / "small.top",
                           .solute = {},
                           .qm_molecule = "formaldehyde",
                           .defines = {},
                           .include_folders = {}});
    const std::vector<Molecule> small = system_.molecules;
    const Vector3 edges = system_.box.lengths;
    for (int image = 1; image < 8; ++image) {
      for (Molecule molecule : small) {
        molecule.centre =
            molecule.centre +
            Vector3{image & 1 ? edges.x : 0, image & 2 ? edges.y : 0, image & 4 ? edges.z : 0};
        system_.molecules.push_back(molecule);
      }
    }
    system_.box.lengths = 2.0 * edges;
    settings_.output.pressure_interval = 100;
    resolve_cutoffs(settings_, system_.box, OptionPlaces());
  }

  /// Electrons about the first atom, more of them on one side.
  DensityGrid density(double polarisation, std::size_t points = 3000) const {
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal(0, 0.8);
    const Vector3& place = system_.solute->positions.front();
    DensityGrid grid;
    for (std::size_t i = 0; i < points; ++i) {
      const double x = normal(random);
      grid.x.push_back(place.x + x);
      grid.y.push_back(place.y + normal(random));
      grid.z.push_back(place.z + normal(random));
      grid.charge.push_back(-kElectrons / static_cast<double>(points) *
                            (1 + polarisation * std::tanh(x)));
      grid.extent.push_back(0);
    }
    return grid;
  }

  System system_;
  Settings settings_;
};

void expect_near(const EnergyTerms& found, const EnergyTerms& expected, double error) {
  for (std::size_t term = 0; term < found.values().size(); ++term) {
    EXPECT_NEAR(found.values()[term], expected.values()[term], error) << EnergyTerms::names[term];
  }
}

/// The exact energies are computed by other kernels, in no batches.
TEST_F(Evaluation, OfManyMoleculesIsTheExactEnergy) {
  const StarpuRuntime runtime(Precision::fp64, Implementation::simd);
  settings_.run.precision = Precision::fp64;
  const auto chain = make_chain(system_, settings_, 0);
  chain->set_density(density(0.1));
  const EnergyTerms found = chain->evaluate();
  EXPECT_GT(std::abs(found.qmmm_grid), 100);
  expect_near(found, chain->virial().energies, 1e-6);
}

/// A chain that goes on in another precision decides by energies of its own: those of molecules
/// that have not moved since must not be another's, for which the bound of its decisions does not
/// allow.
TEST_F(Evaluation, RestoredInAnotherPrecisionIsMadeAnew) {
  settings_.run.precision = Precision::mixed;
  const Precision both[] = {Precision::mixed, Precision::fp64};
  const StarpuRuntime runtime(both, Implementation::simd);
  const auto mixed = make_chain(system_, settings_, 0);
  mixed->set_density(density(0.1));
  mixed->evaluate();
  Decisions observer;
  mixed->run({0, 400, 0, 0, 0}, observer);
  settings_.run.precision = Precision::fp64;
  const auto fp64 = make_chain(system_, settings_, 0);
  fp64->restore(mixed->state());
  fp64->set_density(density(0.1));
  const nlohmann::json restored = fp64->state().at("data").at("field_cache");
  EXPECT_NE(restored, mixed->state().at("data").at("field_cache"));
  fp64->evaluate();
  EXPECT_EQ(restored, fp64->state().at("data").at("field_cache"));
  // With the same precision nothing is changed.
  settings_.run.precision = Precision::mixed;
  const auto again = make_chain(system_, settings_, 0);
  again->restore(mixed->state());
  again->set_density(density(0.1));
  EXPECT_EQ(again->state(), mixed->state());
}

/// After steps with another density; and the chain goes on alike.
TEST_F(Evaluation, OfTheSoluteIsThatOfAll) {
  const StarpuRuntime runtime(Precision::fp64, Implementation::simd);
  settings_.run.precision = Precision::fp64;
  std::vector<EnergyTerms> energies;
  std::vector<std::string> decisions;
  for (const bool all : {true, false}) {
    const auto chain = make_chain(system_, settings_, 0);
    chain->set_density(density(0.1));
    chain->evaluate();
    Decisions observer;
    chain->run({0, 400, 0, 0, 0}, observer);
    const double before = observer.last.qmmm_grid;
    chain->set_density(density(-0.1));
    energies.push_back(all ? chain->evaluate() : chain->evaluate_solute());
    EXPECT_GT(std::abs(energies.back().qmmm_grid - before), 1);
    chain->run({400, 400, 0, 0, 0}, observer);
    decisions.push_back(observer.hash.hexadecimal_digest());
    expect_near(observer.last, chain->evaluate(), 1e-8);
  }
  expect_near(energies[1], energies[0], 1e-8);
  EXPECT_EQ(decisions[0], decisions[1]);
}

/// Tasks of a team may have more windows than those of a chain alone, and longer records.
TEST_F(Evaluation, ADensityMayBecomeTooSmallForATeam) {
  const StarpuRuntime runtime(Precision::mixed, Implementation::simd);
  settings_.output.pressure_interval = 0;
  std::vector<std::string> decisions;
  for (const TaskSize tasks : {TaskSize::windows, TaskSize::team}) {
    settings_.run.tasks = tasks;
    const auto chain = make_chain(system_, settings_, 0);
    chain->set_density(density(0.1, 20000));
    chain->evaluate();
    Decisions observer;
    chain->run({0, 400, 0, 0, 0}, observer);
    chain->set_density(density(-0.1, 1000));
    chain->evaluate_solute();
    chain->run({400, 2000, 0, 0, 0}, observer);
    decisions.push_back(observer.hash.hexadecimal_digest());
  }
  EXPECT_EQ(decisions[0], decisions[1]);
}

}  // namespace
}  // namespace starpmc
