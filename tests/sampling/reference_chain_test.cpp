#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "artificial_reference.hpp"
#include "config/option_places.hpp"
#include "config/options.hpp"
#include "io/binary_json.hpp"
#include "io/sha256.hpp"
#include "potential/potential_lattice.hpp"
#include "runtime/starpu_runtime.hpp"
#include "sampling/chain.hpp"
#include "sampling/near_moves.hpp"
#include "sampling/reference_tables.hpp"
#include "sampling/solute_energies.hpp"
#include "system/read_system.hpp"
#include "tests/codelets/two_cpu_workers.hpp"
#include "tests/test_folders.hpp"

namespace starpmc {
namespace {

constexpr int kComponents = 21;  // some of the table's are padding
constexpr std::uint64_t kSteps = 700;

class Recorder final : public ChainObserver {
 public:
  void on_step(std::uint64_t, bool accepted, const EnergyTerms& totals) override {
    decisions.add(accepted);
    accepted_steps += accepted ? 1 : 0;
    last = totals;
    polarisation.push_back(totals.qmmm_polarisation);
    field.push_back(totals.qmmm_grid);
  }
  void on_frame(std::uint64_t, std::span<const Molecule>) override {}

  DecisionHash decisions;
  std::uint64_t accepted_steps = 0;
  EnergyTerms last;
  std::vector<double> polarisation;
  std::vector<double> field;
};

/// Formaldehyde's place in 64 waters, by a reference that is not formaldehyde's.
class ReferenceChain : public test::TwoCpuWorkers {
 protected:
  ReferenceChain() {
    const auto data = source_folder() / "tests/data/small";
    system_ = read_system({.coordinates = data / "small.gro",
                           .topology = data / "small.top",
                           .solute = {},
                           .qm_molecule = "formaldehyde",
                           .defines = {},
                           .include_folders = {}});
    resolve_cutoffs(settings_, system_.box, OptionPlaces());
    settings_.sampling.near_share = 0.4;
    settings_.sampling.near_shell_angstrom = 3.5;
    for (const Vector3& r : system_.solute->positions) {
      centre_ = centre_ + (1.0 / static_cast<double>(system_.solute->atom_count())) * r;
    }
    reference_ = test::artificial_solute_reference(kComponents, centre_, system_.box, 4);
  }

  std::unique_ptr<Chain> make(const Settings& settings) const {
    std::unique_ptr<Chain> chain = make_chain(system_, settings, 0);
    chain->set_reference(std::make_shared<const ReferenceTables>(reference_));
    start_ = chain->evaluate();
    return chain;
  }

  /// Steps that move all molecules, then a block some of whose steps move those near the solute.
  static void run_both_kinds(Chain& chain, ChainObserver& observer) {
    chain.run({0, kSteps / 2}, observer);
    chain.run(of_block(kSteps / 2, kSteps / 2 + kSteps, kSteps / 2, kSteps), observer);
  }

  /// Of a block of so many steps from `block` on.
  static ChainSegment of_block(std::uint64_t first, std::uint64_t end, std::uint64_t block,
                               std::uint64_t steps) {
    return {first, end - first, 0, 0, 0, block, steps};
  }

  System system_;
  Settings settings_;
  Vector3 centre_;
  SoluteReference reference_;
  mutable EnergyTerms start_;
};

/// The MM molecules as frames have them.
class Frames final : public ChainObserver {
 public:
  void on_step(std::uint64_t, bool, const EnergyTerms&) override {}
  void on_frame(std::uint64_t, std::span<const Molecule> molecules) override {
    all.emplace_back(molecules.begin(), molecules.end());
  }
  std::vector<std::vector<Molecule>> all;
};

/// What the tables' splines are, by the recursion that defines them.
double basis(int degree, double x) {
  if (degree == 0) return x >= 0 && x < 1 ? 1 : 0;
  return (x * basis(degree - 1, x) + (degree + 1 - x) * basis(degree - 1, x - 1)) / degree;
}

double spline_value(const LatticeValues& table, const Vector3& position, const Box& box,
                    int component) {
  const PotentialLattice& lattice = table.lattice;
  const Vector3 d = box.minimum_image(
      position - Vector3{lattice.centre[0], lattice.centre[1], lattice.centre[2]});
  const double place[3] = {d.x, d.y, d.z};
  for (int l = 0; l < lattice.levels; ++l) {
    const LatticeLevel& level = lattice.level[l];
    double u[3];
    bool inside = true;
    for (int k = 0; k < 3; ++k) {
      u[k] = (place[k] - level.origin[k]) * level.inverse_spacing;
      inside = inside && std::floor(u[k]) >= 1 && std::floor(u[k]) <= level.nodes[k] - 3;
    }
    if (!inside) continue;
    double sum = 0;
    for (int x = 0; x < level.nodes[0]; ++x) {
      const double wx = basis(3, u[0] - x + 2);
      for (int y = 0; wx != 0 && y < level.nodes[1]; ++y) {
        const double wy = basis(3, u[1] - y + 2);
        for (int z = 0; wy != 0 && z < level.nodes[2]; ++z) {
          const int node = (x * level.nodes[1] + y) * level.nodes[2] + z;
          sum += wx * wy * basis(3, u[2] - z + 2) *
                 static_cast<double>(table.values[static_cast<std::size_t>(
                     level.first + node * lattice.components + component)]);
        }
      }
    }
    return sum;
  }
  ADD_FAILURE() << "no level serves";
  return 0;
}

/// Electrostatic energy and polarisation of a configuration by plain loops.
ReferenceEnergy plain_energy(const System& system, const SoluteReference& reference,
                             std::span<const Molecule> molecules) {
  ReferenceEnergy energy;
  for (int k = -1; k < reference.components; ++k) {
    double sum = k < 0 ? 0 : -reference.mean_response[static_cast<std::size_t>(k)];
    for (const Molecule& molecule : molecules) {
      const MoleculeType& type = system.molecule_types[molecule.type];
      for (std::size_t site = 0; site < type.sites.size(); ++site) {
        sum += type.sites[site].charge *
               spline_value(k < 0 ? reference.potential : reference.response,
                            site_position(system, molecule, site), system.box, std::max(k, 0));
      }
    }
    if (k < 0) {
      energy.electrostatic = sum;
    } else {
      energy.polarisation -= sum * sum / 2;
    }
  }
  return energy;
}

TEST_F(ReferenceChain, EnergiesAreThoseOfPlainLoopsAfterManySteps) {
  const StarpuRuntime runtime(Precision::mixed, Implementation::simd);
  settings_.run.implementation = Implementation::simd;
  const auto chain = make(settings_);
  EXPECT_EQ(start_.qmmm_nuclei, 0);
  EXPECT_NE(start_.qmmm_vdw, 0);
  Recorder recorder;
  chain->run({0, kSteps}, recorder);
  EXPECT_GT(recorder.accepted_steps, kSteps / 10);
  const ReferenceEnergy found = chain->reference_energy();
  const ReferenceEnergy plain = plain_energy(system_, reference_, chain->molecules());
  EXPECT_NEAR(found.electrostatic, plain.electrostatic, 1e-6);
  EXPECT_NEAR(found.polarisation, plain.polarisation, 2e-3);  // y in fp32
  EXPECT_LT(found.polarisation, -0.5);
  // Running totals, caches and sums of responses all say the same, to the last bit.
  EXPECT_EQ(recorder.last.qmmm_grid, found.electrostatic);
  EXPECT_EQ(recorder.last.qmmm_polarisation, found.polarisation);
  const EnergyTerms again = chain->evaluate();
  EXPECT_EQ(again.qmmm_grid, found.electrostatic);
  EXPECT_EQ(again.qmmm_polarisation, found.polarisation);
  EXPECT_EQ(chain->reproducible_energies().qmmm_polarisation, found.polarisation);
}

TEST_F(ReferenceChain, IsTheSameWhateverComputesIt) {
  const Precision precisions[] = {Precision::fp64, Precision::mixed, Precision::fixed};
  const StarpuRuntime runtime(precisions, Implementation::any);
  std::optional<Recorder> first;
  std::optional<nlohmann::json> responses;
  for (const Implementation implementation : {Implementation::scalar, Implementation::simd}) {
    StarpuRuntime::restrict_to(implementation);
    for (const Precision precision : precisions) {
      for (const TaskSize tasks : {TaskSize::terms, TaskSize::windows}) {
        for (const std::uint32_t window : {1U, 37U, 200U}) {
          SCOPED_TRACE(testing::Message()
                       << static_cast<int>(implementation) << static_cast<int>(precision)
                       << static_cast<int>(tasks) << ' ' << window);
          Settings settings = settings_;
          settings.run = {precision, implementation, 0, tasks};
          settings.sampling.window = window;
          const auto chain = make(settings);
          Recorder found;
          run_both_kinds(*chain, found);
          const nlohmann::json state = chain->state().at("data");
          if (!first) {
            first = found;
            responses = state;
          }
          EXPECT_EQ(found.decisions.hexadecimal_digest(), first->decisions.hexadecimal_digest());
          EXPECT_EQ(found.polarisation, first->polarisation);
          EXPECT_EQ(found.field, first->field);
          for (const char* name : {"lattice", "molecule_response", "response_total"}) {
            EXPECT_EQ(state.at(name), responses->at(name)) << name;
          }
        }
      }
    }
  }
}

/// PoCL, where there is one: whole windows, and a task per term.
/// More molecules than are evaluated together, and frames that begin in the middle of a batch.
TEST_F(ReferenceChain, EnergiesOfManyFramesAreThoseOfEach) {
  Settings settings = settings_;
  settings.run.precision = Precision::fp64;
  const StarpuRuntime runtime(Precision::fp64, Implementation::simd);
  Frames frames;
  const auto chain = make(settings);
  chain->run({0, 2400, 40}, frames);
  ASSERT_GT(frames.all.size() * system_.molecules.size(), 3000U);
  const auto tables = std::make_shared<const ReferenceTables>(reference_);
  const auto of_all = make_solute_energies(system_, settings, tables);
  const auto of_each = make_solute_energies(system_, settings, tables);
  const std::vector<EnergyTerms> together = of_all->of(frames.all);
  ASSERT_EQ(together.size(), frames.all.size());
  for (std::size_t k = 0; k < together.size(); ++k) {
    const EnergyTerms alone = of_each->of(std::span(frames.all).subspan(k, 1)).front();
    EXPECT_EQ(alone.values(), together[k].values()) << k;
  }
  // Those of a chain that stands where the last frame was taken.
  EnergyTerms last = chain->evaluate();
  last.mm_coulomb = last.mm_vdw = 0;
  EXPECT_NEAR(last.total(), together.back().total(), 1e-9);
  EXPECT_NE(together.front().total(), together.back().total());
}

/// With whatever OpenCL devices there are, those of CPUs included.
struct StarpuWithDevices {
  std::optional<StarpuRuntime> runtime{};
  std::string why_not{};

  StarpuWithDevices() {
    unsetenv("STARPU_NOPENCL");
    setenv("STARPU_OPENCL_ON_CPUS", "1", 1);
    try {
      runtime.emplace(Precision::mixed, Implementation::any);
    } catch (const RunError& error) {
      why_not = error.what();
      return;
    }
    if (runtime->opencl_workers() > 0) return;
    runtime.reset();
    why_not = "no OpenCL device";
  }
  ~StarpuWithDevices() { unsetenv("STARPU_OPENCL_ON_CPUS"); }
  StarpuWithDevices(const StarpuWithDevices&) = delete;
  StarpuWithDevices& operator=(const StarpuWithDevices&) = delete;
};

TEST_F(ReferenceChain, IsTheSameOnADevice) {
  StarpuWithDevices starpu;
  if (!starpu.runtime) GTEST_SKIP() << starpu.why_not;
  const auto run = [&](Implementation implementation, TaskSize tasks) {
    StarpuRuntime::restrict_to(implementation);
    settings_.run.implementation = implementation;
    settings_.run.tasks = tasks;
    settings_.sampling.window = 50;
    const auto chain = make(settings_);
    Recorder found;
    run_both_kinds(*chain, found);
    return std::pair(found, chain->state().at("data"));
  };
  const auto [host, host_state] = run(Implementation::simd, TaskSize::windows);
  for (const TaskSize tasks : {TaskSize::windows, TaskSize::terms}) {
    const auto [device, state] = run(Implementation::opencl, tasks);
    EXPECT_EQ(device.decisions.hexadecimal_digest(), host.decisions.hexadecimal_digest());
    EXPECT_EQ(device.polarisation, host.polarisation);
    EXPECT_EQ(device.field, host.field);
    EXPECT_EQ(state.at("response_total"), host_state.at("response_total"));
    EXPECT_EQ(state.at("molecule_response"), host_state.at("molecule_response"));
  }
}

bool comes_to(starpu_data_handle_t handle, unsigned node) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(20);
  int is_there = 0;
  while (is_there == 0 && Clock::now() < end) {
    starpu_data_query_status(handle, static_cast<int>(node), nullptr, &is_there, nullptr);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return is_there != 0;
}

TEST_F(ReferenceChain, ItsTablesComeToEachDeviceByThemselves) {
  setenv("POCL_DEVICES", "pthread pthread", 1);
  StarpuWithDevices starpu;
  if (!starpu.runtime) GTEST_SKIP() << starpu.why_not;
  const ReferenceTables tables(reference_);
  for (unsigned id = 0; id < starpu_worker_get_count(); ++id) {
    if (starpu_worker_get_type(static_cast<int>(id)) != STARPU_OPENCL_WORKER) continue;
    const unsigned node = starpu_worker_get_memory_node(id);
    EXPECT_TRUE(comes_to(tables.handles().potential_values, node)) << id;
    EXPECT_TRUE(comes_to(tables.handles().response_values, node)) << id;
  }
  unsetenv("POCL_DEVICES");
}

TEST_F(ReferenceChain, GoesOnFromItsState) {
  const StarpuRuntime runtime(Precision::mixed, Implementation::simd);
  const auto chain = make(settings_);
  // In the midst of the steps near the solute.
  const ChainSegment rest = of_block(kSteps, 2 * kSteps, 0, 2 * kSteps);
  Recorder before;
  chain->run(of_block(0, kSteps, 0, 2 * kSteps), before);
  const nlohmann::json state = chain->state();
  EXPECT_TRUE(state.at("data").contains("turns"));
  Recorder onwards;
  chain->run(rest, onwards);
  // Back, as after a block that was rejected; then in another chain, as after a resumption.
  chain->restore(state);
  Recorder again;
  chain->run(rest, again);
  EXPECT_EQ(again.decisions.hexadecimal_digest(), onwards.decisions.hexadecimal_digest());
  EXPECT_EQ(again.last.values(), onwards.last.values());
  const auto other = make_chain(system_, settings_, 0);
  EXPECT_THROW(other->restore(state), RunError);
  other->set_reference(std::make_shared<const ReferenceTables>(reference_));
  other->restore(state);
  Recorder resumed;
  other->run(rest, resumed);
  EXPECT_EQ(resumed.decisions.hexadecimal_digest(), onwards.decisions.hexadecimal_digest());
  EXPECT_EQ(resumed.last.values(), onwards.last.values());
  EXPECT_EQ(other->state(), chain->state());
  // As a version wrote it that drew a molecule for each step.
  nlohmann::json older = state;
  older["data"]["region"] = older["data"]["turns"];
  older["data"].erase("turns");
  EXPECT_THAT([&] { other->restore(older); },
              testing::ThrowsMessage<RunError>(testing::HasSubstr("sampling.near-share")));
}

TEST_F(ReferenceChain, StepsConfinedToMoleculesThatAreNotThereAreRefused) {
  const StarpuRuntime runtime(Precision::mixed, Implementation::simd);
  const auto chain = make(settings_);
  Recorder recorder;
  chain->run(of_block(0, kSteps, 0, 2 * kSteps), recorder);
  nlohmann::json state = chain->state();
  const auto& saved = state.at("data").at("turns").get_binary();
  std::vector<double> region(saved.size() / sizeof(double));
  from_binary(state.at("data").at("turns"), "turns", std::span(region));
  const auto with = [&](std::size_t place, double value) {
    std::vector<double> changed = region;
    changed.at(place) = value;
    nlohmann::json other = state;
    other["data"]["turns"] = to_binary(std::span<const double>(changed));
    return other;
  };
  const std::size_t first = STATE_REGION_FIRST - STATE_REGION_MOLECULES;
  for (const double number : {-1.0, 0.5, 64.0, 1e9, std::nan("")}) {
    EXPECT_THROW(chain->restore(with(first, number)), RunError) << number;
  }
  for (const double count : {-1.0, 65.0, std::nan("")}) {
    EXPECT_THROW(chain->restore(with(0, count)), RunError) << count;
  }
  chain->restore(state);
}

TEST_F(ReferenceChain, NearTheSoluteTheOthersStayAndNoneGoes) {
  const StarpuRuntime runtime(Precision::mixed, Implementation::simd);
  const auto chain = make(settings_);
  const NearPhase near = near_phase(20 * kSteps, 10 * kSteps, settings_.sampling.near_share);
  ASSERT_TRUE(near.near);
  double radius = settings_.sampling.near_shell_angstrom;
  for (const Vector3& r : system_.solute->positions) {
    radius = std::max(radius, settings_.sampling.near_shell_angstrom + norm(r - centre_));
  }
  const auto inside = [&](const Molecule& molecule) {
    return norm(system_.box.minimum_image(molecule.centre - centre_)) < radius;
  };
  Recorder recorder;
  chain->run(of_block(0, near.begin, 0, 20 * kSteps), recorder);
  const std::vector<Molecule> before = chain->molecules();
  chain->run(of_block(near.begin, near.end, 0, 20 * kSteps), recorder);
  const std::vector<Molecule> after = chain->molecules();
  chain->run(of_block(near.end, 20 * kSteps, 0, 20 * kSteps), recorder);
  const std::vector<Molecule> last = chain->molecules();
  std::size_t near_ones = 0;
  std::size_t moved_later = 0;
  for (std::size_t m = 0; m < before.size(); ++m) {
    EXPECT_EQ(inside(before[m]), inside(after[m])) << m;
    EXPECT_EQ(inside(before[m]), !(before[m].centre == after[m].centre)) << m;
    near_ones += inside(before[m]) ? 1 : 0;
    moved_later += after[m].centre == last[m].centre ? 0 : 1;
  }
  EXPECT_GT(near_ones, 5U);
  EXPECT_LT(near_ones, 30U);
  EXPECT_GT(moved_later, 55U);
}

/// A candidate that would leave the sphere stays where it is.
TEST_F(ReferenceChain, MovesOutOfTheSphereAreRejections) {
  const StarpuRuntime runtime(Precision::mixed, Implementation::simd);
  settings_.sampling.near_shell_angstrom = 0.01;  // nobody is there
  const auto chain = make(settings_);
  const NearPhase near = near_phase(20 * kSteps, 10 * kSteps, settings_.sampling.near_share);
  Recorder before;
  chain->run(of_block(0, near.begin, 0, 20 * kSteps), before);
  EXPECT_GT(before.accepted_steps, 0U);
  Recorder recorder;
  chain->run(of_block(near.begin, near.end, 0, 20 * kSteps), recorder);
  EXPECT_EQ(recorder.polarisation.size(), near.end - near.begin);
  EXPECT_EQ(recorder.accepted_steps, 0U);
  EXPECT_EQ(recorder.last.values(), before.last.values());
}

TEST_F(ReferenceChain, StateWithoutOneHasNoTotalsOfItsTerms) {
  const StarpuRuntime runtime(Precision::mixed, Implementation::simd);
  const auto chain = make_chain(system_, settings_, 0);
  chain->evaluate();
  const nlohmann::json data = chain->state().at("data");
  EXPECT_EQ(data.at("chain_state").get_binary().size(),
            (STATE_REGION_MOLECULES - RESPONSE_TERMS) * sizeof(double));
  EXPECT_FALSE(data.contains("response_total"));
  chain->restore(chain->state());
  EXPECT_EQ(chain->state().at("data"), data);
}

/// Box and molecules' centres scaled about the solute's centre of mass; tables and molecules stay.
ReferenceEnergy scaled_energy(const System& system, const SoluteReference& reference,
                              std::span<const Molecule> molecules, const Vector3& centre,
                              double scale) {
  System scaled = system;
  scaled.box.lengths = scale * system.box.lengths;
  std::vector<Molecule> moved(molecules.begin(), molecules.end());
  for (Molecule& molecule : moved) {
    molecule.centre = centre + scale * (molecule.centre - centre);
  }
  return plain_energy(scaled, reference, moved);
}

/// Formaldehyde's.
Vector3 centre_of_mass(const Solute& solute) {
  Vector3 sum;
  double total = 0;
  for (std::size_t i = 0; i < solute.atom_count(); ++i) {
    const int number = solute.atomic_numbers[i];
    const double mass = number == 1 ? 1.008 : number == 6 ? 12.011 : 15.999;
    sum = sum + mass * solute.positions[i];
    total += mass;
  }
  return (1 / total) * sum;
}

class VirialRecorder final : public ChainObserver {
 public:
  void on_step(std::uint64_t, bool, const EnergyTerms& totals) override { last = totals; }
  void on_frame(std::uint64_t, std::span<const Molecule>) override {}
  void on_virial(std::uint64_t step, const VirialTerms& terms) override {
    steps.push_back(step);
    virials.push_back(terms);
    energies.push_back(last);
  }
  EnergyTerms last;
  std::vector<std::uint64_t> steps;
  std::vector<VirialTerms> virials;
  std::vector<EnergyTerms> energies;
};

TEST_F(ReferenceChain, VirialIsTheDerivativeByTheScaleOfTheBox) {
  const StarpuRuntime runtime(Precision::mixed, Implementation::simd);
  settings_.output.pressure_interval = 100;
  const auto chain = make(settings_);
  VirialRecorder recorder;
  chain->run({.first_step = 0, .steps = kSteps, .virial_interval = 100}, recorder);
  const VirialTerms found = chain->virial();
  const std::vector<Molecule> molecules = chain->molecules();
  const Vector3 centre = centre_of_mass(*system_.solute);
  constexpr double kStep = 1e-5;
  const ReferenceEnergy more = scaled_energy(system_, reference_, molecules, centre, 1 + kStep);
  const ReferenceEnergy less = scaled_energy(system_, reference_, molecules, centre, 1 - kStep);
  const double electrostatic = (less.electrostatic - more.electrostatic) / (2 * kStep);
  const double polarisation = (less.polarisation - more.polarisation) / (2 * kStep);
  EXPECT_GT(std::abs(electrostatic), 10);
  EXPECT_GT(std::abs(polarisation), 1);
  EXPECT_NEAR(found.virials.qmmm_grid, electrostatic, 1e-3);
  EXPECT_NEAR(found.virials.qmmm_polarisation, polarisation, 5e-3);  // Y in whole units
  EXPECT_EQ(found.virials.qmmm_nuclei, 0);
  EXPECT_NE(found.virials.qmmm_vdw, 0);
  EXPECT_EQ(found.energies.qmmm_grid, chain->reference_energy().electrostatic);
  EXPECT_EQ(found.energies.qmmm_polarisation, chain->reference_energy().polarisation);
  // On its way among windows: of the step that it is told for.
  EXPECT_EQ(recorder.steps, (std::vector<std::uint64_t>{100, 200, 300, 400, 500, 600, 700}));
  EXPECT_EQ(recorder.virials.back().virials.values(), found.virials.values());
  for (std::size_t i = 0; i < recorder.steps.size(); ++i) {
    EXPECT_EQ(recorder.virials[i].energies.qmmm_grid, recorder.energies[i].qmmm_grid);
    EXPECT_EQ(recorder.virials[i].energies.qmmm_polarisation,
              recorder.energies[i].qmmm_polarisation);
  }
}

/// A table of charges, and the same charges as a density: no response.
TEST_F(ReferenceChain, VirialIsThatOfTheSameDensity) {
  const StarpuRuntime runtime(Precision::fp64, Implementation::simd);
  settings_.run.precision = Precision::fp64;
  settings_.output.pressure_interval = 100;
  // A droplet: no site near a cutoff, whose kinks splines round off, or a face of the cell, where
  // not all charges of the solute have the image of the table's centre.
  system_.box.lengths = {32, 33, 34};
  constexpr double kCutoff = 15;
  settings_.interaction.coulomb_cutoff_angstrom = kCutoff;
  const Solute& solute = *system_.solute;
  DensityGrid density;
  std::vector<Vector3> points;
  std::vector<double> strengths;
  for (std::size_t i = 0; i < solute.atom_count(); ++i) {
    const double number = solute.atomic_numbers[i];
    const Vector3 r = solute.positions[i] + Vector3{0.05, -0.1, 0.02};
    points.insert(points.end(), {solute.positions[i], r});
    strengths.insert(strengths.end(), {number, -number + (number > 6 ? -0.4 : 0.1)});
    density.x.push_back(r.x);
    density.y.push_back(r.y);
    density.z.push_back(r.z);
    density.charge.push_back(strengths.back());
  }
  const LatticePlan plan(LatticeChoice::for_potential(kCutoff), solute.positions, system_.box, 1,
                         "a test");
  std::vector<double> near;
  for (const Vector3& r : plan.near_positions()) {
    near.push_back(0);
    for (std::size_t k = 0; k < points.size(); ++k) {
      const double distance = std::max(norm(r - points[k]), 1e-6);
      near.back() += strengths[k] * STARPMC_COULOMB_CONSTANT * std::erf(2.2 * distance) / distance;
    }
  }
  const Vector3& edges = system_.box.lengths;
  SoluteReference reference;
  reference.potential = make_potential_lattice(
      plan, {{{edges.x, edges.y, edges.z}, kCutoff, kCutoff}, nullptr, points, strengths, near}, 1);

  const auto chain = make_chain(system_, settings_, 0);
  chain->set_density(density);
  const EnergyTerms energies = chain->evaluate();
  const EnergyTerms virials = chain->virial().virials;
  chain->set_reference(std::make_shared<const ReferenceTables>(reference));
  EXPECT_NEAR(chain->evaluate().qmmm_grid, energies.qmmm_coulomb(), 0.05);
  const EnergyTerms found = chain->virial().virials;
  EXPECT_GT(std::abs(virials.qmmm_coulomb()), 5);
  EXPECT_NEAR(found.qmmm_grid, virials.qmmm_coulomb(), 0.3);
  EXPECT_EQ(found.qmmm_polarisation, 0);
  EXPECT_EQ(found.mm_coulomb, virials.mm_coulomb);
  EXPECT_EQ(found.qmmm_vdw, virials.qmmm_vdw);
}

TEST_F(ReferenceChain, NucleiGetTheirChargesBack) {
  const StarpuRuntime runtime(Precision::mixed, Implementation::simd);
  const auto chain = make_chain(system_, settings_, 0);
  const EnergyTerms without = chain->evaluate();
  chain->set_reference(std::make_shared<const ReferenceTables>(reference_));
  EXPECT_EQ(chain->evaluate().qmmm_nuclei, 0);
  chain->set_reference(nullptr);
  EXPECT_EQ(chain->evaluate().values(), without.values());
}

}  // namespace
}  // namespace starpmc
