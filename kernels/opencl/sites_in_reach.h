/* The list of a block's entries, made by a work-group together. */
#ifndef STARPMC_OPENCL_SITES_IN_REACH_H
#define STARPMC_OPENCL_SITES_IN_REACH_H

#include "opencl/compact_block.h"

/* Which of an item's sites are in reach, one bit per site. */
typedef struct {
  uint inside; /* of all points */
  uint cut;    /* of some */
  uint close;  /* among the latter: maybe within a point's extent, or the minimum distance */
} Choice;

/* Sites one item chooses from at a time. */
#define SITES_PER_CHOICE 32

static inline real3 nearest_image(__global const real *rounded, int capacity, int site,
                                  BlockView block, PairReals box) {
  const real x = rounded[site] - block.x;
  const real y = rounded[capacity + site] - block.y;
  const real z = rounded[2 * capacity + site] - block.z;
  return (real3)(MINIMUM_IMAGE(x, box.box_x, box.inverse_x),
                 MINIMUM_IMAGE(y, box.box_y, box.inverse_y),
                 MINIMUM_IMAGE(z, box.box_z, box.inverse_z));
}

/* The item's sites are first, first + GRID_GROUP, ... */
static inline Choice choose_sites(__global const real *rounded, int capacity, int first,
                                  BlockView block, PairReals box) {
  Choice choice = {0, 0, 0};
  for (int k = 0; k < SITES_PER_CHOICE; ++k) {
    const int site = first + k * GRID_GROUP;
    if (site >= capacity) break;
    const real squared =
        image_distance_squared(nearest_image(rounded, capacity, site, block, box), 0, box);
    const uint bit = 1u << k;
    if (squared < block.inside && !(squared < block.close)) {
      choice.inside |= bit;
    } else if (squared < block.reach) {
      choice.cut |= bit;
      if (squared < block.close) choice.close |= bit;
    }
  }
  return choice;
}

/* Calls USE(entry) for the images of a site that are in reach, the nearest first. */
#define FOR_EACH_IMAGE(nearest, site, block, box, USE)                        \
  for (uint axes = 0; axes < ((block).images ? IMAGES : 1); ++axes) {         \
    if (image_distance_squared(nearest, axes, box) < (block).reach) {         \
      USE(ENTRY(site, axes))                                                  \
    }                                                                         \
  }

/* A mark on a listed entry of Choice.close. */
#define CLOSE_MARK 0x80000000u
#define UNMARKED(entry) ((entry) & ~CLOSE_MARK)

/* Number of entries of the sites in choice.cut. */
static inline int cut_entries(Choice choice, __global const real *rounded, int capacity, int first,
                              BlockView block, PairReals box) {
  if (!block.images) return popcount(choice.cut);
  int entries = 0;
  for (uint bits = choice.cut; bits != 0; bits &= bits - 1) {
    const int site = first + (31 - (int)clz(bits & -bits)) * GRID_GROUP;
    const real3 nearest = nearest_image(rounded, capacity, site, block, box);
#define COUNT_ENTRY(entry) ++entries;
    FOR_EACH_IMAGE(nearest, site, block, box, COUNT_ENTRY)
#undef COUNT_ENTRY
  }
  return entries;
}

/* Writes those of an item's entries whose place in the group's list lies in
   [begin, begin + LIST_CAPACITY). */
static inline void write_entries(Choice choice, int inside_at, int cut_at, int begin,
                                 __local uint *list, __global const real *rounded, int capacity,
                                 int first, BlockView block, PairReals box) {
  int at = inside_at - begin;
#define WRITE_ENTRY(entry)                                 \
  if (at >= 0 && at < LIST_CAPACITY) list[at] = entry;     \
  ++at;
  for (uint bits = choice.inside; bits != 0; bits &= bits - 1) {
    const int site = first + (31 - (int)clz(bits & -bits)) * GRID_GROUP;
    WRITE_ENTRY(ENTRY(site, 0))
  }
  at = cut_at - begin;
  for (uint bits = choice.cut; bits != 0; bits &= bits - 1) {
    const int site = first + (31 - (int)clz(bits & -bits)) * GRID_GROUP;
    const real3 nearest = nearest_image(rounded, capacity, site, block, box);
    const uint mark = choice.close & bits & -bits ? CLOSE_MARK : 0;
#define WRITE_MARKED(entry) WRITE_ENTRY((entry) | mark)
    FOR_EACH_IMAGE(nearest, site, block, box, WRITE_MARKED)
#undef WRITE_MARKED
  }
#undef WRITE_ENTRY
}

/* Sum of the values of the items before this one; *total: of all. `shared` has two values per item
   of the group. */
static inline uint sum_before(uint value, __local uint *shared, uint *total) {
  const int item = (int)get_local_id(0);
  int side = 0;
  shared[item] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int distance = 1; distance < GRID_GROUP; distance *= 2) {
    const uint sum = shared[side * GRID_GROUP + item] +
                     (item >= distance ? shared[side * GRID_GROUP + item - distance] : 0);
    side = 1 - side;
    shared[side * GRID_GROUP + item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  *total = shared[side * GRID_GROUP + GRID_GROUP - 1];
  return shared[side * GRID_GROUP + item] - value;
}

#endif
