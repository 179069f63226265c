#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/interaction.hpp"
#include "kernels/operations.hpp"
#include "kernels/scalar/moves.hpp"
#include "kernels/window_plan.hpp"

/// Small random systems, and windows over them, for tests of the kernels.
namespace starpmc::test {

struct SystemOptions {
  double edge = 20;
  double coulomb_cutoff = 9.9;  ///< near half the box: pairs need their own minimum image
  double vdw_cutoff = 8;
  int waters = 60;
  int particles = 9;
  int grid_points = 5000;
  unsigned seed = 7;
};

/// Waters (three sites, TIP3P) and one-site particles around a solute of two nuclei and a cloud of
/// negative charge at the origin. The last site type belongs to the solute.
struct TestSystem {
  Interaction interaction{};
  TopologyShape shape{};
  int padded = 0;
  std::vector<double> reals;
  std::vector<int> integers;
  std::vector<double> lattice;
  std::vector<double> solute;
  int nuclei = 0;
  std::vector<double> blocks;
  std::vector<double> points;          ///< as in grid_points, fp64
  std::vector<double> point_position;  ///< x, y, z, charge of every point, absolute
  const Potential* potential = nullptr;

  Topology topology() const { return {shape, reals, integers}; }
};

inline void add_topology(TestSystem& system, const SystemOptions& options) {
  constexpr int kSites = 3;
  constexpr int kSiteTypes = 4;  // O, H, particle, solute
  const int molecules = options.waters + options.particles;
  system.padded = (molecules + 15) / 16 * 16;
  system.shape = {2, kSites, kSiteTypes, molecules, system.padded, 0, {}};
  system.reals.assign(static_cast<std::size_t>(topology_reals_size(system.shape)), 0.0);
  const double water[3][4] = {
      {0, -0.0656, 0, -0.834}, {0.7570, 0.5203, 0, 0.417}, {-0.7570, 0.5203, 0, 0.417}};
  for (int site = 0; site < 3; ++site) {
    std::copy_n(water[site], 4,
                &system.reals[static_cast<std::size_t>(topology_site(system.shape, 0, site))]);
  }
  system.reals[static_cast<std::size_t>(topology_site(system.shape, 1, 0)) + 3] = 0.3;
  const double sigma[kSiteTypes] = {3.15, 0, 3.3, 3.4};
  const double epsilon[kSiteTypes] = {0.636, 0, 0.4, 0.36};
  for (int a = 0; a < kSiteTypes; ++a) {
    for (int b = 0; b < kSiteTypes; ++b) {
      double* const pair =
          &system.reals[static_cast<std::size_t>(topology_pair(system.shape, a, b))];
      const double e = std::sqrt(epsilon[a] * epsilon[b]);
      const double s6 = std::pow(sigma[a] * sigma[b], 3);
      pair[0] = 4 * e * s6 * s6;
      pair[1] = 4 * e * s6;
      // force-shifted: V and V' vanish at the cutoff
      const double rc = options.vdw_cutoff;
      const double slope = 12 * pair[0] / std::pow(rc, 13) - 6 * pair[1] / std::pow(rc, 7);
      pair[3] = slope;
      pair[2] = -(pair[0] / std::pow(rc, 12) - pair[1] / std::pow(rc, 6)) - slope * rc;
    }
  }
  system.integers.assign(static_cast<std::size_t>(topology_integers_size(system.shape)), 0);
  for (int m = 0; m < molecules; ++m) {
    // two runs of each type, so that types change inside a vector of molecules
    system.integers[static_cast<std::size_t>(m)] = m % 7 == 3 && m / 7 < options.particles ? 1 : 0;
  }
  system.integers[static_cast<std::size_t>(topology_site_count(system.shape, 0))] = 3;
  system.integers[static_cast<std::size_t>(topology_site_count(system.shape, 1))] = 1;
  const int types[2][3] = {{0, 1, 1}, {2, 0, 0}};
  for (int type = 0; type < 2; ++type) {
    for (int site = 0; site < kSites; ++site) {
      system.integers[static_cast<std::size_t>(topology_site_type(system.shape, type, site))] =
          types[type][site];
    }
  }
  system.shape.largest_radius = system.topology().largest_radius();
}

/// Molecules on a jittered cubic lattice, clear of the solute at the origin (the box's corner).
inline void place_molecules(TestSystem& system, const SystemOptions& options,
                            std::mt19937_64& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  std::normal_distribution<double> normal;
  const int molecules = system.shape.molecules;
  int side = 1;
  while (side * side * side < molecules * 5 / 4 + 9) ++side;
  std::vector<std::array<double, 3>> places;
  for (int cell = 0; cell < side * side * side; ++cell) {
    const std::array<int, 3> index{cell % side, cell / side % side, cell / side / side};
    std::array<double, 3> place{};
    double squared = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      place[k] = (index[k] + 0.5 + 0.2 * (unit(random) - 0.5)) * options.edge / side;
      squared += std::pow(place[k] - options.edge * std::rint(place[k] / options.edge), 2);
    }
    if (squared > 9) places.push_back(place);
  }
  std::shuffle(places.begin(), places.end(), random);
  const auto padded = static_cast<std::size_t>(system.padded);
  system.lattice.assign(POSE_FIELDS * padded, 0.0);
  for (std::size_t m = 0; m < static_cast<std::size_t>(molecules); ++m) {
    double quaternion[4];
    double norm = 0;
    for (double& q : quaternion) {
      q = normal(random);
      norm += q * q;
    }
    for (std::size_t k = 0; k < 3; ++k) system.lattice[k * padded + m] = places.at(m)[k];
    for (std::size_t k = 0; k < 4; ++k) {
      system.lattice[(3 + k) * padded + m] = quaternion[k] / std::sqrt(norm);
    }
  }
}

/// Extent of a point, angstrom: a few are bare.
inline double point_extent(const double* position) {
  const double any = 7.1 * position[0] + 3.3 * position[1] + 1.7 * position[2];
  const double fraction = any - std::floor(any);
  return fraction < 0.1 ? 0 : 0.9 * fraction;
}

/// Shifted-force Coulomb energy of unit charges, one of them a cloud of some extent inside which
/// its 1/r is (45 - 50 s^2 + 21 s^4)/(16 R), s = r/R, 0 beyond the cutoff; and its derivative.
inline std::array<double, 2> cloud_coulomb(double r, double extent, double cutoff) {
  if (r >= cutoff) return {0, 0};
  const double shift = r / (cutoff * cutoff) - 2 / cutoff;
  const double slope = 1 / (cutoff * cutoff);
  if (r >= extent) return {1 / r + shift, slope - 1 / (r * r)};
  const double s = r / extent;
  return {(45 - 50 * s * s + 21 * s * s * s * s) / (16 * extent) + shift,
          slope + (-100 * s + 84 * s * s * s) / (16 * extent * extent)};
}

/// Cuts points into compact blocks by halving along the longest edge of their bounding box.
inline void add_blocks(TestSystem& system, std::vector<std::array<double, 4>>::iterator first,
                       std::vector<std::array<double, 4>>::iterator last) {
  using Point = std::array<double, 4>;
  std::array<double, 3> origin{};
  std::size_t longest = 0;
  double extent = -1;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto [low, high] = std::minmax_element(
        first, last, [k](const Point& a, const Point& b) { return a[k] < b[k]; });
    origin[k] = 0.5 * ((*low)[k] + (*high)[k]);
    if ((*high)[k] - (*low)[k] > extent) {
      extent = (*high)[k] - (*low)[k];
      longest = k;
    }
  }
  if (last - first > STARPMC_BLOCK_POINTS) {
    const auto middle = first + (last - first) / 2;
    std::nth_element(first, middle, last,
                     [longest](const Point& a, const Point& b) { return a[longest] < b[longest]; });
    add_blocks(system, first, middle);
    add_blocks(system, middle, last);
    return;
  }
  double radius = 0;
  double largest_extent = 0;
  const std::size_t base = system.points.size();
  system.points.resize(base + STARPMC_BLOCK_VALUES, 0.0);
  for (auto point = first; point != last; ++point) {
    const std::size_t index = base + static_cast<std::size_t>(point - first);
    double squared = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const double relative = (*point)[k] - origin[k];
      system.points[index + k * STARPMC_BLOCK_POINTS] = relative;
      squared += relative * relative;
    }
    system.points[index + 3 * STARPMC_BLOCK_POINTS] = (*point)[3];
    const double point_size = point_extent(point->data());
    system.points[index + 4 * STARPMC_BLOCK_POINTS] =
        point_size > 0 ? 1 / (point_size * point_size) : 0;
    largest_extent = std::max(largest_extent, point_size);
    radius = std::max(radius, std::sqrt(squared));
    system.point_position.insert(system.point_position.end(), point->begin(), point->end());
  }
  system.blocks.insert(system.blocks.end(),
                       {origin[0], origin[1], origin[2], radius, largest_extent});
}

/// Two nuclei in a cloud of charge that falls off with the distance from them.
inline void add_solute(TestSystem& system, const SystemOptions& options, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::exponential_distribution<double> distance(1.2);
  const double nuclei[2][4] = {{-0.6, 0.1, 0, 6}, {0.6, 0, 0.2, 8}};
  system.nuclei = 2;
  for (std::size_t k = 0; k < 4; ++k) {
    for (const auto& nucleus : nuclei) system.solute.push_back(nucleus[k]);
  }
  system.solute.insert(system.solute.end(), {3, 3});
  std::vector<std::array<double, 4>> points;
  for (int i = 0; i < options.grid_points; ++i) {
    double direction[3];
    double norm = 0;
    for (double& d : direction) {
      d = normal(random);
      norm += d * d;
    }
    const double r = std::min(distance(random), 6.0) / std::sqrt(norm);
    const double* const centre = nuclei[i % 2];
    points.push_back({centre[0] + r * direction[0], centre[1] + r * direction[1],
                      centre[2] + r * direction[2], -14.0 / options.grid_points});
  }
  add_blocks(system, points.begin(), points.end());
}

inline TestSystem make_system(const SystemOptions& options) {
  TestSystem system;
  std::mt19937_64 random(options.seed);
  system.interaction = interaction_within({options.edge, options.edge * 1.05, options.edge * 1.1},
                                          options.coulomb_cutoff, options.vdw_cutoff);
  add_topology(system, options);
  place_molecules(system, options, random);
  add_solute(system, options, random);
  return system;
}

/// Every buffer of a chain and its window.
template <class Real>
struct Buffers {
  WindowLayout layout{};
  const TestSystem* system = nullptr;
  std::vector<int> plan;
  std::vector<double> entries;
  std::vector<PairReal<Real>> outside;
  std::vector<double> lattice;
  std::vector<Real> lattice_sites;
  std::vector<Real> points;
  std::vector<double> grid_energies;
  std::vector<double> nuclei_energies;
  std::vector<double> mm_partial;
  std::vector<double> mm_energies;
  std::vector<PairReal<Real>> table;
  std::vector<double> chain_state;
  std::vector<int> in_turn;  ///< see confine()
  std::vector<double> field_cache;
  std::vector<double> record;
  std::vector<double> potential;
  std::vector<double> exact_points;
  int components = 0;  ///< of the response
  std::vector<int> responses;
  std::vector<int> molecule_response;
  std::vector<std::int64_t> response_total;
  bool certified = false;
  DecisionBound bound{};

  Buffers(const TestSystem& of, int steps, int candidates)
      : layout{steps, candidates, of.shape.sites, of.padded}, system(&of), lattice(of.lattice) {
    const auto rows = static_cast<std::size_t>(entry_capacity(layout));
    const auto padded = static_cast<std::size_t>(of.padded);
    plan.assign(static_cast<std::size_t>(plan_size(layout)), -1);
    entries.assign(static_cast<std::size_t>(entries_size(layout)), 0.0);
    outside.assign(padded, PairReal<Real>{0});
    place_points();
    grid_energies.assign(static_cast<std::size_t>(candidates), 0.0);
    nuclei_energies.assign(STATIC_TERMS * static_cast<std::size_t>(candidates), 0.0);
    mm_partial.assign(MM_TERMS * rows, 0.0);
    mm_energies.assign(MM_TERMS * rows, 0.0);
    table.assign(MM_TERMS * rows * rows, PairReal<Real>{0});
    chain_state.assign(static_cast<std::size_t>(chain_state_size(of.shape.molecules)), 0.0);
    chain_state[STATE_MAXIMUM_TRANSLATION] = 0.25;
    chain_state[STATE_MAXIMUM_HALF_TURNS] = 0.04;
    field_cache.assign(FIELDS * padded, 0.0);
    record.assign(RECORD_FIELDS * static_cast<std::size_t>(steps), 0.0);
    potential.assign(of.blocks.size() / BLOCK_FIELDS * STARPMC_BLOCK_POINTS, 0.0);
    place_lattice_sites();
    exact_points = of.points;
    for (std::size_t i = 0; i < exact_points.size(); ++i) {
      const std::size_t block = i / STARPMC_BLOCK_VALUES;
      const std::size_t k = i / STARPMC_BLOCK_POINTS % 5;
      if (k < 3) exact_points[i] += of.blocks[block * BLOCK_FIELDS + k];
    }
  }

  Certification certification() const {
    return {certified, bound, system->blocks, exact_points, system->solute, system->nuclei};
  }

  ResponseArguments response() {
    return {components, responses, molecule_response, response_total};
  }

  Window window() const {
    return {layout, system->interaction, system->topology(), plan, entries, system->potential};
  }

  /// Steps move these alone, in this order, within a sphere of half the box.
  void confine(std::span<const int> molecules) {
    chain_state[STATE_REGION_MOLECULES] = static_cast<double>(molecules.size());
    chain_state[STATE_REGION_SQUARE] = std::pow(system->interaction.box[0] / 2, 2);
    std::ranges::copy(molecules, chain_state.begin() + STATE_REGION_FIRST);
    in_turn.assign(molecules.begin(), molecules.end());
  }

  /// Extent the host knows ahead: plans the window into `plan`.
  void plan_ahead(const StepRange& range) {
    WindowPlanner planner(layout, system->shape.molecules);
    planner.move_in_turn(in_turn);
    planner.plan(range, plan);
  }

 private:
  void place_points() {
    points.resize(system->points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double value = system->points[i];
      if constexpr (kPrecisionOf<Real> == Precision::fixed) {
        const std::size_t block = i / STARPMC_BLOCK_VALUES;
        const std::size_t k = i / STARPMC_BLOCK_POINTS % 5;
        if (k >= 3) {
          points[i] = {std::bit_cast<std::int32_t>(static_cast<float>(value))};
        } else {
          points[i] = stored_site<Real>(system->blocks[block * BLOCK_FIELDS + k], value,
                                        system->interaction.box[k]);
        }
      } else {
        points[i] = static_cast<Real>(value);
      }
    }
  }

  void place_lattice_sites() {
    const auto stride = static_cast<std::size_t>(layout.molecules);
    lattice_sites.assign(3 * static_cast<std::size_t>(layout.sites) * stride, Real{});
    const Topology topology = system->topology();
    for (int m = 0; m < system->shape.molecules; ++m) {
      double pose[POSE_FIELDS];
      for (std::size_t k = 0; k < POSE_FIELDS; ++k) {
        pose[k] = lattice[k * stride + static_cast<std::size_t>(m)];
      }
      for (int site = 0; site < topology.site_count(topology.type_of(m)); ++site) {
        double displacement[3];
        scalar::rotate_site(pose, topology.site(topology.type_of(m), site), displacement);
        for (std::size_t k = 0; k < 3; ++k) {
          lattice_sites[(3 * static_cast<std::size_t>(site) + k) * stride +
                        static_cast<std::size_t>(m)] =
              stored_site<Real>(pose[k], displacement[k], system->interaction.box[k]);
        }
      }
    }
  }
};

inline StepTuning no_tuning() { return {0.4, 0, 0, 0, 0}; }

inline StepRange step_range(std::uint64_t first, int steps) {
  return {0x123456789ABCDEFULL, first, 3, static_cast<unsigned>(steps), 2.5};
}

}  // namespace starpmc::test
