#include "opencl/pair_functions.h"
#include "opencl/reduction.h"
#include "opencl/window.h"

/* Largest distance of a site from its molecule's centre, over all molecule types. */
static inline double largest_radius(TopologyShape topology, __global const double *topology_reals,
                                    __global const int *topology_integers,
                                    __local double *shared) {
  double largest = 0;
  for (int k = (int)get_local_id(0); k < topology.molecule_types * topology.sites;
       k += PAIR_GROUP) {
    const int type = k / topology.sites;
    const int site = k - type * topology.sites;
    if (site >= site_count(topology, topology_integers, type)) continue;
    __global const double *r = topology_reals + topology_site(topology, type, site);
    largest = fmax(largest, r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
  }
  return sqrt(group_maximum(largest, shared));
}

#if STARPMC_FIXED

/* A site's place: a fraction of the box, whose differences wrap as integers overflow. */
typedef int3 site_place;

static inline site_place fixed_place_of(double3 position, PairConstants constants) {
  return (site_place)(fixed_coordinate(position.x, constants.box[0]),
                 fixed_coordinate(position.y, constants.box[1]),
                 fixed_coordinate(position.z, constants.box[2]));
}

static inline double3 displacement_between(site_place a, site_place b, PairConstants constants) {
  const int3 d = as_int3(as_uint3(a) - as_uint3(b));
  return (double3)(d.x * fixed_unit(constants.box[0]), d.y * fixed_unit(constants.box[1]),
                   d.z * fixed_unit(constants.box[2]));
}

static inline real place_distance_squared(PairReals reals, site_place a, site_place b) {
  const real3 d = convert_float3(as_int3(as_uint3(a) - as_uint3(b))) *
                  ((real3)(reals.box_x, reals.box_y, reals.box_z) * 2.3283064365386963e-10f);
  const real r2 = d.x * d.x + (d.y * d.y + d.z * d.z);
  return AT_LEAST_MINIMUM_DISTANCE(r2);
}

/* The place of a site of a molecule in the lattice; `offset` is not needed. */
static inline site_place stored_place(__global const int *stored, int stride, double3 offset) {
  return (site_place)(stored[0], stored[stride], stored[2 * stride]);
}

/* The place of a site of the entry that others are compared with. */
static inline site_place own_place(double3 centre, double3 displacement, PairConstants constants) {
  return fixed_place_of(centre + displacement, constants);
}

/* The place of a site of another entry. */
static inline site_place other_place(double3 centre, double3 offset, double3 displacement,
                                PairConstants constants) {
  return fixed_place_of(centre + offset + displacement, constants);
}

#else

/* A site's place: relative to the centre of the entry that others are compared with. */
typedef double3 site_place;

static inline double3 displacement_between(site_place a, site_place b, PairConstants constants) {
  return a - b;
}

static inline real place_distance_squared(PairReals reals, site_place a, site_place b) {
  return periodic_distance_squared(reals, to_real3(a), to_real3(b));
}

static inline site_place stored_place(__global const real *stored, int stride, double3 offset) {
  /* the sum is rounded to the precision of the pair terms once, by place_distance_squared */
  return offset + (double3)(stored[0], stored[stride], stored[2 * stride]);
}

static inline site_place own_place(double3 centre, double3 displacement, PairConstants constants) {
  return displacement;
}

static inline site_place other_place(double3 centre, double3 offset, double3 displacement,
                                PairConstants constants) {
  return offset + displacement;
}

#endif

/* A site of an entry. */
typedef struct {
  site_place where;
  double charge; /* times the Coulomb constant */
} EntrySite;

/* A work-group per entry, its items share the molecules.
   sites: local memory for the entry's sites */
__kernel GROUP_OF(PAIR_GROUP) void mm_pair(
    WindowShape window, PairConstants constants, int first_molecule, int last_molecule,
    BUFFER(topology_reals), BUFFER(topology_integers), BUFFER(plan), BUFFER(entries),
    BUFFER(lattice), BUFFER(lattice_sites), BUFFER(outside), BUFFER(energies),
    __local EntrySite *sites) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(int, plan);
  CONSTANT_ARRAY(double, entries);
  CONSTANT_ARRAY(double, lattice);
  CONSTANT_ARRAY(coordinate, lattice_sites);
  CONSTANT_ARRAY(real, outside);
  ARRAY(double, energies);
  __local double shared[PAIR_GROUP];
  const TopologyShape topology = window.topology;
  const int stride = window.layout.molecules;
  const PairReals reals = pair_reals(constants);
  const int entry = entry_at(window, (int)get_group_id(0));
  const int type = topology_integers[molecule_of_entry(window, plan, entry)];
  const int count = site_count(topology, topology_integers, type);
  const double3 centre = entry_centre(window, entries, entry);
  for (int site = (int)get_local_id(0); site < count; site += PAIR_GROUP) {
    sites[site].where =
        own_place(centre, entry_displacement(window, entries, entry, site), constants);
    sites[site].charge =
        STARPMC_COULOMB_CONSTANT * site_charge(topology, topology_reals, type, site);
  }
  const double reach = fmax(constants.coulomb_cutoff, constants.vdw_cutoff) + 1e-3 +
                       2 * largest_radius(topology, topology_reals, topology_integers, shared);
  PairEnergy sum = {0, 0};
  for (int other = first_molecule + (int)get_local_id(0); other < last_molecule;
       other += PAIR_GROUP) {
    if (outside[other] == 0) continue;
    const double3 other_centre =
        (double3)(lattice[other], lattice[stride + other], lattice[2 * stride + other]);
    const double3 offset = minimum_image(other_centre - centre, constants);
    if (offset.x * offset.x + offset.y * offset.y + offset.z * offset.z > reach * reach) continue;
    const int near = is_near(offset);
    PairEnergy energy = {0, 0};
    const int other_type = topology_integers[other];
    for (int j = 0; j < site_count(topology, topology_integers, other_type); ++j) {
      const double charge = site_charge(topology, topology_reals, other_type, j);
      const site_place b = stored_place(lattice_sites + 3 * j * stride + other, stride, offset);
      const int site_type_j = site_type(topology, topology_integers, other_type, j);
      for (int i = 0; i < count; ++i) {
        const EntrySite a = sites[i];
        const int site_type_i = site_type(topology, topology_integers, type, i);
        __global const double *coefficients =
            topology_reals + topology_pair(topology, site_type_i, site_type_j);
        if (near) {
          add_site_pair_wide(constants, displacement_between(a.where, b, constants),
                             a.charge * charge, coefficients, &energy);
        } else {
          add_site_pair(reals, place_distance_squared(reals, a.where, b),
                        (real)(a.charge * charge), coefficients, &energy);
        }
      }
    }
    sum.coulomb += limited_pair_energy(energy.coulomb);
    sum.vdw += limited_pair_energy(energy.vdw);
  }
  const double coulomb = group_sum(sum.coulomb, shared);
  const double vdw = group_sum(sum.vdw, shared);
  if (get_local_id(0) == 0) {
    energies[entry] = coulomb;
    energies[entry_capacity(window.layout) + entry] = vdw;
  }
}

/* An item per pair of entries i >= j; both halves of the symmetric table are written. */
__kernel void mm_pair_table(WindowShape window, PairConstants constants, BUFFER(topology_reals),
                            BUFFER(topology_integers), BUFFER(plan), BUFFER(entries),
                            BUFFER(table)) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(int, plan);
  CONSTANT_ARRAY(double, entries);
  ARRAY(real, table);
  const TopologyShape topology = window.topology;
  const int count = window.candidates + window.starts;
  if ((int)get_global_id(1) >= count || get_global_id(0) > get_global_id(1)) return;
  const int entry_i = entry_at(window, (int)get_global_id(1));
  const int entry_j = entry_at(window, (int)get_global_id(0));
  const int molecule_i = molecule_of_entry(window, plan, entry_i);
  const int molecule_j = molecule_of_entry(window, plan, entry_j);
  const PairReals reals = pair_reals(constants);
  PairEnergy energy = {0, 0};
  if (molecule_i != molecule_j) {
    const int type_i = topology_integers[molecule_i];
    const int type_j = topology_integers[molecule_j];
    const double3 centre = entry_centre(window, entries, entry_i);
    const double3 offset =
        minimum_image(entry_centre(window, entries, entry_j) - centre, constants);
    const int near = is_near(offset);
    for (int i = 0; i < site_count(topology, topology_integers, type_i); ++i) {
      const site_place a =
          own_place(centre, entry_displacement(window, entries, entry_i, i), constants);
      const double charge_i =
          STARPMC_COULOMB_CONSTANT * site_charge(topology, topology_reals, type_i, i);
      for (int j = 0; j < site_count(topology, topology_integers, type_j); ++j) {
        const site_place b = other_place(
            centre, offset, entry_displacement(window, entries, entry_j, j), constants);
        const double charges = charge_i * site_charge(topology, topology_reals, type_j, j);
        __global const double *coefficients =
            topology_reals + topology_pair(topology,
                                           site_type(topology, topology_integers, type_i, i),
                                           site_type(topology, topology_integers, type_j, j));
        if (near) {
          add_site_pair_wide(constants, displacement_between(a, b, constants), charges,
                             coefficients, &energy);
        } else {
          add_site_pair(reals, place_distance_squared(reals, a, b), (real)charges, coefficients,
                        &energy);
        }
      }
    }
  }
  const int rows = entry_capacity(window.layout);
  table[entry_i * rows + entry_j] = (real)limited_pair_energy(energy.coulomb);
  table[entry_j * rows + entry_i] = (real)limited_pair_energy(energy.coulomb);
  table[(rows + entry_i) * rows + entry_j] = (real)limited_pair_energy(energy.vdw);
  table[(rows + entry_j) * rows + entry_i] = (real)limited_pair_energy(energy.vdw);
}
