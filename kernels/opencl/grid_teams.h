/* The grid term on a GPU: sites in registers, a block of points in local memory. */
#ifndef STARPMC_OPENCL_GRID_TEAMS_H
#define STARPMC_OPENCL_GRID_TEAMS_H

#include "opencl/lanes.h"
#include "opencl/sites_in_reach.h"

/* Items that go through a block side by side: what a GPU runs in step. */
#define TEAM 32
#define TEAMS (GRID_GROUP / TEAM)

#define UNROLL(times) UNROLL_TEXT(unroll times)
#define UNROLL_TEXT(text) _Pragma(#text)

#if STARPMC_USER_COULOMB && !STARPMC_USER_GRID
/* Energies of an item's SITES entries with a block in local memory. */
#define ADD_TILE(SITES, NEAREST, WITHIN)                                                     \
  for (int j = 0; j < STARPMC_BLOCK_POINTS; ++j) {                                           \
    const tile_point point = tile[j];                                                        \
    _Pragma("unroll") for (int k = 0; k < SITES; ++k) {                                      \
      energies[k] += reals.unit * user_grid_energy(position[k], point.xyz,                   \
                                                   (double)CHARGE_OF(point.w), constants);   \
    }                                                                                        \
  }
#else
/* Energies of an item's SITES entries, which stay in registers, with a block in local memory. */
#define ADD_TILE(SITES, NEAREST, WITHIN)                                                     \
  for (int first = 0; first < STARPMC_BLOCK_POINTS; first += POINTS_PER_SUM) {               \
    real sums[SITES];                                                                        \
    _Pragma("unroll") for (int k = 0; k < SITES; ++k) sums[k] = 0;                           \
    UNROLL(POINTS_UNROLLED) for (int j = first; j < first + POINTS_PER_SUM; ++j) {               \
      const tile_point point = tile[j];                                                      \
      const real charge = CHARGE_OF(point.w);                                                \
      _Pragma("unroll") for (int k = 0; k < SITES; ++k) {                                    \
        SEPARATION(real, position[k].x - point.x, position[k].y - point.y,                   \
                   position[k].z - point.z)                                                  \
        const real r2 = NEAREST(fma(dx, dx, fma(dy, dy, dz * dz)));                          \
        const real sum = fma(charge, lanes_energy(r2, reals), sums[k]);                      \
        sums[k] = WITHIN(r2) ? sum : sums[k];                                                \
      }                                                                                      \
    }                                                                                        \
    _Pragma("unroll") for (int k = 0; k < SITES; ++k) energies[k] += (double)sums[k];        \
  }
#endif
#define AS_IT_IS(r2) (r2)
#define NOT_TOO_NEAR(r2) fmax(r2, reals.least_squared)
#define ALWAYS(r2) 1
#define INSIDE_CUTOFF(r2) ((r2) < reals.cutoff_squared)

/* A pass of a team over a block: SITES entries per item, `first` and on, of `count`. */
#define DEFINE_PASS(NAME, SITES)                                                                \
  static inline void NAME(GridReals reals, PairConstants constants, int first, int count,       \
                          int inside, __local const uint *list, __local double *list_energies,  \
                          __local const tile_point *tile, __global const double *sites,         \
                          int capacity, __global const double *header) {                        \
    const int lane = (int)get_local_id(0) % TEAM;                                               \
    place position[SITES];                                                                      \
    double energies[SITES];                                                                     \
    _Pragma("unroll") for (int k = 0; k < SITES; ++k) {                                         \
      const uint entry = UNMARKED(list[min(first + k * TEAM + lane, count - 1)]);               \
      position[k] = entry_place(entry, sites, capacity, header, constants);                     \
      energies[k] = 0;                                                                          \
    }                                                                                           \
    if (first + SITES * TEAM <= inside) {                                                       \
      ADD_TILE(SITES, AS_IT_IS, ALWAYS)                                                         \
    } else {                                                                                    \
      ADD_TILE(SITES, NOT_TOO_NEAR, INSIDE_CUTOFF)                                              \
    }                                                                                           \
    _Pragma("unroll") for (int k = 0; k < SITES; ++k) {                                         \
      const int at = first + k * TEAM + lane;                                                   \
      if (at < count) list_energies[at] = energies[k];                                          \
    }                                                                                           \
  }
DEFINE_PASS(pass_of_1, 1)
DEFINE_PASS(pass_of_2, 2)
DEFINE_PASS(pass_of_3, 3)

/* The team's share of a list, in passes of at most three entries per item. */
static inline void team_passes(int slice, int slices, GridReals reals, PairConstants constants,
                               int count, int inside, __local const uint *list,
                               __local double *list_energies, __local const tile_point *tile,
                               __global const double *sites, int capacity,
                               __global const double *header) {
  const int rows = (count + TEAM - 1) / TEAM;
  const int team = slice * TEAMS + (int)get_local_id(0) / TEAM;
  const int last = (team + 1) * rows / (slices * TEAMS);
  int row = team * rows / (slices * TEAMS);
  while (row < last) {
    const int passes = (last - row + 2) / 3;
    const int sites_per_item = (last - row + passes - 1) / passes;
#define PASS(NAME) \
  NAME(reals, constants, row * TEAM, count, inside, list, list_energies, tile, sites, capacity, \
       header)
    if (sites_per_item == 3) {
      PASS(pass_of_3);
    } else if (sites_per_item == 2) {
      PASS(pass_of_2);
    } else {
      PASS(pass_of_1);
    }
#undef PASS
    row += sites_per_item;
  }
}

/* Entries near a block that a group takes at a time, and a bit for each point in whose extent one
   lies. */
#define HIT_WORDS (STARPMC_BLOCK_POINTS / 32)
#define CLOSE_AT_A_TIME (GRID_GROUP / HIT_WORDS)

typedef struct {
  __local int *count;
  __local ushort *close;         /* LIST_CAPACITY: the places of marked entries in the list */
  __local place *places;         /* CLOSE_AT_A_TIME */
  __local real *inverse_squares; /* of the points' extents, 1/A^2 */
  __local uint *hits;            /* one per item */
  __local double *sums;          /* one per item */
} ExtentMemory;

/* Sets the bits of the points in whose extents the entries lie; in `real`, and a little generous:
   just inside an extent there is next to nothing to add. */
static inline void find_hits(int count, GridReals reals, __local const tile_point *tile,
                             ExtentMemory memory) {
  for (int j = (int)get_local_id(0); j < STARPMC_BLOCK_POINTS; j += GRID_GROUP) {
    const real inverse_square = memory.inverse_squares[j] * (real)(reals.unit * reals.unit);
    if (!(inverse_square > 0)) continue;
    const tile_point point = tile[j];
    for (int k = 0; k < count; ++k) {
      const place entry = memory.places[k];
      SEPARATION(real, entry.x - point.x, entry.y - point.y, entry.z - point.z)
      if (fma(dx, dx, fma(dy, dy, dz * dz)) * inverse_square < (real)1.00001) {
        atomic_or(&memory.hits[k * HIT_WORDS + j / 32], 1u << (j % 32));
      }
    }
  }
}

/* Sum over the points of one word of an entry's bits, in order. */
static inline double energy_of_hits(place entry, uint bits, int first, PairConstants constants,
                                    __local const tile_point *tile, ExtentMemory memory) {
  double sum = 0;
  for (; bits != 0; bits &= bits - 1) {
    const int j = first + 31 - (int)clz(bits & -bits);
    const tile_point point = tile[j];
    sum += extent_energy(entry, point.xyz, (double)CHARGE_OF(point.w),
                         (double)memory.inverse_squares[j], constants);
  }
  return sum;
}

/* Adds what the points' extents make of the energies of the list's marked entries: items take a
   point each to find in which extents they lie, then part of an entry's few points. */
static inline void add_extents(int begin, int end, __local const uint *list,
                               __local double *list_energies, GridReals reals,
                               PairConstants constants, __global const double *sites, int capacity,
                               __global const double *header, __global const coordinate *points,
                               __local const tile_point *tile, ExtentMemory memory) {
  const int item = (int)get_local_id(0);
  if (item == 0) *memory.count = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int at = begin + item; at < end; at += GRID_GROUP) {
    if (list[at] & CLOSE_MARK) memory.close[atomic_inc(memory.count)] = (ushort)at;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int close = *memory.count;
  if (close == 0) return;
  for (int j = item; j < STARPMC_BLOCK_POINTS; j += GRID_GROUP) {
    const coordinate_value stored = (coordinate_value)points[4 * STARPMC_BLOCK_POINTS + j];
    memory.inverse_squares[j] = CHARGE_OF(stored);
  }
  for (int first = 0; first < close; first += CLOSE_AT_A_TIME) {
    const int count = min(close - first, CLOSE_AT_A_TIME);
    if (item < count) {
      const uint entry = UNMARKED(list[memory.close[first + item]]);
      memory.places[item] = entry_place(entry, sites, capacity, header, constants);
    }
    memory.hits[item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    find_hits(count, reals, tile, memory);
    barrier(CLK_LOCAL_MEM_FENCE);
    memory.sums[item] = energy_of_hits(memory.places[item / HIT_WORDS], memory.hits[item],
                                       item % HIT_WORDS * 32, constants, tile, memory);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < count) {
      double sum = 0;
      for (int i = 0; i < HIT_WORDS; ++i) sum += memory.sums[item * HIT_WORDS + i];
      list_energies[memory.close[first + item]] += STARPMC_COULOMB_POLE * reals.unit * sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

/* Adds a list's energies to those of its sites. A site's entries are neighbours in the list. */
static inline void add_to_sites(int begin, int end, __local const uint *list,
                                __local const double *list_energies, __global double *partials) {
  for (int at = begin + (int)get_local_id(0); at < end; at += GRID_GROUP) {
    const int site = SITE_OF(UNMARKED(list[at]));
    if (at > begin && SITE_OF(UNMARKED(list[at - 1])) == site) continue;
    double sum = list_energies[at];
    for (int next = at + 1; next < end && SITE_OF(UNMARKED(list[next])) == site; ++next) {
      sum += list_energies[next];
    }
    partials[site] += sum;
  }
}

/* A work-group's part of the grid term. */
typedef struct {
  int chunk; /* of blocks */
  int slice; /* of each block's list */
  int slices;
  int blocks;
  int blocks_per_chunk;
} GridShare;

typedef struct {
  __local tile_point *tile;       /* a block */
  __local uint *list;             /* LIST_CAPACITY */
  __local double *list_energies;  /* LIST_CAPACITY */
  __local uint *shared;           /* two per item */
  __local int *any_close;         /* whether a site may lie within a point's extent */
  ExtentMemory extents;
} GridMemory;

/* In a kernel. */
#define GRID_MEMORY(name)                                                                      \
  __local tile_point name##_tile[STARPMC_BLOCK_POINTS];                                        \
  __local uint name##_list[LIST_CAPACITY];                                                     \
  __local double name##_energies[LIST_CAPACITY];                                               \
  __local uint name##_shared[2 * GRID_GROUP];                                                  \
  __local int name##_any_close;                                                                \
  __local int name##_count;                                                                    \
  __local ushort name##_close[LIST_CAPACITY];                                                  \
  __local place name##_places[CLOSE_AT_A_TIME];                                                \
  __local real name##_inverse_squares[STARPMC_BLOCK_POINTS];                                   \
  __local uint name##_hits[GRID_GROUP];                                                        \
  __local double name##_sums[GRID_GROUP];                                                      \
  const GridMemory name = {                                                                    \
      name##_tile, name##_list, name##_energies, name##_shared, &name##_any_close,             \
      {&name##_count, name##_close, name##_places, name##_inverse_squares, name##_hits,        \
       name##_sums}};

/* For each block the group lists the sites in reach, so that hardly a pair beyond the cutoff is
   computed, and its teams share the list. partials: `capacity` values per group */
static inline void grid_pairs_of_group(PairConstants constants, GridShare share, int capacity,
                                       __global const double *sites,
                                       __global const double *block_headers,
                                       __global const coordinate *points,
                                       __global double *partials, GridMemory memory) {
  __global const real *rounded = rounded_sites(sites, capacity);
  const int item = (int)get_local_id(0);
  const int slice = share.slice;
  const int slices = share.slices;
  __global double *own_partials = partials + (share.chunk * slices + slice) * (ulong)capacity;
  const PairReals box = pair_reals(constants);
  const GridReals reals = grid_reals(constants);
  for (int site = item; site < capacity; site += GRID_GROUP) own_partials[site] = 0;
  const int last_block = min(share.blocks, (share.chunk + 1) * share.blocks_per_chunk);
  for (int block = share.chunk * share.blocks_per_chunk; block < last_block; ++block) {
    __global const double *header = block_headers + block * BLOCK_FIELDS;
    const BlockView view = block_view(header, constants);
    __global const coordinate *own_points = points + (ulong)block * STARPMC_BLOCK_VALUES;
    load_tile(own_points, memory.tile, GRID_GROUP);
    for (int batch = 0; batch < capacity; batch += SITES_PER_CHOICE * GRID_GROUP) {
      const int first = batch + item;
      if (item == 0) *memory.any_close = 0;
      const Choice choice = choose_sites(rounded, capacity, first, view, box);
      const uint inside = popcount(choice.inside);
      const uint cut = cut_entries(choice, rounded, capacity, first, view, box);
      uint total;
      const uint before = sum_before(inside | cut << 16, memory.shared, &total);
      if (choice.close) *memory.any_close = 1;
      const int all_inside = total & 0xFFFF;
      const int count = all_inside + (total >> 16);
      for (int begin = 0; begin < count; begin += LIST_CAPACITY) {
        const int listed = min(count - begin, LIST_CAPACITY);
        write_entries(choice, before & 0xFFFF, all_inside + (before >> 16), begin, memory.list,
                      rounded, capacity, first, view, box);
        barrier(CLK_LOCAL_MEM_FENCE);
        team_passes(slice, slices, reals, constants, listed, all_inside - begin, memory.list,
                    memory.list_energies, memory.tile, sites, capacity, header);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        const int rows = (listed + TEAM - 1) / TEAM;
        const int from = slice * rows / slices * TEAM;
        const int to = min(listed, (slice + 1) * rows / slices * TEAM);
        if (header[BLOCK_EXTENT] > 0 && *memory.any_close) {
          add_extents(max(from, all_inside - begin), to, memory.list, memory.list_energies, reals,
                      constants, sites, capacity, header, own_points, memory.tile,
                      memory.extents);
        }
        add_to_sites(from, to, memory.list, memory.list_energies, own_partials);
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
}

#endif
