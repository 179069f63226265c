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

/* A work-group per compact block, an item per point: the pair sum with its roles swapped. */
__kernel GROUP_OF(STARPMC_BLOCK_POINTS) void grid_potential(
    WindowLayout layout, TopologyShape topology, PairConstants constants, BUFFER(topology_reals),
    BUFFER(topology_integers), BUFFER(lattice), BUFFER(lattice_sites), BUFFER(block_headers),
    BUFFER(points), BUFFER(potential)) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(double, lattice);
  CONSTANT_ARRAY(real, lattice_sites);
  CONSTANT_ARRAY(double, block_headers);
  ARRAY(double, potential);
  __local real4 tile[STARPMC_BLOCK_POINTS];
  const int item = (int)get_local_id(0);
  const int block = (int)get_group_id(0);
  __global const double *header = block_headers + block * BLOCK_FIELDS;
  __global const real *points =
      (__global const real *)(points_memory + points_offset) + block * 4 * STARPMC_BLOCK_POINTS;
  const PairReals reals = pair_reals(constants);
  const real3 point = (real3)(points[item], points[STARPMC_BLOCK_POINTS + item],
                              points[2 * STARPMC_BLOCK_POINTS + item]);
  double total = 0;
  for (int first = 0; first < topology.molecules * topology.sites; first += STARPMC_BLOCK_POINTS) {
    tile[item] = lattice_charge(layout, topology, constants, topology_reals, topology_integers,
                                lattice, lattice_sites, header, first + item);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int part = 0; part < STARPMC_BLOCK_POINTS; part += POINTS_PER_SUM) {
      real sum = 0;
      for (int j = part; j < part + POINTS_PER_SUM; ++j) {
        const real4 charge = tile[j];
        const real r2 = periodic_distance_squared(reals, point, charge.xyz);
        const real energy = COULOMB_ENERGY(reals, r2, reciprocal_square_root(r2));
        sum += r2 < reals.cutoff_squared ? charge.w * energy : (real)0;
      }
      total += (double)sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  potential[block * STARPMC_BLOCK_POINTS + item] = STARPMC_COULOMB_CONSTANT * total;
}
