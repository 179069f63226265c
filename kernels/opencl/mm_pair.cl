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

/* A work-group per entry, its items share the molecules.
   sites: local memory for the entry's sites */
__kernel GROUP_OF(PAIR_GROUP) void mm_pair(
    WindowShape window, PairConstants constants, int first_molecule, int last_molecule,
    BUFFER(topology_reals), BUFFER(topology_integers), BUFFER(plan), BUFFER(entries),
    BUFFER(lattice), BUFFER(lattice_sites), BUFFER(outside), BUFFER(energies),
    __local double4 *sites) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(int, plan);
  CONSTANT_ARRAY(double, entries);
  CONSTANT_ARRAY(double, lattice);
  CONSTANT_ARRAY(real, lattice_sites);
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
    const double charge = site_charge(topology, topology_reals, type, site);
    sites[site] = (double4)(entry_displacement(window, entries, entry, site),
                            STARPMC_COULOMB_CONSTANT * charge);
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
    const real3 other_offset = to_real3(offset);
    const int near = is_near(offset);
    PairEnergy energy = {0, 0};
    const int other_type = topology_integers[other];
    for (int j = 0; j < site_count(topology, topology_integers, other_type); ++j) {
      const double charge = site_charge(topology, topology_reals, other_type, j);
      __global const real *displacement = lattice_sites + 3 * j * stride + other;
      const real3 site = (real3)(displacement[0], displacement[stride], displacement[2 * stride]);
      const int site_type_j = site_type(topology, topology_integers, other_type, j);
      for (int i = 0; i < count; ++i) {
        const double4 a = sites[i];
        const int site_type_i = site_type(topology, topology_integers, type, i);
        __global const double *coefficients =
            topology_reals + topology_pair(topology, site_type_i, site_type_j);
        if (near) {
          const double3 b = offset + convert_double3(site);
          add_site_pair_wide(constants, a.xyz - b, a.w * charge, coefficients, &energy);
        } else {
          add_site_pair(reals,
                        periodic_distance_squared(reals, to_real3(a.xyz), other_offset + site),
                        (real)(a.w * charge), coefficients, &energy);
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
    const double3 offset = minimum_image(
        entry_centre(window, entries, entry_j) - entry_centre(window, entries, entry_i),
        constants);
    const int near = is_near(offset);
    for (int i = 0; i < site_count(topology, topology_integers, type_i); ++i) {
      const double3 a = entry_displacement(window, entries, entry_i, i);
      const double charge_i =
          STARPMC_COULOMB_CONSTANT * site_charge(topology, topology_reals, type_i, i);
      for (int j = 0; j < site_count(topology, topology_integers, type_j); ++j) {
        const double3 b = entry_displacement(window, entries, entry_j, j);
        const double charges = charge_i * site_charge(topology, topology_reals, type_j, j);
        __global const double *coefficients =
            topology_reals + topology_pair(topology,
                                           site_type(topology, topology_integers, type_i, i),
                                           site_type(topology, topology_integers, type_j, j));
        if (near) {
          add_site_pair_wide(constants, a - (offset + b), charges, coefficients, &energy);
        } else {
          add_site_pair(reals,
                        periodic_distance_squared(reals, to_real3(a),
                                                  to_real3(offset) + to_real3(b)),
                        (real)charges, coefficients, &energy);
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
