#include "opencl/exact_terms.h"
#include "opencl/moves.h"
#include "opencl/window.h"

/* Position and charge of a lattice's site; charge 0: none, or out of a block's reach. */
static inline double4 lattice_charge(WindowLayout layout, TopologyShape topology,
                                     Interaction interaction, const double *inverse_box,
                                     __global const double *topology_reals,
                                     __global const int *topology_integers,
                                     __global const double *lattice,
                                     __global const double *header, int index) {
  const int site = index / topology.molecules;
  const int molecule = index - site * topology.molecules;
  if (site >= topology.sites) return (double4)(0);
  const int type = topology_integers[molecule];
  if (site >= site_count(topology, topology_integers, type)) return (double4)(0);
  double pose[POSE_FIELDS];
  for (int field = 0; field < POSE_FIELDS; ++field) {
    pose[field] = lattice[field * layout.molecules + molecule];
  }
  __global const double *r = topology_reals + topology_site(topology, type, site);
  const double reference[3] = {r[0], r[1], r[2]};
  double displacement[3];
  rotate_site(pose, reference, displacement);
  double position[3];
  double squared = 0;
  for (int k = 0; k < 3; ++k) {
    position[k] = pose[k] + displacement[k];
    const double d = exact_image(position[k] - header[BLOCK_ORIGIN + k], interaction.box[k],
                                 inverse_box[k]);
    squared += d * d;
  }
  const double reach = interaction.coulomb_cutoff + header[BLOCK_RADIUS] + 1e-3;
  return (double4)(position[0], position[1], position[2],
                   squared < reach * reach ? STARPMC_COULOMB_CONSTANT * r[3] : 0.0);
}

/* A work-group per compact block, its items share the points; exact (common/exact_pairs.h). */
__kernel GROUP_OF(POTENTIAL_GROUP) void grid_potential(
    WindowLayout layout, TopologyShape topology, Interaction interaction, BUFFER(topology_reals),
    BUFFER(topology_integers), BUFFER(lattice), BUFFER(block_headers), BUFFER(points),
    BUFFER(potential), __local double4 *tile) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(double, lattice);
  CONSTANT_ARRAY(double, block_headers);
  CONSTANT_ARRAY(double, points);
  ARRAY(double, potential);
  const int item = (int)get_local_id(0);
  const int block = (int)get_group_id(0);
  __global const double *header = block_headers + block * BLOCK_FIELDS;
  __global const double *x = points + (ulong)block * STARPMC_BLOCK_VALUES;
  double inverse_box[3];
  for (int k = 0; k < 3; ++k) inverse_box[k] = 1.0 / interaction.box[k];
  const double cutoff_squared = interaction.coulomb_cutoff * interaction.coulomb_cutoff;
  const double inverse_cutoff = 1.0 / interaction.coulomb_cutoff;
  ulong units[STARPMC_BLOCK_POINTS / POTENTIAL_GROUP];
  for (int k = 0; k < STARPMC_BLOCK_POINTS / POTENTIAL_GROUP; ++k) units[k] = 0;
  for (int first = 0; first < topology.molecules * topology.sites; first += POTENTIAL_TILE) {
    for (int j = item; j < POTENTIAL_TILE; j += POTENTIAL_GROUP) {
      tile[j] = lattice_charge(layout, topology, interaction, inverse_box, topology_reals,
                               topology_integers, lattice, header, first + j);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < STARPMC_BLOCK_POINTS / POTENTIAL_GROUP; ++k) {
      const int point = item + k * POTENTIAL_GROUP;
      for (int j = 0; j < POTENTIAL_TILE; ++j) {
        const double4 charge = tile[j];
        if (charge.w == 0) continue;
        const double dx = exact_image(charge.x - x[point], interaction.box[0], inverse_box[0]);
        const double dy = exact_image(charge.y - x[STARPMC_BLOCK_POINTS + point],
                                      interaction.box[1], inverse_box[1]);
        const double dz = exact_image(charge.z - x[2 * STARPMC_BLOCK_POINTS + point],
                                      interaction.box[2], inverse_box[2]);
        units[k] += exact_units(exact_pair_coulomb(exact_distance_squared(dx, dy, dz), charge.w,
                                                   cutoff_squared, inverse_cutoff));
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int k = 0; k < STARPMC_BLOCK_POINTS / POTENTIAL_GROUP; ++k) {
    potential[block * STARPMC_BLOCK_POINTS + item + k * POTENTIAL_GROUP] =
        (double)as_long(units[k]) / STARPMC_ENERGY_UNITS;
  }
}
