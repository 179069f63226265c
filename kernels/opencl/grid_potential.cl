#include "opencl/compact_block.h"
#include "opencl/window.h"

/* Position and charge of a lattice's site, relative to a block's origin; charge 0: none. */
static inline real4 lattice_charge(WindowLayout layout, TopologyShape topology,
                                   PairConstants constants, __global const double *topology_reals,
                                   __global const int *topology_integers,
                                   __global const double *lattice,
                                   __global const real *lattice_sites,
                                   __global const double *header, int index) {
  const int stride = layout.molecules;
  const int site = index / topology.molecules;
  const int molecule = index - site * topology.molecules;
  if (site >= topology.sites) return (real4)(0);
  const int type = topology_integers[molecule];
  if (site >= site_count(topology, topology_integers, type)) return (real4)(0);
  __global const real *displacement = lattice_sites + 3 * site * stride + molecule;
  const double3 position = (double3)(lattice[molecule] + (double)displacement[0],
                                     lattice[stride + molecule] + (double)displacement[stride],
                                     lattice[2 * stride + molecule] +
                                         (double)displacement[2 * stride]);
  const double3 relative = minimum_image(position - block_origin(header), constants);
  return (real4)(to_real3(relative),
                 (real)site_charge(topology, topology_reals, type, site));
}

/* A work-group per compact block, a point per lane: the pair sum with its roles swapped. */
__kernel GROUP_OF(STARPMC_BLOCK_POINTS / LANES) void grid_potential(
    WindowLayout layout, TopologyShape topology, PairConstants constants, BUFFER(topology_reals),
    BUFFER(topology_integers), BUFFER(lattice), BUFFER(lattice_sites), BUFFER(block_headers),
    BUFFER(points), BUFFER(potential)) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(double, lattice);
  CONSTANT_ARRAY(real, lattice_sites);
  CONSTANT_ARRAY(double, block_headers);
  CONSTANT_ARRAY(real, points);
  ARRAY(double, potential);
  __local real4 tile[STARPMC_BLOCK_POINTS];
  const int item = (int)get_local_id(0);
  const int block = (int)get_group_id(0);
  __global const double *header = block_headers + block * BLOCK_FIELDS;
  __global const real *first_point = points + block * 4 * STARPMC_BLOCK_POINTS + item * LANES;
  const PairReals reals = pair_reals(constants);
  const lanes x = load_lanes(first_point);
  const lanes y = load_lanes(first_point + STARPMC_BLOCK_POINTS);
  const lanes z = load_lanes(first_point + 2 * STARPMC_BLOCK_POINTS);
  wide_lanes total = (wide_lanes)(0);
  for (int first = 0; first < topology.molecules * topology.sites; first += STARPMC_BLOCK_POINTS) {
    for (int j = item; j < STARPMC_BLOCK_POINTS; j += STARPMC_BLOCK_POINTS / LANES) {
      tile[j] = lattice_charge(layout, topology, constants, topology_reals, topology_integers,
                               lattice, lattice_sites, header, first + j);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int part = 0; part < STARPMC_BLOCK_POINTS; part += POINTS_PER_SUM) {
      lanes sum = (lanes)(0);
      for (int j = part; j < part + POINTS_PER_SUM; ++j) {
        const real4 charge = tile[j];
        const lanes x_offset = x - charge.x;
        const lanes y_offset = y - charge.y;
        const lanes z_offset = z - charge.z;
        const lanes dx = MINIMUM_IMAGE(x_offset, reals.box_x, reals.inverse_x);
        const lanes dy = MINIMUM_IMAGE(y_offset, reals.box_y, reals.inverse_y);
        const lanes dz = MINIMUM_IMAGE(z_offset, reals.box_z, reals.inverse_z);
        const lanes squared = dx * dx + (dy * dy + dz * dz);
        const lanes closest = (lanes)(STARPMC_MINIMUM_DISTANCE_SQUARED);
        const lanes r2 = squared < closest ? closest : squared;
        const lanes energy = COULOMB_ENERGY(reals, r2, lanes_reciprocal_square_root(r2));
        sum = r2 < (lanes)(reals.cutoff_squared) ? charge.w * energy + sum : sum;
      }
      total += widen_lanes(sum);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  total *= STARPMC_COULOMB_CONSTANT;
  store_wide_lanes(total, potential + block * STARPMC_BLOCK_POINTS + item * LANES);
}
