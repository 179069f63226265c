/* Follows the text of the functions (pair_virial.cpp), which defines
     coulomb_terms(r2, factor, product, energy, virial)
     mm_terms(r2, row, tables, product, energy, virial), qmmm_terms(the same)
   row: of a pair of site kinds; energy and virial are added to. */
#include "opencl/kernel_arguments.h"

/* sites: per site of a molecule six arrays of padded_molecules values, position and displacement from
   the molecule's centre. */
static inline ulong site_field(TopologyShape topology, int site, int field) {
  return (ulong)(6 * site + field) * topology.padded_molecules;
}

__kernel void place_virial_sites(TopologyShape topology, BUFFER(topology_reals),
                                 BUFFER(topology_integers), BUFFER(lattice), BUFFER(sites)) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(double, lattice);
  ARRAY(double, sites);
  const int index = (int)get_global_id(0);
  const int site = index / topology.molecules;
  const int molecule = index - site * topology.molecules;
  const int type = topology_integers[molecule];
  if (site >= topology_integers[topology_site_count(topology, type)]) return;
  double pose[POSE_FIELDS];
  for (int field = 0; field < POSE_FIELDS; ++field) {
    pose[field] = lattice[field * topology.padded_molecules + molecule];
  }
  __global const double *r = topology_reals + topology_site(topology, type, site);
  const double reference[3] = {r[0], r[1], r[2]};
  double arm[3];
  rotate_site(pose, reference, arm);
  for (int k = 0; k < 3; ++k) {
    sites[site_field(topology, site, k) + molecule] = pose[k] + arm[k];
    sites[site_field(topology, site, 3 + k) + molecule] = arm[k];
  }
}

typedef struct {
  double position[3];
  double arm[3];
} VirialSite;

static inline VirialSite virial_site(TopologyShape topology, __global const double *sites,
                                     int molecule, int site) {
  VirialSite result;
  for (int k = 0; k < 3; ++k) {
    result.position[k] = sites[site_field(topology, site, k) + molecule];
    result.arm[k] = sites[site_field(topology, site, 3 + k) + molecule];
  }
  return result;
}

/* A nucleus or a point of the density. */
static inline VirialSite solute_site(VirialShape shape, __global const double *x, int stride,
                                     int index) {
  VirialSite result;
  for (int k = 0; k < 3; ++k) {
    result.position[k] = x[k * stride + index];
    result.arm[k] = result.position[k] - shape.solute_centre[k];
  }
  return result;
}

/* Squared distance, then r . R. */
static inline double2 separation(VirialShape shape, VirialSite to, VirialSite from) {
  double d[3];
  double arm[3];
  for (int k = 0; k < 3; ++k) {
    const double edge = shape.interaction.box[k];
    d[k] = exact_image(to.position[k] - from.position[k], edge, 1.0 / edge);
    arm[k] = to.arm[k] - from.arm[k];
  }
  return (double2)(exact_distance_squared(d[0], d[1], d[2]),
                   exact_centre_product(d[0], d[1], d[2], arm[0], arm[1], arm[2]));
}

/* Whether a position may be this near to another; pairs left out have no energy. */
static inline bool within(VirialShape shape, const double *d, double reach) {
  double squared = 0;
  for (int k = 0; k < 3; ++k) {
    const double edge = shape.interaction.box[k];
    const double nearest = exact_image(d[k], edge, 1.0 / edge);
    squared += nearest * nearest;
  }
  return squared < reach * reach;
}

static inline void add_coulomb(VirialShape shape, double2 pair, double factor, int term,
                               VirialTotal *totals) {
  const double cutoff = shape.interaction.coulomb_cutoff;
  if (factor == 0 || !(pair.x < cutoff * cutoff)) return;
  coulomb_terms(pair.x, factor, pair.y, &totals[term], &totals[TERMS + term]);
}

static inline bool inside_vdw(VirialShape shape, double2 pair) {
  return pair.x < shape.interaction.vdw_cutoff * shape.interaction.vdw_cutoff;
}

static inline double charge_of(TopologyShape topology, __global const double *reals, int type,
                               int site) {
  return reals[topology_site(topology, type, site) + 3];
}

static inline void add_molecules(VirialShape shape, __global const double *reals,
                                 __global const int *integers, __global const double *sites,
                                 __global const double *tables, int molecule, int other,
                                 VirialTotal *totals) {
  const TopologyShape topology = shape.topology;
  const int type = integers[molecule];
  const int other_type = integers[other];
  for (int a = 0; a < integers[topology_site_count(topology, type)]; ++a) {
    const VirialSite from = virial_site(topology, sites, molecule, a);
    const double charge = charge_of(topology, reals, type, a);
    const int kind = integers[topology_site_type(topology, type, a)];
    for (int b = 0; b < integers[topology_site_count(topology, other_type)]; ++b) {
      const double2 pair = separation(shape, virial_site(topology, sites, other, b), from);
      const double factor =
          STARPMC_COULOMB_CONSTANT * (charge * charge_of(topology, reals, other_type, b));
      add_coulomb(shape, pair, factor, TERM_MM_COULOMB, totals);
      if (!inside_vdw(shape, pair)) continue;
      const int other_kind = integers[topology_site_type(topology, other_type, b)];
      mm_terms(pair.x, kind * topology.site_types + other_kind, tables, pair.y,
               &totals[TERM_MM_VDW], &totals[TERMS + TERM_MM_VDW]);
    }
  }
}

static inline void add_nuclei(VirialShape shape, __global const double *tables,
                              __global const double *solute, VirialSite site, double charge,
                              int kind, int item, VirialTotal *totals) {
  for (int nucleus = item; nucleus < shape.nuclei; nucleus += VIRIAL_GROUP) {
    const double2 pair = separation(shape, site, solute_site(shape, solute, shape.nuclei, nucleus));
    const double factor = STARPMC_COULOMB_CONSTANT * (charge * solute[3 * shape.nuclei + nucleus]);
    add_coulomb(shape, pair, factor, TERM_QMMM_NUCLEI, totals);
    if (!inside_vdw(shape, pair)) continue;
    const int other_kind = (int)solute[4 * shape.nuclei + nucleus];
    qmmm_terms(pair.x, kind * shape.topology.site_types + other_kind, tables, pair.y,
               &totals[TERM_QMMM_VDW], &totals[TERMS + TERM_QMMM_VDW]);
  }
}

static inline void add_grid(VirialShape shape, __global const double *blocks,
                            __global const double *points, VirialSite site, double charge, int item,
                            VirialTotal *totals) {
  for (int block = 0; block < shape.blocks; ++block) {
    __global const double *header = blocks + block * BLOCK_FIELDS;
    double d[3];
    for (int k = 0; k < 3; ++k) d[k] = site.position[k] - header[BLOCK_ORIGIN + k];
    if (!within(shape, d, shape.interaction.coulomb_cutoff + header[BLOCK_RADIUS] + BLOCK_MARGIN)) {
      continue;
    }
    __global const double *x = points + (ulong)block * STARPMC_BLOCK_VALUES;
    for (int i = item; i < STARPMC_BLOCK_POINTS; i += VIRIAL_GROUP) {
      const double factor = STARPMC_COULOMB_CONSTANT * (charge * x[3 * STARPMC_BLOCK_POINTS + i]);
      const double2 pair =
          separation(shape, site, solute_site(shape, x, STARPMC_BLOCK_POINTS, i));
      add_coulomb(shape, pair, factor, TERM_QMMM_GRID, totals);
      const double inverse_square = x[4 * STARPMC_BLOCK_POINTS + i];
      if (!(pair.x * inverse_square < 1)) continue;
      const double charges = factor * STARPMC_COULOMB_POLE;
      add_term(&totals[TERM_QMMM_GRID], charges * exact_extent(pair.x, inverse_square));
      add_term(&totals[TERMS + TERM_QMMM_GRID],
               exact_virial(charges, exact_extent_slope(pair.x, inverse_square), pair.y));
    }
  }
}

/* A work-group per molecule, its items share the later molecules and the solute. */
__kernel GROUP_OF(VIRIAL_GROUP) void pair_virial(
    VirialShape shape, BUFFER(topology_reals), BUFFER(topology_integers), BUFFER(lattice),
    BUFFER(sites), BUFFER(tables), BUFFER(solute), BUFFER(blocks), BUFFER(points),
    BUFFER(partials), __local ulong *shared) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(double, lattice);
  CONSTANT_ARRAY(double, sites);
  CONSTANT_ARRAY(double, tables);
  CONSTANT_ARRAY(double, solute);
  CONSTANT_ARRAY(double, blocks);
  CONSTANT_ARRAY(double, points);
  ARRAY(VirialTotal, partials);
  const TopologyShape topology = shape.topology;
  const int item = (int)get_local_id(0);
  const int molecule = shape.first_molecule + (int)get_group_id(0);
  VirialTotal totals[VIRIAL_SUMS];
  for (int i = 0; i < VIRIAL_SUMS; ++i) totals[i] = no_terms();
  const double reach = fmax(shape.interaction.coulomb_cutoff, shape.interaction.vdw_cutoff) +
                       2 * topology.largest_radius + 1e-3;
  for (int other = molecule + 1 + item; other < topology.molecules; other += VIRIAL_GROUP) {
    double d[3];
    for (int k = 0; k < 3; ++k) {
      d[k] = lattice[k * topology.padded_molecules + molecule] -
             lattice[k * topology.padded_molecules + other];
    }
    if (!within(shape, d, reach)) continue;
    add_molecules(shape, topology_reals, topology_integers, sites, tables, molecule, other, totals);
  }
  const int type = topology_integers[molecule];
  for (int a = 0; a < topology_integers[topology_site_count(topology, type)]; ++a) {
    const VirialSite site = virial_site(topology, sites, molecule, a);
    const double charge = charge_of(topology, topology_reals, type, a);
    add_nuclei(shape, tables, solute, site, charge,
               topology_integers[topology_site_type(topology, type, a)], item, totals);
    if (charge != 0) add_grid(shape, blocks, points, site, charge, item, totals);
  }
  for (int i = 0; i < VIRIAL_SUMS; ++i) {
    const ulong coarse = group_sum_units(totals[i].coarse, shared);
    const ulong fine = group_sum_units(totals[i].fine, shared);
    if (item == 0) {
      VirialTotal sum = no_terms();
      add_digits(&sum, coarse, fine);
      partials[get_group_id(0) * VIRIAL_SUMS + i] = sum;
    }
  }
}

/* One item per sum. */
__kernel void pair_virial_sum(int groups, BUFFER(partials), BUFFER(sums)) {
  CONSTANT_ARRAY(VirialTotal, partials);
  ARRAY(double, sums);
  const int i = (int)get_global_id(0);
  VirialTotal total = no_terms();
  for (int group = 0; group < groups; ++group) {
    const VirialTotal part = partials[group * VIRIAL_SUMS + i];
    add_digits(&total, part.coarse, part.fine);
  }
  sums[i] = virial_value(total);
}
