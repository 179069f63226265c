/* MM pairs on a GPU: the items of a work-group share the molecules that an entry meets. */
#ifndef STARPMC_OPENCL_MM_TEAMS_H
#define STARPMC_OPENCL_MM_TEAMS_H

#include "opencl/molecule_pair.h"
#include "opencl/neighbour_list.h"
#include "opencl/reduction.h"
#include "opencl/user_pairs.h"

#if !STARPMC_CPU_DEVICE

static inline stored_place place_of_lattice_site(__global const coordinate *lattice_sites,
                                                 int stride, int molecule, int site) {
  __global const coordinate *place = lattice_sites + 3 * site * stride + molecule;
  return (stored_place)(place[0], place[stride], place[2 * stride]);
}

/* The second molecule of a pair of molecules. */
typedef struct {
  double3 offset; /* of its centre from the first's */
  int images;     /* pairs of sites may have other nearest images than the centres */
  int type;
  int sites;
  __global const coordinate *lattice_sites; /* null: an entry */
  int index;                                /* molecule or entry */
} OtherMolecule;

static inline stored_place place_of_other(WindowShape window, PairConstants constants,
                                          __global const double *entries, OtherMolecule other,
                                          int site) {
  if (other.lattice_sites != 0) {
    return place_of_lattice_site(other.lattice_sites, window.layout.molecules, other.index, site);
  }
  return AS_STORED_PLACE(place_of_entry_site(window, entries, other.index, site, constants));
}

/* Adds the pairs of `count` target sites, a constant, with another molecule: they overlap. */
static inline void add_targets(const TargetSite *targets, int count, WindowShape window,
                               PairConstants constants, PairReals reals,
                               __global const double *topology_reals,
                               __global const int *topology_integers,
                               __global const double *entries, OtherMolecule other,
                               QuickPairEnergy *sum) {
  const TopologyShape topology = window.topology;
  for (int j = 0; j < other.sites; ++j) {
    stored_place place = place_of_other(window, constants, entries, other, j);
#if !STARPMC_FIXED
    place += to_real3(other.offset);
#endif
    const real charge = (real)site_charge(topology, topology_reals, other.type, j);
#if USER_MM_IN_LANES
    const real cutoff_squared = charge == 0 ? (real)0 : reals.cutoff_squared;
#endif
    const int type = site_type(topology, topology_integers, other.type, j);
    _Pragma("unroll") for (int i = 0; i < count; ++i) {
      const real r2 = pair_distance_squared(targets[i].place, place, other.images, reals);
      const int has_vdw = (int)(targets[i].vdw_types >> type % 32 & 1);
      __global const double *pair =
          topology_reals + topology_pair(topology, targets[i].type, type);
#if USER_MM_IN_LANES
      add_user_site_pair(reals, cutoff_squared, topology.pairs, r2, targets[i].charge * charge,
                         has_vdw, pair, sum);
#else
      add_site_pair(reals, r2, targets[i].charge * charge, has_vdw, pair, sum);
#endif
    }
  }
}

/* Energy of a molecule with another one, not near, in the precision of the pair terms.
   TARGET(i): the first molecule's sites */
#define TARGETS_AT_A_TIME 4
#define FAR_ENERGY(TARGET, COUNT, OTHER, ENERGY)                                                  \
  {                                                                                               \
    QuickPairEnergy sum = {0, 0};                                                                 \
    for (int first = 0; first < COUNT; first += TARGETS_AT_A_TIME) {                              \
      const int left = min(COUNT - first, TARGETS_AT_A_TIME);                                     \
      TargetSite targets[TARGETS_AT_A_TIME];                                                      \
      _Pragma("unroll") for (int i = 0; i < TARGETS_AT_A_TIME; ++i) {                             \
        targets[i] = TARGET(first + min(i, left - 1));                                            \
      }                                                                                           \
      ADD_TARGETS(OTHER)                                                                          \
    }                                                                                             \
    ENERGY = (PairEnergy){LIMITED((double)sum.coulomb), LIMITED((double)sum.vdw)};                \
  }
#define ADD_TARGETS(OTHER)                                                                        \
  switch (left) {                                                                                 \
    case 1: ADD_SOME(1, OTHER) break;                                                             \
    case 2: ADD_SOME(2, OTHER) break;                                                             \
    case 3: ADD_SOME(3, OTHER) break;                                                             \
    default: ADD_SOME(TARGETS_AT_A_TIME, OTHER)                                                   \
  }
#define ADD_SOME(NUMBER, OTHER)                                                                   \
  add_targets(targets, NUMBER, window, constants, reals, topology_reals, topology_integers,       \
              entries, OTHER, &sum);

/* The same of near molecules, in fp64 where pair terms are fp32. */
#define NEAR_ENERGY(TARGET, COUNT, OTHER, ENERGY)                                                 \
  {                                                                                               \
    PairEnergy sum = {0, 0};                                                                      \
    for (int j = 0; j < OTHER.sites; ++j) {                                                       \
      const stored_place place = place_of_other(window, constants, entries, OTHER, j);            \
      const double charge = site_charge(window.topology, topology_reals, OTHER.type, j);          \
      const int type_j = site_type(window.topology, topology_integers, OTHER.type, j);            \
      for (int i = 0; i < COUNT; ++i) {                                                           \
        const TargetSite target = TARGET(i);                                                      \
        ADD_WIDE_PAIR(                                                                            \
            wide_pair_distance_squared(target.wide_place, place, OTHER.offset, constants),        \
            target.wide_charge * charge,                                                          \
            topology_reals + topology_pair(window.topology, target.type, type_j))                 \
      }                                                                                           \
    }                                                                                             \
    ENERGY = (PairEnergy){LIMITED(sum.coulomb), LIMITED(sum.vdw)};                                \
  }
#if USER_MM
#define ADD_WIDE_PAIR(r2, charge, pair) \
  add_user_mm_pair(constants, window.topology.pairs, r2, charge, pair, &sum);
#define LIMITED(energy) limited_user_energy(energy)
#else
#define ADD_WIDE_PAIR(r2, charge, pair) add_site_pair_wide(constants, r2, charge, pair, &sum);
#define LIMITED(energy) limited_pair_energy(energy)
#endif

/* Of molecules that are not near: in fp64, too, where functions of the user's need it. */
#if USER_MM && !USER_MM_IN_LANES
#define DISTANT_ENERGY NEAR_ENERGY
#else
#define DISTANT_ENERGY FAR_ENERGY
#endif

/* Energy of two entries of different molecules. */
static inline PairEnergy entry_pair_energy(WindowShape window, PairConstants constants,
                                           __global const double *topology_reals,
                                           __global const int *topology_integers,
                                           __global const double *entries, int entry_i, int type_i,
                                           int entry_j, int type_j) {
  const PairReals reals = pair_reals(constants);
  const double reach = molecule_reach(window.topology, constants);
  const double3 offset = minimum_image(
      entry_centre(window, entries, entry_j) - entry_centre(window, entries, entry_i), constants);
  const double squared = offset.x * offset.x + offset.y * offset.y + offset.z * offset.z;
  PairEnergy energy = {0, 0};
  if (squared >= reach * reach) return energy;
  const int count = site_count(window.topology, topology_integers, type_i);
  const OtherMolecule other = {offset,
                               reach > constants.half_shortest_edge,
                               type_j,
                               site_count(window.topology, topology_integers, type_j),
                               0,
                               entry_j};
#define ENTRY_SITE(site)                                                                     \
  target_site(window, topology_reals, topology_integers, entries, entry_i, type_i, site,     \
              constants)
  if (STARPMC_SINGLE && squared < STARPMC_NEAR_DISTANCE * STARPMC_NEAR_DISTANCE) {
    NEAR_ENERGY(ENTRY_SITE, count, other, energy)
  } else {
    DISTANT_ENERGY(ENTRY_SITE, count, other, energy)
  }
#undef ENTRY_SITE
  return energy;
}

/* Local memory of a group that evaluates an entry. */
typedef struct {
  __local TargetSite *sites; /* of the entry */
  __local double *shared;    /* per item */
  __local uint *counts;      /* per item */
  __local ushort *list;      /* LISTED_AT_A_TIME */
} EntryMemory;

/* The sites of an entry, in local memory. */
static inline void load_targets(WindowShape window, PairConstants constants, int entry, int type,
                                int count, __global const double *topology_reals,
                                __global const int *topology_integers,
                                __global const double *entries, __local TargetSite *targets) {
  const TopologyShape topology = window.topology;
  const int item = (int)get_local_id(0);
  for (int site = item; site < count; site += PAIR_GROUP) {
    targets[site] = target_site(window, topology_reals, topology_integers, entries, entry, type,
                                site, constants);
    targets[site].vdw_types = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int pair = item; pair < count * topology.site_types; pair += PAIR_GROUP) {
    const int other = pair / count;
    __local TargetSite *target = targets + pair % count;
    __global const double *coefficients =
        topology_reals + topology_pair(topology, target->type, other);
    int has_vdw = coefficients[0] != 0 || coefficients[1] != 0;
#if STARPMC_USER_MM
    has_vdw = has_vdw || coefficients[topology.pairs.mm_function] != 0;
#endif
    if (has_vdw) atomic_or(&target->vdw_types, 1u << other % 32);
  }
}

static inline OtherMolecule listed_molecule(double3 centre, int images, TopologyShape topology,
                                            __global const int *topology_integers,
                                            PairConstants constants, int stride,
                                            __global const double *lattice,
                                            __global const coordinate *lattice_sites,
                                            int molecule) {
  const double3 other = (double3)(lattice[molecule], lattice[stride + molecule],
                                  lattice[2 * stride + molecule]);
  const int type = topology_integers[molecule];
  return (OtherMolecule){minimum_image(other - centre, constants),
                         images,
                         type,
                         site_count(topology, topology_integers, type),
                         lattice_sites,
                         molecule};
}

static inline void add_energy(PairEnergy energy, PairEnergy *sum) {
  sum->coulomb += energy.coulomb;
  sum->vdw += energy.vdw;
}

/* Energies of an entry with the molecules [first_molecule, last_molecule) outside the window, shared
   by the items of a group. */
static inline void mm_pair_of_entry(
    WindowShape window, PairConstants constants, int entry, int first_molecule, int last_molecule,
    __global const double *topology_reals, __global const int *topology_integers,
    __global const int *plan, __global const double *entries, __global const double *lattice,
    __global const coordinate *lattice_sites, __global const real *outside,
    __global double *energies, EntryMemory memory) {
  const TopologyShape topology = window.topology;
  const int stride = window.layout.molecules;
  const PairReals reals = pair_reals(constants);
  const int type = topology_integers[molecule_of_entry(window, plan, entry)];
  const int count = site_count(topology, topology_integers, type);
  load_targets(window, constants, entry, type, count, topology_reals, topology_integers, entries,
               memory.sites);
  const double reach = molecule_reach(topology, constants);
  const int images = reach > constants.half_shortest_edge;
  const Search search = {entry_centre(window, entries, entry), (real)(reach * reach),
                         (real)(STARPMC_NEAR_DISTANCE * STARPMC_NEAR_DISTANCE)};
  PairEnergy sum = {0, 0};
#define OTHER_LISTED \
  listed_molecule(search.centre, images, topology, topology_integers, constants, stride, lattice, \
                  lattice_sites, first + (int)memory.list[k])
#define OWN_SITE(site) memory.sites[site]
  for (int first = first_molecule; first < last_molecule; first += LISTED_AT_A_TIME) {
    const int last = min(last_molecule, first + LISTED_AT_A_TIME);
    const Listed listed = list_neighbours(search, reals, first, last, stride, lattice, outside,
                                          memory.counts, memory.list);
    int k = (int)get_local_id(0);
    PairEnergy energy;
    for (; k < listed.far; k += PAIR_GROUP) {
      const OtherMolecule other = OTHER_LISTED;
      DISTANT_ENERGY(OWN_SITE, count, other, energy)
      add_energy(energy, &sum);
    }
    for (; k < listed.far + listed.near; k += PAIR_GROUP) {
      const OtherMolecule other = OTHER_LISTED;
      NEAR_ENERGY(OWN_SITE, count, other, energy)
      add_energy(energy, &sum);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#undef OWN_SITE
#undef OTHER_LISTED
  const double coulomb = group_sum(sum.coulomb, memory.shared);
  const double vdw = group_sum(sum.vdw, memory.shared);
  if (get_local_id(0) == 0) {
    const int rows = entry_capacity(window.layout);
    energies[TERM_MM_COULOMB * rows + entry] = coulomb;
    energies[TERM_MM_VDW * rows + entry] = vdw;
  }
}

/* An energy of two entries, in both halves of a term's matrix. */
static inline void put_in_table(__global real *table, int rows, int term, int a, int b,
                                real energy) {
  table[(term * rows + a) * rows + b] = energy;
  table[(term * rows + b) * rows + a] = energy;
}

/* Entries i >= j of the table. */
static inline void mm_pair_of_entries(WindowShape window, PairConstants constants, int i, int j,
                                      __global const double *topology_reals,
                                      __global const int *topology_integers,
                                      __global const int *plan, __global const double *entries,
                                      __global real *table) {
  const int count = window.candidates + window.starts;
  if (i >= count || j > i) return;
  const int entry_i = entry_at(window, i);
  const int entry_j = entry_at(window, j);
  const int molecule_i = molecule_of_entry(window, plan, entry_i);
  const int molecule_j = molecule_of_entry(window, plan, entry_j);
  PairEnergy energy = {0, 0};
  if (molecule_i != molecule_j) {
    energy = entry_pair_energy(window, constants, topology_reals, topology_integers, entries,
                               entry_i, topology_integers[molecule_i], entry_j,
                               topology_integers[molecule_j]);
  }
  const int rows = entry_capacity(window.layout);
  put_in_table(table, rows, TERM_MM_COULOMB, entry_i, entry_j, (real)energy.coulomb);
  put_in_table(table, rows, TERM_MM_VDW, entry_i, entry_j, (real)energy.vdw);
}

#endif

#endif
