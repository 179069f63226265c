#include "kernels/opencl/host/device_check_exact.hpp"

#include <cstdint>
#include <sstream>
#include <string>

#include "kernels/base/error.hpp"
#include "kernels/exact_points.hpp"
#include "kernels/opencl/host/small_system.hpp"
#include "kernels/response_coefficients.hpp"
#include "kernels/with_precision.hpp"

namespace starpmc::opencl {
namespace {

template <class Value>
void require_same(const std::vector<Value>& host, const std::vector<Value>& device,
                  const char* what) {
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (host[i] == device[i]) continue;
    std::ostringstream text;
    text.precision(17);
    text << what << " is " << device[i] << " there and " << host[i]
         << " on the host, where all devices must have the same bits";
    throw RunError(text.str());
  }
}

/// Points in and about the molecules, as exact blocks have them: absolute positions, no charges.
CompactBlocks<double> random_points(const Interaction& interaction) {
  constexpr std::size_t kPoints = 500;
  std::array<std::vector<double>, 3> at;
  std::mt19937_64 random(9);
  for (int k = 0; k < 3; ++k) {
    std::uniform_real_distribution<double> place(-0.2 * interaction.box[k], interaction.box[k]);
    for (std::size_t i = 0; i < kPoints; ++i) at[size_of(k)].push_back(place(random));
  }
  const auto blocks = make_compact_blocks<double>(at[0], at[1], at[2], {}, {}, interaction.box);
  return make_exact_points(blocks, at[0], at[1], at[2], {}, {});
}

template <class Real>
void check_potential(DeviceProgram& program, cl_command_queue queue, const Potential& functions,
                     const SmallSystem<Real>& system) {
  const CompactBlocks<double> blocks = random_points(system.interaction);
  std::vector<double> host(blocks.block_count() * STARPMC_BLOCK_POINTS, 0.0);
  scalar::grid_potential({system.layout, system.interaction, system.topology(), system.lattice,
                          blocks.blocks, blocks.points, host, &functions});
  std::vector<double> device(host.size(), 0.0);
  const Memory reals(queue, system.reals);
  const Memory integers(queue, system.integers);
  const Memory lattice(queue, system.lattice);
  const Memory headers(queue, blocks.blocks);
  const Memory points(queue, blocks.points);
  const Memory potential(queue, device);
  grid_potential(program, queue, system.layout, system.interaction, system.shape, reals.buffer(),
                 integers.buffer(), lattice.buffer(), static_cast<int>(blocks.block_count()),
                 headers.buffer(), points.buffer(), potential.buffer());
  potential.read(device);
  require_same(host, device, "the molecules' potential at a point, in kJ/mol per charge,");
}

/// Two levels, the second of which holds the cell.
PotentialLattice lattice_of(const Interaction& interaction, int components,
                            std::vector<float>& values) {
  PotentialLattice lattice{};
  lattice.components = components;
  std::mt19937 random(static_cast<unsigned>(components));
  std::uniform_real_distribution<float> uniform(-3, 3);
  for (int k = 0; k < 3; ++k) {
    lattice.centre[k] = 0.4 * interaction.box[k];
    lattice.box[k] = interaction.box[k];
    lattice.inverse_box[k] = 1 / interaction.box[k];
  }
  for (const double spacing : {0.7, 1.6}) {
    LatticeLevel& level = lattice.level[lattice.levels++];
    const double half = spacing < 1 ? 5 : 0.53 * interaction.box[2];
    const int each_side = static_cast<int>(std::ceil(half / spacing)) + 2;
    level.inverse_spacing = 1 / spacing;
    level.first = static_cast<int>(values.size());
    for (int k = 0; k < 3; ++k) {
      level.nodes[k] = 2 * each_side + 1;
      level.origin[k] = -each_side * spacing;
    }
    for (int i = lattice_size(level, components); i > 0; --i) values.push_back(uniform(random));
  }
  return lattice;
}

/// @param system its window has been sampled on the host
template <class Real>
void check_field(DeviceProgram& program, cl_command_queue queue, const SmallSystem<Real>& system) {
  constexpr int kComponents = 24;
  std::vector<float> potential_values;
  std::vector<float> fp32_values;
  const PotentialLattice potential = lattice_of(system.interaction, 1, potential_values);
  const PotentialLattice response = lattice_of(system.interaction, kComponents, fp32_values);
  const std::vector<ResponseCoefficient> response_values = response_coefficients(fp32_values);
  const std::vector<double> none(size_of(SmallSystem<Real>::kCandidates), 0.0);
  std::vector<double> energies = none;
  std::vector<std::int32_t> responses(none.size() * kComponents, 0);
  scalar::reference_field(ReferenceFieldArguments{system.host_window(), potential, potential_values,
                                                  response, response_values, energies, responses});
  const Memory reals(queue, system.reals);
  const Memory integers(queue, system.integers);
  const Memory plan(queue, system.plan);
  const Memory entries(queue, system.entries);
  const Memory on_potential(queue, potential_values);
  const Memory on_response(queue, response_values);
  std::vector<double> device_energies = none;
  std::vector<std::int32_t> device_responses(responses.size(), 0);
  const Memory on_energies(queue, device_energies);
  const Memory on_responses(queue, device_responses);
  const WindowExtent extent{system.plan[PLAN_STEPS], system.plan[PLAN_CANDIDATES],
                            system.plan[PLAN_STARTS]};
  reference_field(program, queue,
                  {system.layout, system.interaction, system.shape, extent, reals.buffer(),
                   integers.buffer(), plan.buffer(), entries.buffer()},
                  {potential, response, on_potential.buffer(), on_response.buffer(),
                   on_energies.buffer(), on_responses.buffer()});
  on_energies.read(device_energies);
  on_responses.read(device_responses);
  require_same(energies, device_energies, "a molecule's energy in a reference's field, in kJ/mol,");
  require_same(responses, device_responses, "a molecule's part in a response, in whole units,");
}

template <class Real>
void check_all(DeviceProgram& program, cl_command_queue queue, const Potential& functions) {
  SmallSystem<Real> system;
  check_potential(program, queue, functions, system);
  system.sample();
  check_field(program, queue, system);
}

}  // namespace

void check_exact(DeviceProgram& program, cl_command_queue queue, const Potential& functions) {
  with_precision(program.precision(),
                 [&]<class Real>() { check_all<Real>(program, queue, functions); });
}

}  // namespace starpmc::opencl
