#include "opencl/pair_functions.h"
#include "opencl/reduction.h"
#include "common/poses.h"

/* Sites of a block that an item holds in registers. */
#define OWN_SITES (STARPMC_BLOCK_POINTS / POSE_GROUP)
/* Sites of a pose in local memory at a time; their pair energies with a site are summed in real. */
#define POSE_TILE 64
#define POSE_TILE_FIELDS 6

/* Coordinates relative to a block's origin as they are stored (in fixed precision bits of an integer),
   and their differences in angstrom. */
#if STARPMC_FIXED
#define POSE_COORDINATE(relative) as_float(fixed_coordinate(relative, STARPMC_POSE_SPAN))
#define POSE_DIFFERENCE(a, b) \
  (convert_float(as_int(as_uint(a) - as_uint(b))) * (real)fixed_unit(STARPMC_POSE_SPAN))
#else
#define POSE_COORDINATE(relative) ((real)(relative))
#define POSE_DIFFERENCE(a, b) ((a) - (b))
#endif

typedef struct {
  double coulomb;
  double vdw;
  real closest;
} PoseEnergy;

/* Puts some sites of a pose into local memory, relative to a block's origin. */
static inline void place_pose_sites(__global const double *pose, __global const double *ligand,
                                    int sites, int first, int count, __global const double *origin,
                                    __local real *tile) {
  for (int k = (int)get_local_id(0); k < count; k += POSE_GROUP) {
    __global const double *x = pose + POSE_SPHERE + first + k;
    __local real *place = tile + k * POSE_TILE_FIELDS;
    place[0] = POSE_COORDINATE(x[0] - origin[0]);
    place[1] = POSE_COORDINATE(x[sites] - origin[1]);
    place[2] = POSE_COORDINATE(x[2 * sites] - origin[2]);
    for (int field = 0; field < LIGAND_FIELDS; ++field) {
      place[3 + field] = (real)ligand[field * sites + first + k];
    }
  }
}

/* Adds the energies of the sites in local memory with one site of a block. */
static inline void add_place(PoseInteraction interaction, real cutoff_squared,
                             __global const real *place, __local const real *tile, int count,
                             PoseEnergy *sum) {
  const real x = place[RECEPTOR_X * STARPMC_BLOCK_POINTS];
  const real y = place[RECEPTOR_Y * STARPMC_BLOCK_POINTS];
  const real z = place[RECEPTOR_Z * STARPMC_BLOCK_POINTS];
  real radius = 0;
  real root = 0;
  if (interaction.lennard_jones) {
    radius = place[RECEPTOR_RADIUS * STARPMC_BLOCK_POINTS];
    root = place[RECEPTOR_ROOT * STARPMC_BLOCK_POINTS];
  }
  real coulomb = 0;
  real vdw = 0;
  real closest = sum->closest;
  for (int k = 0; k < count; ++k, tile += POSE_TILE_FIELDS) {
    const real dx = POSE_DIFFERENCE(tile[0], x);
    const real dy = POSE_DIFFERENCE(tile[1], y);
    const real dz = POSE_DIFFERENCE(tile[2], z);
    const real seen = dx * dx + (dy * dy + dz * dz);
    closest = fmin(closest, seen);
    const real r2 = AT_LEAST_MINIMUM_DISTANCE(seen);
    const real inverse = reciprocal_square_root(r2);
    const int inside = seen < cutoff_squared;
    const real potential = interaction.distance_dependent ? inverse * inverse : inverse;
    coulomb += inside ? tile[3 + LIGAND_CHARGE] * potential : (real)0;
    if (interaction.lennard_jones) {
      const real other = tile[3 + LIGAND_RADIUS];
      const real least = interaction.combination == COMBINATION_SUM ? radius + other : radius * other;
      const real u = least * inverse;
      const real u2 = u * u;
      const real u6 = u2 * u2 * u2;
      vdw += inside ? tile[3 + LIGAND_ROOT] * (u6 * (u6 - (real)2)) : (real)0;
    }
  }
  sum->coulomb += (double)place[RECEPTOR_CHARGE * STARPMC_BLOCK_POINTS] * (double)coulomb;
  sum->vdw += (double)root * (double)vdw;
  sum->closest = closest;
}

/* This item's share of the energy of a pose with a block. */
static inline PoseEnergy with_block(PoseInteraction interaction, __global const double *pose,
                                    __global const double *ligand, int sites,
                                    __global const double *header, __global const real *places,
                                    __local real *tile) {
  PoseEnergy sum = {0, 0, (real)STARPMC_NOTHING_SEEN};
  const real cutoff_squared = interaction.cutoff == 0 ? (real)STARPMC_NOTHING_SEEN
                                                      : (real)(interaction.cutoff * interaction.cutoff);
  const int used = (int)header[RECEPTOR_BLOCK_SITES];
  for (int first = 0; first < sites; first += POSE_TILE) {
    const int count = min(POSE_TILE, sites - first);
    barrier(CLK_LOCAL_MEM_FENCE);
    place_pose_sites(pose, ligand, sites, first, count, header, tile);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int own = 0; own < OWN_SITES; ++own) {
      const int place = own * POSE_GROUP + (int)get_local_id(0);
      if (place < used) {
        add_place(interaction, cutoff_squared, places + place, tile, count, &sum);
      }
    }
  }
  return sum;
}

static inline double group_least(double value, __local double *shared) {
  const int item = (int)get_local_id(0);
  shared[item] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_size = POSE_GROUP / 2; half_size > 0; half_size /= 2) {
    if (item < half_size) shared[item] = fmin(shared[item], shared[item + half_size]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const double least = shared[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return least;
}

/* A work-group per pose. Local memory: tile, POSE_TILE * POSE_TILE_FIELDS reals; shared, a double per
   item. */
__kernel GROUP_OF(POSE_GROUP) void pose_energies(PoseInteraction interaction, int sites, int poses,
                                                 int blocks, BUFFER(ligand), BUFFER(positions),
                                                 BUFFER(receptor_blocks), BUFFER(receptor_sites),
                                                 BUFFER(energies), __local real *tile,
                                                 __local double *shared) {
  CONSTANT_ARRAY(double, ligand);
  CONSTANT_ARRAY(double, positions);
  CONSTANT_ARRAY(double, receptor_blocks);
  CONSTANT_ARRAY(real, receptor_sites);
  ARRAY(double, energies);
  const int index = (int)get_group_id(0);
  __global const double *pose = positions + (ulong)index * pose_size(sites);
  const ulong stride = (ulong)receptor_fields(interaction) * STARPMC_BLOCK_POINTS;
  TreeSum coulomb;
  TreeSum vdw;
  coulomb.count = vdw.count = 0;
  double closest = STARPMC_NOTHING_SEEN;
  for (int block = 0; block < blocks; ++block) {
    __global const double *header = receptor_blocks + block * RECEPTOR_BLOCK_FIELDS;
    const double dx = pose[0] - header[0];
    const double dy = pose[1] - header[1];
    const double dz = pose[2] - header[2];
    const int cut = pose_cut(interaction.cutoff, dx * dx + dy * dy + dz * dz,
                             pose[3] + header[BLOCK_RADIUS]);
    PoseEnergy own = {0, 0, (real)STARPMC_NOTHING_SEEN};
    if (cut != 2) {
      own = with_block(interaction, pose, ligand, sites, header, receptor_sites + block * stride,
                       tile);
      own.coulomb = group_sum(own.coulomb, shared);
      if (interaction.lennard_jones) own.vdw = group_sum(own.vdw, shared);
      closest = fmin(closest, (double)own.closest);
    }
    tree_add(&coulomb, own.coulomb);
    tree_add(&vdw, own.vdw);
  }
  closest = group_least(closest, shared);
  if (get_local_id(0) != 0) return;
  energies[POSE_COULOMB * poses + index] = tree_total(&coulomb);
  energies[POSE_VDW * poses + index] = tree_total(&vdw);
  energies[POSE_CLOSEST * poses + index] = closest;
}

/* An item per pose. Of the buffers the first `parts` are used. */
__kernel void pose_energies_reduce(int poses, int parts, BUFFER(part0), BUFFER(part1),
                                   BUFFER(part2), BUFFER(part3), BUFFER(part4), BUFFER(part5),
                                   BUFFER(part6), BUFFER(part7), BUFFER(energies)) {
  ARRAY(double, energies);
  const int pose = (int)get_global_id(0);
  if (pose >= poses) return;
  __global const double *partials[STARPMC_MOST_PARTIALS] = {
      (__global const double *)(part0_memory + part0_offset),
      (__global const double *)(part1_memory + part1_offset),
      (__global const double *)(part2_memory + part2_offset),
      (__global const double *)(part3_memory + part3_offset),
      (__global const double *)(part4_memory + part4_offset),
      (__global const double *)(part5_memory + part5_offset),
      (__global const double *)(part6_memory + part6_offset),
      (__global const double *)(part7_memory + part7_offset)};
  for (int term = POSE_COULOMB; term <= POSE_VDW; ++term) {
    TreeSum sum;
    sum.count = 0;
    for (int part = 0; part < parts; ++part) tree_add(&sum, partials[part][term * poses + pose]);
    energies[term * poses + pose] = tree_total(&sum);
  }
  double closest = STARPMC_NOTHING_SEEN;
  for (int part = 0; part < parts; ++part) {
    closest = fmin(closest, partials[part][POSE_CLOSEST * poses + pose]);
  }
  energies[POSE_CLOSEST * poses + pose] = closest;
}
