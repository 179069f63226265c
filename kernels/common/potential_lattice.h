/* Potentials of a solute as functions of position: cubic B-splines on nested lattices, in the common
   subset of C++ and OpenCL C. A term made of them needs no certification: it is evaluated by correctly
   rounded multiplications and additions in a fixed order, none of them contracted, so that it has the
   same bits everywhere.

   phi0, the potential of a reference density and the nuclei (kJ/mol per e), is a lattice of one component,
   summed in fp64. The eta_k (sqrt(kJ/mol) per e), whose sum over a molecule's charges y_k is the
   molecule's part of the solute's response, are a lattice of many, summed in fp32, which is all
   that their unit asks for. Their coefficients are in half precision, normal numbers or 0, which
   every device turns into fp32 exactly: they are most of what a step reads. See src/sampling/README.md,
   'The exact ensemble'.

   The includer has included common/layout.h. */
#ifndef STARPMC_POTENTIAL_LATTICE_H
#define STARPMC_POTENTIAL_LATTICE_H

#ifdef __cplusplus
#include <bit>
#include <cmath>
#include <cstdint>
#include <kernels/common/layout.h>
namespace starpmc {
#define LATTICE_VALUES const float *
#define RESPONSE_COEFFICIENTS const ResponseCoefficient *
struct ResponseCoefficient {
  std::uint16_t bits; /* of an IEEE half-precision number */
};
#else
#define LATTICE_VALUES __global const float *
#define RESPONSE_COEFFICIENTS __global const half *
#endif

#define STARPMC_MOST_LATTICE_LEVELS 3
/* The components of a lattice of several are a multiple of this, the last ones 0. */
#define STARPMC_COMPONENT_GRAIN 16

/* Unit of y_k, sqrt(kJ/mol), and the largest |y_k|, 16 sqrt(kJ/mol), in units. */
#define STARPMC_RESPONSE_UNITS 262144.0f /* 2^18 per sqrt(kJ/mol) */
#define STARPMC_LARGEST_RESPONSE 4194304.0f /* 2^22 */

typedef struct {
  double origin[3]; /* A, of the first node, relative to the lattice's centre */
  double inverse_spacing;
  int nodes[3];
  int first; /* of the lattice's values */
} LatticeLevel;

/* Values: the coefficients of the splines, arrays [x][y][z][component] one level after another. */
typedef struct {
  double centre[3];
  double box[3];
  double inverse_box[3];
  int levels;     /* 0: no lattice */
  int components; /* 1, or a multiple of STARPMC_COMPONENT_GRAIN */
  LatticeLevel level[STARPMC_MOST_LATTICE_LEVELS]; /* finest first; the last holds the whole cell */
} PotentialLattice;

/* Where a position is: the level that serves, the first of the four nodes along each axis whose
   splines do not vanish there, and the place between the second of these and the third. */
typedef struct {
  int level;
  int node[3];
  double fraction[3];
} LatticePlace;

STARPMC_INLINE int lattice_size(LatticeLevel level, int components) {
  return level.nodes[0] * level.nodes[1] * level.nodes[2] * components;
}

/* The finest level that has all four nodes on every axis. The last one serves whatever it is, with
   nodes that exist: of a position that is no number, too. */
STARPMC_INLINE LatticePlace lattice_place(const PotentialLattice *lattice, double x, double y,
                                          double z) {
  const double position[3] = {x, y, z};
  double d[3];
  LatticePlace place;
  for (int k = 0; k < 3; ++k) {
    const double whole = position[k] - lattice->centre[k];
    d[k] = whole - lattice->box[k] * rint(whole * lattice->inverse_box[k]);
  }
  for (place.level = 0; place.level < STARPMC_MOST_LATTICE_LEVELS; ++place.level) {
    const LatticeLevel *const level = &lattice->level[place.level];
    const int last = place.level + 1 >= lattice->levels;
    int serves = 1;
    for (int k = 0; k < 3; ++k) {
      const double u = (d[k] - level->origin[k]) * level->inverse_spacing;
      double second = floor(u);
      if (!(second >= 1.0)) {
        serves = 0;
        second = 1.0;
      } else if (!(second <= level->nodes[k] - 3)) {
        serves = 0;
        second = level->nodes[k] - 3;
      }
      place.node[k] = (int)second - 1;
      place.fraction[k] = u - second;
    }
    if (serves || last) break;
  }
  return place;
}

/* Values of the four splines at a place, and their derivatives by it. */
STARPMC_INLINE void spline_weights(double t, double *w) {
  const double s = 1.0 - t;
  const double t2 = t * t;
  const double s2 = s * s;
  w[0] = (s2 * s) * (1.0 / 6.0);
  w[1] = (2.0 / 3.0) - t2 * (1.0 - 0.5 * t);
  w[2] = (2.0 / 3.0) - s2 * (1.0 - 0.5 * s);
  w[3] = (t2 * t) * (1.0 / 6.0);
}
STARPMC_INLINE void spline_slopes(double t, double *w) {
  const double s = 1.0 - t;
  w[0] = (s * s) * -0.5;
  w[1] = t * (1.5 * t - 2.0);
  w[2] = s * (2.0 - 1.5 * s);
  w[3] = (t * t) * 0.5;
}

/* Sum of a component over the 64 nodes of a place. */
STARPMC_INLINE double lattice_sum(const PotentialLattice *lattice, LATTICE_VALUES values,
                                  const LatticePlace *place, const double *wx, const double *wy,
                                  const double *wz, int component) {
  const LatticeLevel *const level = &lattice->level[place->level];
  const int step = lattice->components;
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    double of_plane = 0;
    for (int j = 0; j < 4; ++j) {
      const int row = (place->node[0] + i) * level->nodes[1] + place->node[1] + j;
      LATTICE_VALUES c =
          values + level->first + (row * level->nodes[2] + place->node[2]) * step + component;
      const double of_row =
          ((wz[0] * c[0] + wz[1] * c[step]) + wz[2] * c[2 * step]) + wz[3] * c[3 * step];
      of_plane += wy[j] * of_row;
    }
    sum += wx[i] * of_plane;
  }
  return sum;
}

/* Value of a component at a position. */
STARPMC_INLINE double lattice_value(const PotentialLattice *lattice, LATTICE_VALUES values, double x,
                                    double y, double z, int component) {
  const LatticePlace place = lattice_place(lattice, x, y, z);
  double wx[4];
  double wy[4];
  double wz[4];
  spline_weights(place.fraction[0], wx);
  spline_weights(place.fraction[1], wy);
  spline_weights(place.fraction[2], wz);
  return lattice_sum(lattice, values, &place, wx, wy, wz, component);
}

/* Its gradient, per A. */
STARPMC_INLINE void lattice_gradient(const PotentialLattice *lattice, LATTICE_VALUES values, double x,
                                     double y, double z, int component, double *gradient) {
  const LatticePlace place = lattice_place(lattice, x, y, z);
  const double per_angstrom = lattice->level[place.level].inverse_spacing;
  double w[3][4];
  double slope[3][4];
  for (int k = 0; k < 3; ++k) {
    spline_weights(place.fraction[k], w[k]);
    spline_slopes(place.fraction[k], slope[k]);
  }
  gradient[0] =
      per_angstrom * lattice_sum(lattice, values, &place, slope[0], w[1], w[2], component);
  gradient[1] =
      per_angstrom * lattice_sum(lattice, values, &place, w[0], slope[1], w[2], component);
  gradient[2] =
      per_angstrom * lattice_sum(lattice, values, &place, w[0], w[1], slope[2], component);
}

/* y_k of a molecule. Its charged sites, in order, are parted into groups of neighbours; the nodes of a
   group's box then have one weight each, the sum over its sites of charge * wx * wy * wz (in this
   order, fp64), rounded to fp32:
     y_k = sum over groups, over a box's nodes from the first to the last, of weight * coefficient,
   in fp32. Nodes of weight 0 may be left out, as they change no sum.
   A group takes the next site if it is served by the same level, its box has at most
   STARPMC_GROUP_EDGE nodes along each axis with it, and it has fewer than STARPMC_GROUP_SITES. */
#define STARPMC_GROUP_EDGE 8
#define STARPMC_GROUP_SITES 8
#define STARPMC_GROUP_NODES (STARPMC_GROUP_EDGE * STARPMC_GROUP_EDGE * STARPMC_GROUP_EDGE)

typedef struct {
  int sites; /* 0: empty */
  int level;
  int node[3];  /* the box's first */
  int nodes[3];
} SiteGroup;

/* Takes a site into the group, if it belongs there. */
STARPMC_INLINE int joins_group(SiteGroup *group, const LatticePlace *place) {
  SiteGroup larger = *group;
  if (group->sites == 0) {
    larger.level = place->level;
    for (int k = 0; k < 3; ++k) {
      larger.node[k] = place->node[k];
      larger.nodes[k] = 4;
    }
  }
  if (larger.level != place->level || larger.sites == STARPMC_GROUP_SITES) return 0;
  for (int k = 0; k < 3; ++k) {
    const int first = larger.node[k] < place->node[k] ? larger.node[k] : place->node[k];
    const int end = larger.node[k] + larger.nodes[k];
    const int place_end = place->node[k] + 4;
    larger.node[k] = first;
    larger.nodes[k] = (end > place_end ? end : place_end) - first;
    if (larger.nodes[k] > STARPMC_GROUP_EDGE) return 0;
  }
  ++larger.sites;
  *group = larger;
  return 1;
}

STARPMC_INLINE float response_coefficient(RESPONSE_COEFFICIENTS coefficient) {
#ifdef __cplusplus
  const std::uint32_t bits = coefficient->bits;
  const float magnitude = std::bit_cast<float>((bits & 0x7fffU) << 13) * 0x1p112F; /* other bias */
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | (bits & 0x8000U) << 16);
#else
  return vload_half(0, coefficient);
#endif
}

/* A sum in whole units; 0 of what is no number. */
STARPMC_INLINE int response_units(float sum) {
  const float units = (float)rint((double)(sum * STARPMC_RESPONSE_UNITS));
  if (units > STARPMC_LARGEST_RESPONSE) return (int)STARPMC_LARGEST_RESPONSE;
  if (units < -STARPMC_LARGEST_RESPONSE) return -(int)STARPMC_LARGEST_RESPONSE;
  return units == units ? (int)units : 0;
}

#ifdef __cplusplus
}  // namespace starpmc
#endif
#endif
