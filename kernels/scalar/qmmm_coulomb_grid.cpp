#include <algorithm>
#include <bit>
#include <type_traits>
#include <vector>

#include "kernels/all_precisions.hpp"
#include "kernels/block_reach.hpp"
#include "kernels/operations.hpp"
#include "kernels/scalar/evaluate.hpp"
#include "kernels/scalar/moves.hpp"
#include "kernels/scalar/pair_functions.hpp"
#include "kernels/whole_units.hpp"

namespace starpmc::scalar {
namespace {

/// A site as the pair terms see it from one compact block: relative to its origin, or in fixed
/// precision where it is. T: what distances are computed in.
template <class Real, class T>
class SiteOfBlock {
 public:
  SiteOfBlock(const double* position, const double* header, const Interaction& box)
      : site_(Relative<T>::from(position, header, box)), box_(box) {}
  T distance_squared(const Real* x, int point) const {
    const Relative<T> other{static_cast<T>(x[point]),
                            static_cast<T>(x[STARPMC_BLOCK_POINTS + point]),
                            static_cast<T>(x[2 * STARPMC_BLOCK_POINTS + point])};
    return scalar::distance_squared(site_, other, box_);
  }
  static T charge(const Real* x, int point) { return value(x, 3, point); }
  static T inverse_square_extent(const Real* x, int point) { return value(x, 4, point); }

 private:
  static T value(const Real* x, int column, int point) {
    return static_cast<T>(x[column * STARPMC_BLOCK_POINTS + point]);
  }
  Relative<T> site_;
  const Interaction& box_;
};

template <class T>
class SiteOfBlock<FixedCoordinate, T> {
 public:
  SiteOfBlock(const double* position, const double*, const Interaction& box) {
    for (int k = 0; k < 3; ++k) {
      site_[k] = static_cast<unsigned>(fixed_coordinate(position[k], box.box[k]));
      unit_[k] = static_cast<T>(fixed_unit(box.box[k]));
    }
  }
  T distance_squared(const FixedCoordinate* x, int point) const {
    T sum = 0;
    for (int k = 0; k < 3; ++k) {
      const auto other = static_cast<unsigned>(x[k * STARPMC_BLOCK_POINTS + point].value);
      const T d = static_cast<T>(static_cast<int>(site_[k] - other)) * unit_[k];
      sum += d * d;
    }
    return std::max(sum, static_cast<T>(STARPMC_MINIMUM_DISTANCE_SQUARED));
  }
  static T charge(const FixedCoordinate* x, int point) { return value(x, 3, point); }
  static T inverse_square_extent(const FixedCoordinate* x, int point) { return value(x, 4, point); }

 private:
  static T value(const FixedCoordinate* x, int column, int point) {
    return std::bit_cast<float>(x[column * STARPMC_BLOCK_POINTS + point].value);
  }
  unsigned site_[3];
  T unit_[3];
};

/// The user's Coulomb function times a charge, in T, 0 beyond the cutoff.
template <class T>
class GridCoulomb {
 public:
  GridCoulomb(const Program& program, double cutoff)
      : program_(program), cutoff_squared_(static_cast<T>(cutoff * cutoff)) {}
  T operator()(T r2, T charge) const {
    if (charge == 0 || !(r2 < cutoff_squared_)) return 0;
    T value = 0;
    evaluate<T>(program_, {&r2, 1}, {&value, 1}, values_);
    return charge * value;
  }

 private:
  const Program& program_;
  T cutoff_squared_;
  mutable std::vector<T> values_;
};

/// Whether the site may meet a point of the block inside the cutoff.
bool in_reach(const double* position, const double* header, const Interaction& interaction) {
  const auto d = Relative<double>::from(position, header, interaction);
  const double reach = BlockReach(interaction.coulomb_cutoff, header[BLOCK_RADIUS]).reach;
  return d.x * d.x + d.y * d.y + d.z * d.z < reach * reach;
}

/// Sum over all points of charge * V(r), V without the Coulomb constant, whose 1/r part is that of
/// a cloud inside a point's extent (exact_extent). That is added in fp64 in every precision, for it
/// is a difference of two roots.
/// @param coulomb V of r^2 and a charge, in T
/// @param first, last of the compact blocks
template <class T, class Real, class Coulomb>
double site_energy(const double* position, const CoulombGridArguments<Real>& a,
                   const Coulomb& coulomb, std::size_t first, std::size_t last) {
  const Interaction& interaction = a.window.interaction;
  const double pole = coulomb_pole(a.window.potential);
  double sum = 0;
  for (std::size_t block = first; block < last; ++block) {
    const double* const header = &a.blocks[block * BLOCK_FIELDS];
    if (!in_reach(position, header, interaction)) continue;
    const Real* const points = &a.points[block * STARPMC_BLOCK_VALUES];
    const SiteOfBlock<Real, T> site(position, header, interaction);
    double block_sum = 0;
    for (int point = 0; point < STARPMC_BLOCK_POINTS; ++point) {
      const T r2 = site.distance_squared(points, point);
      const T charge = site.charge(points, point);
      block_sum += coulomb(r2, charge);
      const T inverse_square = site.inverse_square_extent(points, point);
      if (r2 * inverse_square < 1) block_sum += pole * charge * exact_extent(r2, inverse_square);
    }
    sum += block_sum;
  }
  return sum;
}

/// Energy of a candidate with a group of compact blocks.
template <class T, class Real, class Coulomb>
double candidate_energy(int candidate, const CoulombGridArguments<Real>& a, const Coulomb& coulomb,
                        std::size_t first, std::size_t last) {
  const Window& window = a.window;
  const int type = window.topology.type_of(window.molecule_of_candidate(candidate));
  double energy = 0;
  for (int site = 0; site < window.topology.site_count(type); ++site) {
    const double charge = window.topology.site(type, site)[3];
    if (charge == 0) continue;
    double position[3];
    for (int k = 0; k < 3; ++k) {
      position[k] =
          window.field(POSE_X + k, candidate) + window.field(POSE_FIELDS + 3 * site + k, candidate);
    }
    const double of_site = charge * site_energy<T>(position, a, coulomb, first, last);
    energy += whole_units(STARPMC_COULOMB_CONSTANT * of_site, kGridUnit);
  }
  return energy;
}

// Algorithm 1 of Miranda et al. 2016, for new positions only: the energy of each molecule's current
// position is cached.
template <class T, class Real, class Coulomb>
void add_sites(const CoulombGridArguments<Real>& a, const Coulomb& coulomb) {
  const std::size_t blocks = a.blocks.size() / BLOCK_FIELDS;
  for (int candidate = 0; candidate < a.window.candidates(); ++candidate) {
    double energy = 0;
    for (std::size_t first = 0; first < blocks; first += kGroupBlocks) {
      const std::size_t last = std::min(first + kGroupBlocks, blocks);
      energy += candidate_energy<T>(candidate, a, coulomb, first, last);
    }
    a.energies[static_cast<std::size_t>(candidate)] = energy;
  }
}

}  // namespace

template <class Real>
void qmmm_coulomb_grid(const CoulombGridArguments<Real>& a) {
  const Window& window = a.window;
  if (const auto* const potential = potential_of(window.potential, &Potential::in_grid)) {
    const double cutoff = window.interaction.coulomb_cutoff;
    if constexpr (!std::is_same_v<Real, double>) {
      if (potential->grid_as_pairs) {
        add_sites<float>(a, GridCoulomb<float>(potential->coulomb, cutoff));
        return;
      }
    }
    add_sites<double>(a, GridCoulomb<double>(potential->coulomb, cutoff));
  } else {
    const CoulombShiftedForce<PairReal<Real>> coulomb(window.interaction.coulomb_cutoff);
    add_sites<PairReal<Real>>(a, [&](auto r2, auto charge) { return charge * coulomb(r2); });
  }
}

void qmmm_coulomb_grid_reduce(const CoulombGridReduceArguments& a) {
  for (int candidate = 0; candidate < a.candidates; ++candidate) {
    double sum = 0;
    for (const auto& partial : a.partials) sum += partial[static_cast<std::size_t>(candidate)];
    a.energies[static_cast<std::size_t>(candidate)] = sum;
  }
}

STARPMC_FOR_ALL_PRECISIONS(qmmm_coulomb_grid)

}  // namespace starpmc::scalar
