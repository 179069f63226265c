/* Energy of two molecules, by one item. */
#ifndef STARPMC_OPENCL_MOLECULE_PAIR_H
#define STARPMC_OPENCL_MOLECULE_PAIR_H

#include "opencl/pair_functions.h"
#include "opencl/window.h"

/* Where a site is: in fixed precision its position, whose differences wrap by themselves, otherwise
   its displacement from the centre, of an entry (fp64) or of a molecule in the lattice. */
#if STARPMC_FIXED
typedef uint3 site_place;
typedef uint3 stored_place;
#else
typedef double3 site_place;
typedef real3 stored_place;
#endif

/* A site of the molecule whose energies are wanted, for pairs in fp64 and in the precision of the pair
   terms: a GPU converts slowly, so it is done once. */
typedef struct {
  site_place wide_place;
  stored_place place;
  double wide_charge; /* times the Coulomb constant */
  real charge;
  int type;
  uint vdw_types; /* one bit per site type, modulo 32: whether there are van der Waals terms */
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
#define AS_STORED_PLACE(place) (place)
#else
#define AS_STORED_PLACE(place) to_real3(place)
#endif

static inline TargetSite target_site(WindowShape window, __global const double *topology_reals,
                                     __global const int *topology_integers,
                                     __global const double *entries, int entry, int type, int site,
                                     PairConstants constants) {
  TargetSite target;
  target.wide_place = place_of_entry_site(window, entries, entry, site, constants);
  target.place = AS_STORED_PLACE(target.wide_place);
  target.wide_charge =
      STARPMC_COULOMB_CONSTANT * site_charge(window.topology, topology_reals, type, site);
  target.charge = (real)target.wide_charge;
  target.type = site_type(window.topology, topology_integers, type, site);
  target.vdw_types = ~0u;
  return target;
}

static inline double wide_pair_distance_squared(site_place a, stored_place b, double3 offset,
                                                PairConstants constants) {
#if STARPMC_FIXED
  return wide_distance_squared(
      convert_double3(as_int3(a - b)) * (double3)(fixed_unit(constants.box[0]),
                                                  fixed_unit(constants.box[1]),
                                                  fixed_unit(constants.box[2])),
      constants);
#else
  return wide_distance_squared(
      a - (offset + (double3)((double)b.x, (double)b.y, (double)b.z)), constants);
#endif
}

/* b: from the centre of the molecule that a belongs to; images: pairs of sites may have other nearest
   images than the centres */
static inline real pair_distance_squared(stored_place a, stored_place b, int images,
                                         PairReals reals) {
#if STARPMC_FIXED
  const real3 d =
      convert_float3(as_int3(a - b)) * (real3)(reals.unit_x, reals.unit_y, reals.unit_z);
#else
  real3 d = a - b;
  if (images) {
    d = (real3)(MINIMUM_IMAGE(d.x, reals.box_x, reals.inverse_x),
                MINIMUM_IMAGE(d.y, reals.box_y, reals.inverse_y),
                MINIMUM_IMAGE(d.z, reals.box_z, reals.inverse_z));
  }
#endif
  const real r2 = d.x * d.x + (d.y * d.y + d.z * d.z);
  return AT_LEAST_MINIMUM_DISTANCE(r2);
}

/* How far apart the centres of two molecules may be that still interact. */
static inline double molecule_reach(TopologyShape topology, PairConstants constants) {
  return fmax(constants.coulomb_cutoff, constants.vdw_cutoff) + 1e-3 + 2 * topology.largest_radius;
}

#endif
