/* Energy of two molecules, by one item. */
#ifndef STARPMC_OPENCL_MOLECULE_PAIR_H
#define STARPMC_OPENCL_MOLECULE_PAIR_H

#include "opencl/pair_functions.h"
#include "opencl/window.h"

/* Where a site is: in fixed precision its position, whose differences wrap by themselves, otherwise
   its displacement from the centre, of an entry (fp64) or of a molecule in the lattice. */
#if STARPMC_FIXED
typedef uint3 site_place;
typedef uint3 lattice_place;
#else
typedef double3 site_place;
typedef real3 lattice_place;
#endif

/* A site of the molecule whose energies are wanted. */
typedef struct {
  site_place place;
  double charge; /* times the Coulomb constant */
} TargetSite;

static inline site_place place_of_entry_site(WindowShape window, __global const double *entries,
                                              int entry, int site, PairConstants constants) {
  const double3 displacement = entry_displacement(window, entries, entry, site);
#if STARPMC_FIXED
  const double3 centre = entry_centre(window, entries, entry);
  return (uint3)((uint)stored_site(centre.x, displacement.x, constants.box[0]),
                 (uint)stored_site(centre.y, displacement.y, constants.box[1]),
                 (uint)stored_site(centre.z, displacement.z, constants.box[2]));
#else
  return displacement;
#endif
}

/* A place of an entry's site as that of a lattice's. */
#if STARPMC_FIXED
#define AS_LATTICE_PLACE(place) (place)
#else
#define AS_LATTICE_PLACE(place) to_real3(place)
#endif

static inline TargetSite target_site(WindowShape window, __global const double *topology_reals,
                                     __global const double *entries, int entry, int type, int site,
                                     PairConstants constants) {
  TargetSite target;
  target.place = place_of_entry_site(window, entries, entry, site, constants);
  target.charge =
      STARPMC_COULOMB_CONSTANT * site_charge(window.topology, topology_reals, type, site);
  return target;
}

/* Where two molecules are to each other. */
typedef struct {
  double3 offset; /* of the second's centre from the first's */
  int near;       /* fp64 whatever the precision */
  int images;     /* pairs of sites may have other nearest images than the centres */
} PairPlace;

static inline double wide_pair_distance_squared(site_place a, lattice_place b, PairPlace pair,
                                                PairConstants constants) {
#if STARPMC_FIXED
  return wide_distance_squared(
      convert_double3(as_int3(a - b)) * (double3)(fixed_unit(constants.box[0]),
                                                  fixed_unit(constants.box[1]),
                                                  fixed_unit(constants.box[2])),
      constants);
#else
  return wide_distance_squared(
      a - (pair.offset + (double3)((double)b.x, (double)b.y, (double)b.z)), constants);
#endif
}

static inline real pair_distance_squared(site_place a, lattice_place b, PairPlace pair,
                                         PairConstants constants, PairReals reals) {
#if STARPMC_FIXED
  real3 d = convert_float3(as_int3(a - b)) * (real3)((real)fixed_unit(constants.box[0]),
                                                     (real)fixed_unit(constants.box[1]),
                                                     (real)fixed_unit(constants.box[2]));
#else
  real3 d = to_real3(a) - (to_real3(pair.offset) + b);
  if (pair.images) {
    d = (real3)(MINIMUM_IMAGE(d.x, reals.box_x, reals.inverse_x),
                MINIMUM_IMAGE(d.y, reals.box_y, reals.inverse_y),
                MINIMUM_IMAGE(d.z, reals.box_z, reals.inverse_z));
  }
#endif
  const real r2 = d.x * d.x + (d.y * d.y + d.z * d.z);
  return AT_LEAST_MINIMUM_DISTANCE(r2);
}

/* Energy of a pair of molecules: of each of its pairs of sites, one of the two is added to. */
typedef struct {
  PairEnergy wide;
  QuickPairEnergy quick;
} MoleculePair;

/* Adds a pair of sites. charge: product of the charges, times the Coulomb constant. */
static inline void add_sites(site_place a, lattice_place b, double charge,
                             __global const double *coefficients, PairPlace pair,
                             PairConstants constants, PairReals reals, MoleculePair *sum) {
  if (pair.near) {
    add_site_pair_wide(constants, wide_pair_distance_squared(a, b, pair, constants), charge,
                       coefficients, &sum->wide);
  } else {
    add_site_pair(reals, pair_distance_squared(a, b, pair, constants, reals), (real)charge,
                  coefficients, &sum->quick);
  }
}

static inline double coulomb_of(MoleculePair sum) {
  return limited_pair_energy(sum.wide.coulomb + (double)sum.quick.coulomb);
}
static inline double vdw_of(MoleculePair sum) {
  return limited_pair_energy(sum.wide.vdw + (double)sum.quick.vdw);
}

/* Largest distance of a site from its molecule's centre, over all molecule types. */
static inline double largest_radius(TopologyShape topology, __global const double *topology_reals,
                                    __global const int *topology_integers) {
  double largest = 0;
  for (int type = 0; type < topology.molecule_types; ++type) {
    for (int site = 0; site < site_count(topology, topology_integers, type); ++site) {
      __global const double *r = topology_reals + topology_site(topology, type, site);
      largest = fmax(largest, r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    }
  }
  return sqrt(largest);
}

/* How far apart the centres of two molecules may be that still interact. */
static inline double molecule_reach(TopologyShape topology, __global const double *topology_reals,
                                    __global const int *topology_integers,
                                    PairConstants constants) {
  return fmax(constants.coulomb_cutoff, constants.vdw_cutoff) + 1e-3 +
         2 * largest_radius(topology, topology_reals, topology_integers);
}

#endif
