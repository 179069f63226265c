/* Sites as seen from one compact block of grid points. */
#ifndef STARPMC_OPENCL_COMPACT_BLOCK_H
#define STARPMC_OPENCL_COMPACT_BLOCK_H

#include "opencl/charged_site.h"
#include "opencl/pair_functions.h"

/* A point in the tile: position and charge. Fixed-point coordinates are unsigned here, whose
   differences wrap by definition. */
#if STARPMC_FIXED
typedef uint coordinate_value;
typedef uint3 place;
typedef uint4 tile_point;
#define CHARGE_OF(stored) as_float(stored)
#else
typedef real coordinate_value;
typedef real3 place;
typedef real4 tile_point;
#define CHARGE_OF(stored) (stored)
#endif

/* A block's points side by side in local memory; the caller sets the barriers. */
static inline void load_tile(__global const coordinate *points, __local tile_point *tile,
                             int group) {
  for (int j = (int)get_local_id(0); j < STARPMC_BLOCK_POINTS; j += group) {
    tile[j].x = (coordinate_value)points[j];
    tile[j].y = (coordinate_value)points[STARPMC_BLOCK_POINTS + j];
    tile[j].z = (coordinate_value)points[2 * STARPMC_BLOCK_POINTS + j];
    tile[j].w = (coordinate_value)points[3 * STARPMC_BLOCK_POINTS + j];
  }
}

/* The constants of the grid term. Lengths are in the unit of the x axis: angstrom, or in fixed
   precision, where differences wrap by themselves, fixed_unit(). */
typedef struct {
  real ratio_y, ratio_z; /* units of the other axes */
  real cutoff_squared;
  real inverse_square;
  real twice_inverse;
  real least_squared;
  double unit;
} GridReals;

static inline GridReals grid_reals(PairConstants constants) {
  GridReals reals;
#if STARPMC_FIXED
  reals.unit = fixed_unit(constants.box[0]);
  reals.ratio_y = (real)(constants.box[1] / constants.box[0]);
  reals.ratio_z = (real)(constants.box[2] / constants.box[0]);
#else
  reals.unit = 1;
  reals.ratio_y = reals.ratio_z = 1;
#endif
  const double square = reals.unit * reals.unit;
  reals.cutoff_squared = (real)(constants.coulomb_cutoff_squared / square);
  reals.inverse_square = (real)(constants.inverse_square * square);
  reals.twice_inverse = (real)(constants.twice_inverse * reals.unit);
  reals.least_squared = (real)(STARPMC_MINIMUM_DISTANCE_SQUARED / square);
  return reals;
}

static inline double3 site_position(__global const double *sites, int capacity, int index) {
  return (double3)(sites[index], sites[capacity + index], sites[2 * capacity + index]);
}

static inline __global const real *rounded_sites(__global const double *sites, int capacity) {
  return (__global const real *)(sites + CHARGED_SITE_FIELDS * capacity);
}

static inline double3 block_origin(__global const double *header) {
  return (double3)(header[BLOCK_ORIGIN], header[BLOCK_ORIGIN + 1], header[BLOCK_ORIGIN + 2]);
}

/* A compact block as sites see it. Distances are from its origin, squared. */
typedef struct {
  real x, y, z;
  real reach;  /* below it, a point may lie inside the cutoff */
  real inside; /* below it, every point does */
  /* below it, a point may lie within the minimum distance, or the site within a point's extent */
  real close;
  int images;  /* whether other images than the nearest may be in reach */
} BlockView;

static inline BlockView block_view(__global const double *header, PairConstants constants) {
  const double radius = header[BLOCK_RADIUS];
  const double reach = constants.coulomb_cutoff + radius + BLOCK_MARGIN;
  const double inside = fmax(0.0, constants.coulomb_cutoff - radius - BLOCK_MARGIN);
  const double close = radius + header[BLOCK_EXTENT] + BLOCK_CLOSE;
  BlockView view;
  view.x = (real)header[BLOCK_ORIGIN];
  view.y = (real)header[BLOCK_ORIGIN + 1];
  view.z = (real)header[BLOCK_ORIGIN + 2];
  view.reach = (real)(reach * reach);
  view.inside = (real)(inside * inside);
  view.close = (real)(close * close);
  view.images = !STARPMC_FIXED && reach > constants.half_shortest_edge;
  return view;
}

/* An entry is a site and the axes along which not its nearest image is meant, but the one on the
   other side. Each image in reach is an entry of its own: of all images at most one lies inside the
   cutoff of a point, so that no pair needs the minimum image. */
#define IMAGES 8
#define ENTRY(site, axes) ((uint)(site) * IMAGES + (uint)(axes))
#define SITE_OF(entry) ((int)((entry) / IMAGES))

/* The other image along one axis. */
#define OTHER_IMAGE(d, length) ((d) - copysign(length, d))

static inline real image_distance_squared(real3 nearest, uint axes, PairReals box) {
  const real x = axes & 1 ? OTHER_IMAGE(nearest.x, box.box_x) : nearest.x;
  const real y = axes & 2 ? OTHER_IMAGE(nearest.y, box.box_y) : nearest.y;
  const real z = axes & 4 ? OTHER_IMAGE(nearest.z, box.box_z) : nearest.z;
  return fma(x, x, fma(y, y, z * z));
}

/* Where the pair terms see an entry: relative to the block's origin, or in fixed precision where it
   is. */
static inline place entry_place(uint entry, __global const double *sites, int capacity,
                                __global const double *header, PairConstants constants) {
  const double3 position = site_position(sites, capacity, SITE_OF(entry));
#if STARPMC_FIXED
  return (uint3)((uint)fixed_coordinate(position.x, constants.box[0]),
                 (uint)fixed_coordinate(position.y, constants.box[1]),
                 (uint)fixed_coordinate(position.z, constants.box[2]));
#else
  const double3 box = (double3)(constants.box[0], constants.box[1], constants.box[2]);
  const double3 inverse =
      (double3)(constants.inverse_box[0], constants.inverse_box[1], constants.inverse_box[2]);
  double3 d = position - block_origin(header);
  d -= box * rint(d * inverse);
  if (entry % IMAGES != 0) {
    const long3 axes = (long3)(entry & 1 ? -1 : 0, entry & 2 ? -1 : 0, entry & 4 ? -1 : 0);
    d = select(d, OTHER_IMAGE(d, box), axes);
  }
  return to_real3(d);
#endif
}

/* charge * (phi(r) - 1/r) inside a point's extent (EXTENT_C0), without the Coulomb constant, from the
   coordinates that the pair terms take; 0 outside. In fp64, since it is a difference of two roots,
   but without the library's roots: few pairs need it, and the grid kernel keeps registers for it. */
static inline double extent_energy(place entry, place point, double charge, double inverse_square,
                                   PairConstants constants) {
#if STARPMC_FIXED
  const double3 d = convert_double3(as_int3(entry - point)) *
                    (double3)(fixed_unit(constants.box[0]), fixed_unit(constants.box[1]),
                              fixed_unit(constants.box[2]));
#else
  const double3 d = (double3)((double)entry.x - (double)point.x, (double)entry.y - (double)point.y,
                              (double)entry.z - (double)point.z);
#endif
  const double r2 = fmax(d.x * d.x + (d.y * d.y + d.z * d.z), STARPMC_MINIMUM_DISTANCE_SQUARED);
  const double s2 = r2 * inverse_square;
  if (!(inverse_square > 0 && s2 < 1)) return 0;
  return charge * ((EXTENT_C0 + s2 * (EXTENT_C1 + s2 * EXTENT_C2)) * inverse_square *
                       wide_reciprocal_square_root(inverse_square) -
                   wide_reciprocal_square_root(r2));
}

/* Not among the exact kernels, which have other functions. */
#if STARPMC_USER_COULOMB && defined(STARPMC_QUICK_USER_FUNCTIONS)
/* Energy of a unit charge at an entry with a point, without the Coulomb constant, by the user's
   function: in fp64 in every precision. x, y, z: the point's stored coordinates. */
static inline double user_grid_energy(place entry, place point, double charge,
                                      PairConstants constants) {
#if STARPMC_FIXED
  const double3 d = convert_double3(as_int3(entry - point)) *
                    (double3)(fixed_unit(constants.box[0]), fixed_unit(constants.box[1]),
                              fixed_unit(constants.box[2]));
#else
  const double3 d = (double3)((double)entry.x - (double)point.x, (double)entry.y - (double)point.y,
                              (double)entry.z - (double)point.z);
#endif
  const double r2 = fmax(d.x * d.x + (d.y * d.y + d.z * d.z), STARPMC_MINIMUM_DISTANCE_SQUARED);
  if (charge == 0 || !(r2 < constants.coulomb_cutoff_squared)) return 0;
  return charge * user_coulomb(r2);
}
#endif

/* Separation of an entry from a point, from differences of stored coordinates. */
#if STARPMC_FIXED
#define SEPARATION(type, DX, DY, DZ)                  \
  const type dx = convert_##type(DX);                 \
  const type dy = convert_##type(DY) * reals.ratio_y; \
  const type dz = convert_##type(DZ) * reals.ratio_z;
#define convert_real(difference) convert_float(as_int(difference))
#else
#define SEPARATION(type, DX, DY, DZ) \
  const type dx = DX;                \
  const type dy = DY;                \
  const type dz = DZ;
#endif

#endif
