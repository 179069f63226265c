/* The field of a reference at a candidate, by a work-group. Only in files that are compiled without
   freedom for the compiler: this has the same bits as on the host. */
#ifndef STARPMC_OPENCL_REFERENCE_FIELD_H
#define STARPMC_OPENCL_REFERENCE_FIELD_H

#include "opencl/window.h"
#include "opencl/moves.h"
/* Again: what was included since moves.h may have allowed it (pair_functions.h does). */
#pragma OPENCL FP_CONTRACT OFF
#include "common/potential_lattice.h"
#include "opencl/reference_memory.h"

#define SITE_ROWS 16 /* of nodes, a site */

/* The next charged sites of a molecule from `first` on, at most STARPMC_GROUP_SITES, each with its
   place in a lattice. Returns the site after the last one. */
static inline int take_charged_sites(WindowShape window, __private const PotentialLattice *lattice,
                                     int candidate, int type, int first,
                                     __global const double *topology_reals,
                                     __global const int *topology_integers,
                                     __global const double *entries,
                                     __local ReferenceMemory *memory) {
  const int sites = site_count(window.topology, topology_integers, type);
  const int item = (int)get_local_id(0);
  int taken = 0;
  int site = first;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (; site < sites && taken < STARPMC_GROUP_SITES; ++site) {
    const double charge = site_charge(window.topology, topology_reals, type, site);
    if (charge == 0) continue;
    if (taken % (int)get_local_size(0) == item) {
      const double3 position = entry_centre(window, entries, candidate) +
                               entry_displacement(window, entries, candidate, site);
      const LatticePlace place = lattice_place(lattice, position.x, position.y, position.z);
      __local SiteSpline *spline = &memory->sites[taken];
      spline->charge = charge;
      spline->level = place.level;
      spline->site = site;
      for (int k = 0; k < 3; ++k) {
        double w[4];
        spline_weights(place.fraction[k], w);
        for (int i = 0; i < 4; ++i) spline->weights[k][i] = w[i];
        spline->node[k] = place.node[k];
      }
    }
    ++taken;
  }
  if (item == 0) memory->taken = taken;
  barrier(CLK_LOCAL_MEM_FENCE);
  return site;
}

/* Sum over a row of the four nodes along z. */
static inline double row_sum(__private const PotentialLattice *lattice, LATTICE_VALUES values,
                             __local const SiteSpline *site, int i, int j) {
  const int y_nodes = lattice->level[site->level].nodes[1];
  const int z_nodes = lattice->level[site->level].nodes[2];
  const int row = (site->node[0] + i) * y_nodes + site->node[1] + j;
  LATTICE_VALUES c =
      values + lattice->level[site->level].first + row * z_nodes + site->node[2];
  __local const double *wz = site->weights[2];
  return ((wz[0] * c[0] + wz[1] * c[1]) + wz[2] * c[2]) + wz[3] * c[3];
}

static inline void reference_energy(WindowShape window, __private const PotentialLattice *lattice,
                                    LATTICE_VALUES values, int candidate, int type,
                                    __global const double *topology_reals,
                                    __global const int *topology_integers,
                                    __global const double *entries, __global double *energies,
                                    __local ReferenceMemory *memory) {
  const int sites = site_count(window.topology, topology_integers, type);
  const int item = (int)get_local_id(0);
  double energy = 0;
  for (int next = 0; next < sites;) {
    next = take_charged_sites(window, lattice, candidate, type, next, topology_reals,
                              topology_integers, entries, memory);
    for (int n = item; n < memory->taken * SITE_ROWS; n += (int)get_local_size(0)) {
      __local const SiteSpline *site = &memory->sites[n / SITE_ROWS];
      memory->rows[n] = row_sum(lattice, values, site, n / 4 % 4, n % 4);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
      for (int s = 0; s < memory->taken; ++s) {
        __local const SiteSpline *site = &memory->sites[s];
        double value = 0;
        for (int i = 0; i < 4; ++i) {
          double of_plane = 0;
          for (int j = 0; j < 4; ++j) {
            of_plane += site->weights[1][j] * memory->rows[s * SITE_ROWS + 4 * i + j];
          }
          value += site->weights[0][i] * of_plane;
        }
        energy += site->charge * value;
      }
    }
  }
  /* rounded to whole units of 2^-34 kJ/mol (kernels/whole_units.hpp) */
  const double shift = 1.5 * 4503599627370496.0 / 17179869184.0;
  if (item == 0) energies[candidate] = (energy + shift) - shift;
}

/* The group of the first sites taken, and its nodes' weights and places. */
static inline void weigh_nodes(__private const PotentialLattice *lattice,
                               __local ReferenceMemory *memory) {
  if (get_local_id(0) == 0) {
    SiteGroup group;
    group.sites = 0;
    for (int s = 0; s < memory->taken; ++s) {
      LatticePlace place;
      place.level = memory->sites[s].level;
      for (int k = 0; k < 3; ++k) place.node[k] = memory->sites[s].node[k];
      if (!joins_group(&group, &place)) break;
    }
    memory->group = group;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int y_nodes = memory->group.nodes[1];
  const int z_nodes = memory->group.nodes[2];
  __private const LatticeLevel *level = &lattice->level[memory->group.level];
  const int nodes = memory->group.nodes[0] * y_nodes * z_nodes;
  for (int n = (int)get_local_id(0); n < nodes; n += (int)get_local_size(0)) {
    const int x = memory->group.node[0] + n / (y_nodes * z_nodes);
    const int y = memory->group.node[1] + n / z_nodes % y_nodes;
    const int z = memory->group.node[2] + n % z_nodes;
    double weight = 0;
    for (int s = 0; s < memory->group.sites; ++s) {
      __local const SiteSpline *site = &memory->sites[s];
      const int i = x - site->node[0];
      const int j = y - site->node[1];
      const int k = z - site->node[2];
      if ((uint)i < 4 && (uint)j < 4 && (uint)k < 4) {
        weight += ((site->charge * site->weights[0][i]) * site->weights[1][j]) *
                  site->weights[2][k];
      }
    }
    memory->node_weights[n] = (float)weight;
    memory->node_places[n] =
        ((x * level->nodes[1] + y) * level->nodes[2] + z) * lattice->components;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

/* Adds the group's nodes to a component's sum, one after the other; loads on their way together. */
static inline float add_nodes(__private const PotentialLattice *lattice,
                              RESPONSE_COEFFICIENTS values,
                              __local const ReferenceMemory *memory, int component, float sum) {
  __private const SiteGroup group = memory->group;
  const int nodes = group.nodes[0] * group.nodes[1] * group.nodes[2];
  RESPONSE_COEFFICIENTS own = values + lattice->level[group.level].first + component;
  _Pragma("unroll 16") for (int n = 0; n < nodes; ++n) {
    sum += memory->node_weights[n] * response_coefficient(own + memory->node_places[n]);
  }
  return sum;
}

static inline void reference_responses(WindowShape window,
                                       __private const PotentialLattice *lattice,
                                       RESPONSE_COEFFICIENTS values, int candidate, int type,
                                       __global const double *topology_reals,
                                       __global const int *topology_integers,
                                       __global const double *entries, __global int *responses,
                                       __local ReferenceMemory *memory) {
  const int sites = site_count(window.topology, topology_integers, type);
  const int item = (int)get_local_id(0);
  __global int *own = responses + candidate * lattice->components;
  /* Between groups of sites the sums wait in the buffer. */
  int groups = 0;
  for (int next = 0; next < sites;) {
    const int behind = take_charged_sites(window, lattice, candidate, type, next, topology_reals,
                                          topology_integers, entries, memory);
    if (memory->taken == 0) break;
    weigh_nodes(lattice, memory);
    const int taken = memory->group.sites;
    next = taken == memory->taken ? behind : memory->sites[taken].site;
    for (int c = item; c < lattice->components; c += (int)get_local_size(0)) {
      const float before = groups == 0 ? 0.0f : as_float(own[c]);
      own[c] = as_int(add_nodes(lattice, values, memory, c, before));
    }
    ++groups;
  }
  for (int c = item; c < lattice->components; c += (int)get_local_size(0)) {
    own[c] = groups == 0 ? 0 : response_units(as_float(own[c]));
  }
}

/* A whole work-group; response.components 0: no responses. */
static inline void reference_field_of_candidate(
    WindowShape window, __private const PotentialLattice *potential,
    __private const PotentialLattice *response, int candidate,
    __global const double *topology_reals, __global const int *topology_integers,
    __global const int *plan, __global const double *entries, LATTICE_VALUES potential_values,
    RESPONSE_COEFFICIENTS response_values, __global double *energies, __global int *responses,
    __local ReferenceMemory *memory) {
  const int type = topology_integers[molecule_of_candidate(window, plan, candidate)];
  reference_energy(window, potential, potential_values, candidate, type, topology_reals,
                   topology_integers, entries, energies, memory);
  if (response->components > 0) {
    reference_responses(window, response, response_values, candidate, type, topology_reals,
                        topology_integers, entries, responses, memory);
  }
}

#endif
