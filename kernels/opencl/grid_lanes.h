/* The grid term on a CPU: an item is a thread of its own, its lanes run over the points of a block
   in the first-level cache, past SITES_PER_ITEM entries in registers. */
#ifndef STARPMC_OPENCL_GRID_LANES_H
#define STARPMC_OPENCL_GRID_LANES_H

#include "opencl/lanes.h"

/* Whether an entry may lie within a point's extent, or within the minimum distance. */
static inline int is_close(place entry, __global const double *header, PairConstants constants) {
  const double close = header[BLOCK_RADIUS] + header[BLOCK_EXTENT] + BLOCK_CLOSE;
  double3 d;
#if STARPMC_FIXED
  const uint3 origin = (uint3)((uint)fixed_coordinate(header[0], constants.box[0]),
                               (uint)fixed_coordinate(header[1], constants.box[1]),
                               (uint)fixed_coordinate(header[2], constants.box[2]));
  d = convert_double3(as_int3(entry - origin)) *
      (double3)(fixed_unit(constants.box[0]), fixed_unit(constants.box[1]),
                fixed_unit(constants.box[2]));
#else
  d = (double3)((double)entry.x, (double)entry.y, (double)entry.z);
#endif
  return d.x * d.x + (d.y * d.y + d.z * d.z) < close * close;
}

/* What the extents of a block's points make of the energy of a unit charge at an entry, kJ/mol. */
static inline double extent_energy_of_block(place entry, __global const coordinate *points,
                                            PairConstants constants) {
  double sum = 0;
  for (int j = 0; j < STARPMC_BLOCK_POINTS; ++j) {
    const place point = (place)((coordinate_value)points[j],
                                (coordinate_value)points[STARPMC_BLOCK_POINTS + j],
                                (coordinate_value)points[2 * STARPMC_BLOCK_POINTS + j]);
    const coordinate_value charge = (coordinate_value)points[3 * STARPMC_BLOCK_POINTS + j];
    const coordinate_value inverse_square =
        (coordinate_value)points[4 * STARPMC_BLOCK_POINTS + j];
    sum += extent_energy(entry, point, (double)CHARGE_OF(charge),
                         (double)CHARGE_OF(inverse_square), constants);
  }
  return STARPMC_COULOMB_POLE * sum;
}

/* Adds the energies of at most SITES_PER_ITEM entries with a block. `cut`: points may lie beyond
   the cutoff, or too near. */
static inline void add_block(int cut, GridReals reals, PairConstants constants,
                             const uint *entries, int count, __global const double *sites,
                             int capacity, __global const double *header,
                             __global const coordinate *points, __global double *partials) {
#if STARPMC_USER_COULOMB && !STARPMC_USER_GRID
  for (int k = 0; k < count; ++k) {
    const place entry = entry_place(entries[k], sites, capacity, header, constants);
    double sum = 0;
    for (int j = 0; j < STARPMC_BLOCK_POINTS; ++j) {
      const place point = (place)((coordinate_value)points[j],
                                  (coordinate_value)points[STARPMC_BLOCK_POINTS + j],
                                  (coordinate_value)points[2 * STARPMC_BLOCK_POINTS + j]);
      const coordinate_value charge = (coordinate_value)points[3 * STARPMC_BLOCK_POINTS + j];
      sum += user_grid_energy(entry, point, (double)CHARGE_OF(charge), constants);
    }
    partials[SITE_OF(entries[k])] += sum * reals.unit;
  }
#else
  place position[SITES_PER_ITEM];
  lanes sums[SITES_PER_ITEM];
  for (int k = 0; k < SITES_PER_ITEM; ++k) {
    position[k] = entry_place(entries[min(k, count - 1)], sites, capacity, header, constants);
    sums[k] = (lanes)(0);
  }
  for (int j = 0; j < STARPMC_BLOCK_POINTS; j += LANES) {
    const coordinate_lanes x = load_lanes(points + j);
    const coordinate_lanes y = load_lanes(points + STARPMC_BLOCK_POINTS + j);
    const coordinate_lanes z = load_lanes(points + 2 * STARPMC_BLOCK_POINTS + j);
    const lanes charge = charge_lanes(load_lanes(points + 3 * STARPMC_BLOCK_POINTS + j));
    _Pragma("unroll") for (int k = 0; k < SITES_PER_ITEM; ++k) {
      SEPARATION(lanes, position[k].x - x, position[k].y - y, position[k].z - z)
      lanes r2 = dx * dx + (dy * dy + dz * dz);
      if (cut) r2 = fmax(r2, (lanes)(reals.least_squared));
      const lanes sum = charge * lanes_energy(r2, reals) + sums[k];
      sums[k] = cut ? (r2 < (lanes)(reals.cutoff_squared) ? sum : sums[k]) : sum;
    }
  }
  for (int k = 0; k < count; ++k) {
    partials[SITE_OF(entries[k])] += sum_of_lanes(sums[k]) * (1.0 / ENERGY_FACTOR);
  }
#endif
  if (!cut || !(header[BLOCK_EXTENT] > 0)) return;
  for (int k = 0; k < count; ++k) {
    const place entry = entry_place(entries[k], sites, capacity, header, constants);
    if (!is_close(entry, header, constants)) continue;
    partials[SITE_OF(entries[k])] += reals.unit * extent_energy_of_block(entry, points, constants);
  }
}

/* The nearest images of LANES sites, relative to a block's origin, and their squared distances. */
static inline void nearest_images(__global const real *rounded, int capacity, int first,
                                  BlockView block, PairReals box, real3 *nearest, real *squared) {
  const lanes x = load_real_lanes(rounded + first) - block.x;
  const lanes y = load_real_lanes(rounded + capacity + first) - block.y;
  const lanes z = load_real_lanes(rounded + 2 * capacity + first) - block.z;
  const lanes dx = MINIMUM_IMAGE(x, box.box_x, box.inverse_x);
  const lanes dy = MINIMUM_IMAGE(y, box.box_y, box.inverse_y);
  const lanes dz = MINIMUM_IMAGE(z, box.box_z, box.inverse_z);
  store_real_lanes(dx * dx + (dy * dy + dz * dz), squared);
  if (!block.images) return;
  real components[3][LANES];
  store_real_lanes(dx, components[0]);
  store_real_lanes(dy, components[1]);
  store_real_lanes(dz, components[2]);
  for (int lane = 0; lane < LANES; ++lane) {
    nearest[lane] = (real3)(components[0][lane], components[1][lane], components[2][lane]);
  }
}

/* Entries that wait until there are SITES_PER_ITEM of them. */
#define QUEUE (SITES_PER_ITEM + IMAGES * LANES)

typedef struct {
  uint inside[QUEUE];
  uint cut[QUEUE];
  int inside_count;
  int cut_count;
} Queues;

/* Queues those of LANES sites, and of their images, that are in reach. */
static inline void queue_entries(Queues *queues, __global const real *rounded, int capacity,
                                 int first, BlockView block, PairReals box) {
  real3 nearest[LANES];
  real squared[LANES];
  nearest_images(rounded, capacity, first, block, box, nearest, squared);
  for (int lane = 0; lane < LANES; ++lane) {
    const int in_reach = squared[lane] < block.reach;
    const int inside = squared[lane] < block.inside && !(squared[lane] < block.close);
    queues->inside[queues->inside_count] = ENTRY(first + lane, 0);
    queues->inside_count += inside;
    queues->cut[queues->cut_count] = ENTRY(first + lane, 0);
    queues->cut_count += in_reach && !inside;
    if (!block.images || inside || !in_reach) continue;
    for (uint axes = 1; axes < IMAGES; ++axes) {
      queues->cut[queues->cut_count] = ENTRY(first + lane, axes);
      queues->cut_count += image_distance_squared(nearest[lane], axes, box) < block.reach;
    }
  }
}

#endif
