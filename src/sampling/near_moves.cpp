#include "sampling/near_moves.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/base/logging.hpp"
#include "kernels/scalar/moves.hpp"

namespace starpmc {
namespace {

/// As short as they may be without the chain having to wait for its windows too often: molecules
/// that belong to the first shell change while all are moved.
constexpr double kCycleSteps = 10000;
/// Shorter blocks have no phases.
constexpr std::uint64_t kFewestSteps = 100;
/// Of the random numbers, from here on: one for each molecule that is brought into order. Steps
/// (kernels/common/moves.h) and tests of blocks have others.
constexpr std::uint64_t kFirstOrderStream = 1024;

std::uint64_t cycles_of(std::uint64_t block_steps) {
  const double cycles = std::round(static_cast<double>(block_steps) / kCycleSteps);
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(cycles));
}

/// The steps near the solute in the middle of a cycle.
NearPhase near_steps(std::uint64_t block_steps, std::uint64_t cycle, double share) {
  const std::uint64_t cycles = cycles_of(block_steps);
  if (2 * cycle + 1 > cycles) {  // of the block's second half: as in the first, backwards
    const NearPhase mirrored = near_steps(block_steps, cycles - 1 - cycle, share);
    return {block_steps - mirrored.end, block_steps - mirrored.begin, true};
  }
  const double steps = static_cast<double>(block_steps) / static_cast<double>(cycles);
  const double middle = steps * (static_cast<double>(cycle) + 0.5);
  const auto begin = static_cast<std::uint64_t>(middle - 0.5 * share * steps);
  const bool central = 2 * cycle + 1 == cycles;
  return {begin,
          central ? block_steps - begin : static_cast<std::uint64_t>(middle + 0.5 * share * steps),
          true};
}

Vector3 centre_of(const System& system) {
  Vector3 sum{};
  if (!system.solute) return sum;
  const double weight = 1.0 / static_cast<double>(system.solute->atom_count());
  for (const Vector3& position : system.solute->positions) sum = sum + weight * position;
  return sum;
}

}  // namespace

NearPhase near_phase(std::uint64_t block_steps, std::uint64_t at, double share) {
  if (share == 0 || block_steps < kFewestSteps) return {0, block_steps, false};
  const std::uint64_t cycles = cycles_of(block_steps);
  // The steps near the solute end well within a cycle: how its own ends are rounded does not
  // matter.
  const double turn = static_cast<double>(at) / static_cast<double>(block_steps);
  const auto cycle =
      std::min(cycles - 1, static_cast<std::uint64_t>(turn * static_cast<double>(cycles)));
  const NearPhase near = near_steps(block_steps, cycle, share);
  if (at < near.begin) {
    return {cycle == 0 ? 0 : near_steps(block_steps, cycle - 1, share).end, near.begin, false};
  }
  if (at < near.end) return near;
  return {near.end,
          cycle + 1 == cycles ? block_steps : near_steps(block_steps, cycle + 1, share).begin,
          false};
}

void shuffle_for_phase(std::span<double> molecules, std::uint64_t seed, std::uint32_t chain,
                       std::uint64_t step) {
  for (std::size_t left = molecules.size(); left > 1; --left) {
    double uniform = 0;
    double unused = 0;
    scalar::draw_pair(step, kFirstOrderStream + left, chain, seed, &uniform, &unused);
    const int taken = scalar::molecule_from_uniform(uniform, static_cast<int>(left));
    std::swap(molecules[static_cast<std::size_t>(taken)], molecules[left - 1]);
  }
}

NearMoves::NearMoves(const System& system, const Settings& settings, std::uint32_t chain)
    : seed_(settings.sampling.seed),
      chain_(chain),
      share_(system.solute ? settings.sampling.near_share : 0),
      centre_(centre_of(system)),
      radius_angstrom_(settings.sampling.near_shell_angstrom),
      shell_angstrom_(settings.sampling.near_shell_angstrom) {
  if (!system.solute) return;
  double largest = 0;
  for (const Vector3& position : system.solute->positions) {
    largest = std::max(largest, norm(position - centre_));
  }
  radius_angstrom_ += largest;
}

NearMoves::Steps NearMoves::begin(const ChainSegment& segment, std::uint64_t step,
                                  const TopologyBuffers& topology, std::span<const double> lattice,
                                  std::span<double> chain_state) {
  const std::uint64_t end = segment.first_step + segment.steps;
  const bool confined = chain_state[STATE_REGION_MOLECULES] > 0;
  NearPhase phase{step, end, false};
  if (segment.block_steps > 0) {
    phase = near_phase(segment.block_steps, step - segment.block_first_step, share_);
    phase.begin += segment.block_first_step;
    phase.end += segment.block_first_step;
  }
  const Steps steps{std::min(end, phase.end), false};
  if (!phase.near) {
    chain_state[STATE_REGION_MOLECULES] = 0;
    return {steps.end, confined};
  }
  if (step > phase.begin) return steps;  // gone on with
  confine(step, topology, lattice, chain_state);
  return {steps.end, true};
}

void NearMoves::warn_of_emptiness() {
  if (std::exchange(warned_, true)) return;
  spdlog::warn(
      "as steps near the solute begin no molecule's centre is within {:.3g} A of its own: they "
      "move nothing. Take a sampling.near-shell larger than {:.3g} A, or sampling.near-share = 0",
      radius_angstrom_, shell_angstrom_);
}

void NearMoves::confine(std::uint64_t step, const TopologyBuffers& topology,
                        std::span<const double> lattice, std::span<double> chain_state) {
  const double centre[3] = {centre_.x, centre_.y, centre_.z};
  double square = radius_angstrom_ * radius_angstrom_;
  const auto stride = static_cast<std::size_t>(topology.shape.padded_molecules);
  const auto molecules = static_cast<std::size_t>(topology.shape.molecules);
  std::size_t found = 0;
  for (std::size_t m = 0; m < molecules; ++m) {
    double pose[POSE_FIELDS];
    for (std::size_t field = 0; field < POSE_FIELDS; ++field) {
      pose[field] = lattice[field * stride + m];
    }
    if (!scalar::lies_in_sphere(pose, centre, square, topology.interaction.box)) continue;
    chain_state[STATE_REGION_FIRST + found++] = static_cast<double>(m);
  }
  if (found == 0) {
    warn_of_emptiness();
    // There is nothing to move, and nothing may move in.
    square = 0;
    chain_state[STATE_REGION_FIRST + found++] = 0;
  }
  shuffle_for_phase(chain_state.subspan(STATE_REGION_FIRST, found), seed_, chain_, step);
  chain_state[STATE_REGION_MOLECULES] = static_cast<double>(found);
  std::ranges::copy(centre, chain_state.begin() + STATE_REGION_CENTRE);
  chain_state[STATE_REGION_SQUARE] = square;
}

std::vector<int> confined_molecules(std::span<const double> chain_state) {
  const auto count = static_cast<std::size_t>(chain_state[STATE_REGION_MOLECULES]);
  std::vector<int> molecules(count);
  for (std::size_t i = 0; i < count; ++i) {
    molecules[i] = static_cast<int>(chain_state[STATE_REGION_FIRST + i]);
  }
  return molecules;
}

}  // namespace starpmc
