#include "sampling/mm_rounding.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sampling/error_sum.hpp"
#include "sampling/packing.hpp"

namespace starpmc {
namespace {

constexpr double kShellRatio = 1.02;
/// Of the places that a step's old and new position, and other entries of its molecule, may have
/// from the one that neighbours are placed relative to.
constexpr double kLargestSpread = 2;
/// Energies of neutral molecules' pairs that are no overlaps, kJ/mol.
constexpr double kLargestBond = 100;

struct Units {
  double pairs;   ///< half a unit in the last place of the pair terms
  double places;  ///< of stored centres, A
};

Units units_of(Precision precision, const TopologyBuffers& topology) {
  const double* const box = topology.interaction.box;
  const double diagonal = std::hypot(box[0], box[1], box[2]);
  if (precision == Precision::fp64) return {std::ldexp(1, -53), std::ldexp(diagonal, -51)};
  return {std::ldexp(1, -24), std::ldexp(diagonal, -33)};
}

/// Two sites of different molecules at a distance that their molecules' extents leave them.
struct SitePair {
  double distance;
  double coulomb;  ///< how steep |V| is, times the Coulomb constant and the charges
  double slope;
  double rounding;  ///< of V, in u
};

class Roundings {
 public:
  Roundings(Precision precision, const TopologyBuffers& topology)
      : topology_(topology),
        view_(topology.view()),
        packing_(topology),
        units_(units_of(precision, topology)),
        single_(precision != Precision::fp64) {}

  double of_step(int type) {
    ErrorSum sum;
    double common = 0;
    for (int other = 0; other < topology_.shape.molecule_types; ++other) {
      add_neighbours(type, other, sum, common);
    }
    return sum.bound() + 2 * common;
  }

 private:
  struct Shell {
    double distance;  ///< of the centres, A
    double pairs;     ///< of molecules, old and new place together
    bool far;
  };

  double radius(int type, int site) const {
    const double* const s = view_.site(type, site);
    return std::hypot(s[0], s[1], s[2]);
  }
  double charge(int type, int site) const { return view_.site(type, site)[3]; }

  void add_neighbours(int type, int other, ErrorSum& sum, double& common) const {
    const double reach =
        std::max(topology_.interaction.coulomb_cutoff, topology_.interaction.vdw_cutoff) +
        2 * topology_.shape.largest_radius;
    double least = reach;
    for (int i = 0; i < view_.site_count(type); ++i) {
      for (int j = 0; j < view_.site_count(other); ++j) {
        least =
            std::min(least, packing_.contact(view_.site_type(type, i), view_.site_type(other, j)));
      }
    }
    double counted = 0;
    for (double from = least; from < reach; from *= kShellRatio) {
      const double to = from * kShellRatio;
      const double within = packing_.neighbours(other, to);
      add_shell(type, other, {from, 2 * (within - counted), single_ && to > STARPMC_NEAR_DISTANCE},
                sum, common);
      counted = within;
    }
    add_jumps(type, other, sum);
  }

  SitePair pair_at(int type, int i, int other, int j, double centres) const {
    const int type_i = view_.site_type(type, i);
    const int type_j = view_.site_type(other, j);
    const double r =
        std::max(centres - radius(type, i) - radius(other, j), packing_.contact(type_i, type_j));
    const double rc = topology_.interaction.coulomb_cutoff;
    const double factor = STARPMC_COULOMB_CONSTANT * std::abs(charge(type, i) * charge(other, j));
    const double remaining = std::max(0.0, 1 - r / rc);
    SitePair pair{r, factor, factor * remaining * (1 + r / rc) / (r * r),
                  factor * remaining / r * (8 * remaining + 2 * (2 * r / rc + remaining))};
    if (r > topology_.interaction.vdw_cutoff) return pair;
    const double* const c = view_.pair(type_i, type_j);
    const double c6 = std::abs(c[1]) / std::pow(r, 6);
    const double c12 = std::abs(c[0]) / std::pow(r, 12);
    pair.slope += (12 * c12 + 6 * c6) / r + std::abs(c[3]);
    pair.rounding += 56 * c12 + 30 * c6 + 3 * std::abs(c[2]) + 6 * std::abs(c[3]) * r;
    return pair;
  }

  /// Bounds the field of a whole molecule, kJ/mol per e and A.
  double field_of(int type, double centres) const {
    double net = 0;
    double moment = 0;
    double r = centres;
    for (int site = 0; site < view_.site_count(type); ++site) {
      net += charge(type, site);
      moment += std::abs(charge(type, site)) * radius(type, site);
      r = std::min(r, centres - radius(type, site));
    }
    r = std::max(r - topology_.shape.largest_radius, 1.5);
    return STARPMC_COULOMB_CONSTANT * (std::abs(net) / (r * r) + 2 * moment / (r * r * r));
  }

  void add_shell(int type, int other, const Shell& shell, ErrorSum& sum, double& common) const {
    if (!(shell.pairs > 0)) return;
    const double u = units_.pairs;
    // Distances of what is placed: between the centres, and of sites from the other centre.
    const double placed = shell.distance + 2 * topology_.shape.largest_radius + kLargestSpread;
    double whole = 0;
    for (int j = 0; j < view_.site_count(other); ++j) {
      const double stored = single_ ? std::ldexp(radius(other, j), -24) : 0;
      double of_site = 0;
      for (int i = 0; i < view_.site_count(type); ++i) {
        const SitePair pair = pair_at(type, i, other, j, shell.distance);
        of_site += pair.slope;
        if (!shell.far) {
          sum.add(shell.pairs, 4 * near_ * (pair.slope * pair.distance + pair.rounding));
          continue;
        }
        sum.add(shell.pairs, u * pair.slope * placed);
        sum.add(shell.pairs, 2 * u * pair.slope * pair.distance);
        sum.add(shell.pairs, u * pair.rounding);
        sum.add(shell.pairs, u * pair.coulomb / pair.distance);
      }
      // That of a molecule's charges together is less than the sum of theirs.
      const double field = std::abs(charge(other, j)) * field_of(type, shell.distance);
      const double steep =
          shell.far ? std::min(of_site, field + vdw_slope(type, other, j, shell)) : of_site;
      sum.add(shell.pairs, stored * steep);
      if (shell.far) sum.add(shell.pairs, u * placed * steep);
      whole += steep;
    }
    sum.add(shell.pairs, units_.places * whole);
    if (shell.far) {
      sum.add(2 * shell.pairs, u * placed * whole);
    }
    if (single_)
      sum.add(shell.pairs,
              u * (net_energy(type, other, shell) + (shell.far ? 0.1 : 1) * kLargestBond));
    add_common(type, other, shell, common);
  }

  double vdw_slope(int type, int i, int other, int j, const Shell& shell) const {
    const int type_i = view_.site_type(type, i);
    const int type_j = view_.site_type(other, j);
    const double* const c = view_.pair(type_i, type_j);
    const double r = std::max(shell.distance - radius(type, i) - radius(other, j),
                              packing_.contact(type_i, type_j));
    return 12 * std::abs(c[0]) / std::pow(r, 13) + 6 * std::abs(c[1]) / std::pow(r, 7) +
           std::abs(c[3]);
  }
  double vdw_slope(int type, int other, int j, const Shell& shell) const {
    double slope = 0;
    for (int i = 0; i < view_.site_count(type); ++i) slope += vdw_slope(type, i, other, j, shell);
    return slope;
  }

  double net_energy(int type, int other, const Shell& shell) const {
    double net[2] = {};
    for (int i = 0; i < view_.site_count(type); ++i) net[0] += charge(type, i);
    for (int j = 0; j < view_.site_count(other); ++j) net[1] += charge(other, j);
    return STARPMC_COULOMB_CONSTANT * std::abs(net[0] * net[1]) / shell.distance;
  }

  /// A moved site's own rounding, met by all neighbours.
  void add_common(int type, int other, const Shell& shell, double& common) const {
    if (!single_) return;
    const double neighbours = shell.pairs / 2;
    const double field = field_of(other, shell.distance) * neighbours;
    for (int i = 0; i < view_.site_count(type); ++i) {
      const double own = std::ldexp(radius(type, i), -24);
      const double places = shell.far ? std::ldexp(1, -24) + units_.places : 0;
      common += (own + places) * std::abs(charge(type, i)) * field;
      if (shell.far) continue;
      for (int j = 0; j < view_.site_count(other); ++j) {
        common += own * vdw_slope(type, i, other, j, shell) * neighbours;
      }
    }
  }

  void add_jumps(int type, int other, ErrorSum& sum) const {
    const double cutoff = topology_.interaction.vdw_cutoff;
    const double displacement =
        8 * units_.pairs * (cutoff + 2 * topology_.shape.largest_radius + kLargestSpread) +
        4 * units_.places;
    constexpr double kWidth = 0.5;
    const double pairs = 2 *
                         (packing_.neighbours(other, cutoff + kWidth) -
                          packing_.neighbours(other, cutoff - kWidth)) *
                         displacement / kWidth;
    const double least_pairs =
        2 * packing_.density(other) * 4 * std::numbers::pi * cutoff * cutoff * 2 * displacement;
    for (int i = 0; i < view_.site_count(type); ++i) {
      for (int j = 0; j < view_.site_count(other); ++j) {
        const double* const c = view_.pair(view_.site_type(type, i), view_.site_type(other, j));
        const double inverse6 = std::pow(cutoff, -6);
        sum.add(std::max(pairs, least_pairs),
                std::abs((c[0] * inverse6 - c[1]) * inverse6 + c[2] + c[3] * cutoff));
      }
    }
  }

  const TopologyBuffers& topology_;
  Topology view_;
  Packing packing_;
  Units units_;
  bool single_;
  /// Of near pairs in fp64: roots are refined from fp32 ones.
  double near_ = single_ ? 2e-11 : std::ldexp(1, -53);
};

}  // namespace

double stored_displacement(Precision precision, const TopologyBuffers& topology) {
  const Units units = units_of(precision, topology);
  return 2 * units.places + 2 * units.pairs * (1 + topology.shape.largest_radius);
}

double mm_rounding(Precision precision, const TopologyBuffers& topology) {
  Roundings roundings(precision, topology);
  double largest = 0;
  for (int type = 0; type < topology.shape.molecule_types; ++type) {
    largest = std::max(largest, roundings.of_step(type));
  }
  return largest;
}

}  // namespace starpmc
