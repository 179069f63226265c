/* MM pairs on a CPU: an item is a thread of its own and takes the entries of one molecule, which
   share their neighbours; the lanes of its vector registers run over these. */
#ifndef STARPMC_OPENCL_MM_LANES_H
#define STARPMC_OPENCL_MM_LANES_H

#include "opencl/lanes.h"
#include "opencl/molecule_pair.h"
#include "opencl/user_pairs.h"

#if STARPMC_CPU_DEVICE

/* A start entry and the candidates of STARPMC_MAXIMUM_VISITS visits: 1 + 1 + 2 + 4. */
#define MOST_MEMBERS (1 << STARPMC_MAXIMUM_VISITS)
/* Molecules that are searched at a time. */
#define SEARCHED_AT_A_TIME 1024

/* The entries of one molecule. */
typedef struct {
  WindowShape window;
  PairConstants constants;
  __global const double *topology_reals;
  __global const int *topology_integers;
  int type;
  int sites;
  int members;
  int entries[MOST_MEMBERS];
  double origin[3]; /* the first entry's centre */
  int fixed_origin[3];
  double spread; /* largest distance of another's */
  double reach;
  int images; /* pairs of sites may have other nearest images than the centres */
  __local double4 *targets; /* sites from the origin, and charge times the Coulomb constant */
  double coulomb[MOST_MEMBERS];
  double vdw[MOST_MEMBERS];
} EntryGroup;

/* Molecules to meet, of the lattice or of the window. */
typedef struct {
  __global const double *centres;
  __global const coordinate *lattice_sites; /* null: entry_sites */
  __global const double *entry_sites;       /* displacements from the centres */
  int stride;
} Sources;

/* Where energies go: into the sums of the group, or into the pair table where there is one. */
typedef struct {
  __global real *table; /* null: none */
} Sink;

static inline void take_energies(EntryGroup *group, int member, int other, double coulomb,
                                 double vdw, Sink sink) {
  if (sink.table == 0) {
    group->coulomb[member] += coulomb;
    group->vdw[member] += vdw;
    return;
  }
  const int rows = entry_capacity(group->window.layout);
  const int entry = group->entries[member];
  sink.table[entry * rows + other] = sink.table[other * rows + entry] = (real)coulomb;
  sink.table[(rows + entry) * rows + other] = sink.table[(rows + other) * rows + entry] = (real)vdw;
}

/* Slot of an entry's molecule; in a window without starts, every candidate is of another one. */
static inline int slot_of_entry(WindowShape window, __global const int *plan, int entry) {
  if (entry >= window.layout.candidates) return entry - window.layout.candidates;
  if (window.starts == 0) return entry;
  return plan[plan_step_slot(window.layout) + plan[plan_candidate_step(window.layout) + entry]];
}

/* Finds the entries of a slot. */
static inline void find_members(EntryGroup *group, int slot, __global const int *plan) {
  group->members = 0;
  if (group->window.starts > 0) {
    group->entries[group->members++] = start_entry(group->window.layout, slot);
  }
  for (int candidate = 0; candidate < group->window.candidates; ++candidate) {
    if (slot_of_entry(group->window, plan, candidate) != slot) continue;
    group->entries[group->members++] = candidate;
  }
}

static inline void place_members(EntryGroup *group, __global const double *entries) {
  const double3 origin = entry_centre(group->window, entries, group->entries[0]);
  vstore3(origin, 0, group->origin);
  for (int axis = 0; axis < 3; ++axis) {
    group->fixed_origin[axis] = fixed_coordinate(group->origin[axis], group->constants.box[axis]);
  }
  group->spread = 0;
  for (int m = 0; m < group->members; ++m) {
    const int entry = group->entries[m];
    const double3 offset =
        minimum_image(entry_centre(group->window, entries, entry) - origin, group->constants);
    group->spread = fmax(group->spread, sqrt(dot(offset, offset)));
    for (int site = 0; site < group->sites; ++site) {
      group->targets[m * group->sites + site] = (double4)(
          offset + entry_displacement(group->window, entries, entry, site),
          STARPMC_COULOMB_CONSTANT * site_charge(group->window.topology, group->topology_reals,
                                                 group->type, site));
    }
    group->coulomb[m] = group->vdw[m] = 0;
  }
  group->images = group->reach + group->spread > group->constants.half_shortest_edge;
}

#if STARPMC_SINGLE
#define centre_lanes(from, origin) convert_float16(vload16(0, from) - (origin))
#else
#define centre_lanes(from, origin) (vload8(0, from) - (origin))
#endif

/* Lists the molecules of [first, last) whose centres are within reach, and their squared distances.
   Vectors are loaded from multiples of their length. */
static inline int search_lanes(const EntryGroup *group, const Sources *sources, int first, int last,
                               int *list, real *distances) {
  const PairReals reals = pair_reals(group->constants);
  const real reach = (real)(group->reach + group->spread);
  int count = 0;
  for (int base = first / LANES * LANES; base < last; base += LANES) {
    const lanes x = centre_lanes(sources->centres + base, group->origin[0]);
    const lanes y = centre_lanes(sources->centres + sources->stride + base, group->origin[1]);
    const lanes z = centre_lanes(sources->centres + 2 * sources->stride + base, group->origin[2]);
    const lanes dx = MINIMUM_IMAGE(x, reals.box_x, reals.inverse_x);
    const lanes dy = MINIMUM_IMAGE(y, reals.box_y, reals.inverse_y);
    const lanes dz = MINIMUM_IMAGE(z, reals.box_z, reals.inverse_z);
    const lanes squared = dx * dx + (dy * dy + dz * dz);
    if (!any(squared < (lanes)(reach * reach))) continue;
    real values[LANES];
    store_real_lanes(squared, values);
    for (int lane = 0; lane < LANES; ++lane) {
      list[count] = base + lane;
      distances[count] = values[lane];
      count += values[lane] < reach * reach && base + lane >= first && base + lane < last;
    }
  }
  return count;
}

/* MINIMUM_IMAGE in fp64: a CPU without SSE4 has no instruction to round by. */
#define WIDE_MINIMUM_IMAGE(d, length, inverse) \
  ((d) - (length) * (((d) * (inverse) + 6755399441055744.0) - 6755399441055744.0))

/* Rows are written for the lanes of the pair terms and, below fp64, for the near molecules'. */
#define ROW(name) quick_##name
#define ROW_USER_LANES USER_MM_IN_LANES
#define ROW_LANES LANES
#define row_real real
#define row_lanes lanes
#define row_from(values) load_real_lanes(values)
#define row_store(vector, values) store_real_lanes(vector, values)
#define row_inverse_root(r2) lanes_reciprocal_square_root(r2)
#define row_image(d, length, inverse) MINIMUM_IMAGE(d, length, inverse)
#include "opencl/mm_row.h"

#if STARPMC_SINGLE
/* Near molecules, in fp64: a third-order step from the fp32 root. */
static inline double8 wide_inverse_root(double8 r2) {
  const double8 y = convert_double8((float8)(1) / sqrt(convert_float8(r2)));
  const double8 h = 1.0 - (r2 * y) * y;
  return y + (y * h) * (0.375 * h + 0.5);
}
#define ROW(name) wide_##name
#define ROW_USER_LANES 0
#define ROW_LANES 8
#define row_real double
#define row_lanes double8
#define row_from(values) vload8(0, values)
#define row_store(vector, values) vstore8(vector, 0, values)
#define row_inverse_root(r2) wide_inverse_root(r2)
#define row_image(d, length, inverse) WIDE_MINIMUM_IMAGE(d, length, inverse)
#include "opencl/mm_row.h"
#endif

/* Who may be met. */
typedef struct {
  __global const int *plan;
  __global const real *outside; /* of the lattice's molecules; null: the sources are entries */
  int slot;                     /* of the group: it meets entries of later slots */
} Company;

/* Type of a source, or -1 where the group does not meet it. */
static inline int type_to_meet(const EntryGroup *group, Company company, int id) {
  if (company.outside != 0) return company.outside[id] != 0 ? group->topology_integers[id] : -1;
  if (slot_of_entry(group->window, company.plan, id) <= company.slot) return -1;
  return group->topology_integers[molecule_of_entry(group->window, company.plan, id)];
}

/* Meets the sources [first, last), at most SEARCHED_AT_A_TIME. */
static inline void meet_some(EntryGroup *group, const Sources *sources, Company company, int first,
                             int last, Sink sink) {
  int list[SEARCHED_AT_A_TIME + LANES];
  int far[SEARCHED_AT_A_TIME + LANES];
  int near[SEARCHED_AT_A_TIME + LANES];
  real distances[SEARCHED_AT_A_TIME + LANES];
  const int count = search_lanes(group, sources, first, last, list, distances);
  const int user_wide = USER_MM && !USER_MM_IN_LANES;
  const real nearest = (real)(STARPMC_NEAR_DISTANCE + group->spread);
  for (int type = 0; type < group->window.topology.molecule_types; ++type) {
    int far_count = 0;
    int near_count = 0;
    for (int k = 0; k < count; ++k) {
      const int met = type_to_meet(group, company, list[k]) == type;
      const int is_near = STARPMC_SINGLE && (user_wide || distances[k] < nearest * nearest);
      far[far_count] = near[near_count] = list[k];
      far_count += met & !is_near;
      near_count += met & is_near;
    }
    quick_meet(group, sources, far, far_count, type, sink);
#if STARPMC_SINGLE
    wide_meet(group, sources, near, near_count, type, sink);
#endif
  }
}

static inline void meet(EntryGroup *group, Sources sources, Company company, int first, int last,
                        Sink sink) {
  for (int begin = first; begin < last; begin += SEARCHED_AT_A_TIME) {
    meet_some(group, &sources, company, begin, min(last, begin + SEARCHED_AT_A_TIME), sink);
  }
}

/* The group of a work-item, but for its targets' places. */
static inline void set_group(EntryGroup *group, WindowShape window, PairConstants constants,
                             __global const double *topology_reals,
                             __global const int *topology_integers, __global const int *plan,
                             __global const double *entries, __local double4 *targets) {
  group->window = window;
  group->constants = constants;
  group->topology_reals = topology_reals;
  group->topology_integers = topology_integers;
  group->targets = targets;
  find_members(group, (int)get_global_id(0), plan);
  group->type = topology_integers[molecule_of_entry(window, plan, group->entries[0])];
  group->sites = site_count(window.topology, topology_integers, group->type);
  group->reach = molecule_reach(window.topology, constants);
  place_members(group, entries);
}

#endif

#endif
