/* Poses of a ligand against a receptor: layouts and constants, in the common subset of C++ and
   OpenCL C. Lengths in angstrom, energies in kJ/mol, charges in elementary charges. No periodic box.
   The includer has included common/layout.h. */
#ifndef STARPMC_POSES_H
#define STARPMC_POSES_H

#ifdef __cplusplus
namespace starpmc {
#endif

/* Distances below this count as this (the square root of STARPMC_MINIMUM_DISTANCE_SQUARED): energies
   of atoms on one another are finite. */
#define STARPMC_MINIMUM_DISTANCE 0.01
/* With these limits the 12-6 energies of a whole block at that distance stay below fp32's largest
   number. */
#define STARPMC_LARGEST_RADIUS 4.0       /* half the distance of least energy */
#define STARPMC_LARGEST_WELL_DEPTH 100.0 /* kJ/mol */
#define STARPMC_LARGEST_SITE_CHARGE 1e4

/* How the distance of least energy of a pair follows from its sites' `radius`. */
#define COMBINATION_SUM 0     /* R_i + R_j, radius: half the distance of least energy (Lorentz) */
#define COMBINATION_PRODUCT 1 /* R_i R_j, radius: square root of that distance (geometric mean) */

/* V = q_i q_j / r, or with distance_dependent q_i q_j / r^2, plus with lennard_jones
   e (u^12 - 2 u^6), u = R_ij / r, e = root_i root_j; all 0 from the cutoff on, if there is one. */
typedef struct {
  double cutoff; /* 0: none */
  int distance_dependent;
  int lennard_jones;
  int combination;
  int newton_steps; /* of SIMD fp32 from the instruction's estimate of 1/sqrt: 0, 1, 2 */
} PoseInteraction;

/* ligand: double, LIGAND_FIELDS arrays of a value per site. The charges are multiplied by the Coulomb
   constant and divided by the relative permittivity, or by what multiplies r in it. */
#define LIGAND_CHARGE 0
#define LIGAND_RADIUS 1
#define LIGAND_ROOT 2 /* square root of the well depth */
#define LIGAND_FIELDS 3

/* positions: double, per pose a sphere around its sites (x, y, z, radius), then the arrays x, y, z of
   its sites. */
#define POSE_SPHERE 4
STARPMC_INLINE int pose_size(int sites) { return POSE_SPHERE + 3 * sites; }

/* receptor_blocks: double, RECEPTOR_BLOCK_FIELDS per compact block (the first four are those of a
   grid's block; the origin is the centre of its sphere).
   receptor_sites: real, per block arrays of STARPMC_BLOCK_POINTS values: x, y, z relative to the
   origin, charge and, with lennard_jones, radius and root. Unused places are
   STARPMC_UNUSED_PLACE away, with charge and root 0. In fixed precision x, y, z are
   fixed_coordinate() of those relative positions in a box of the edge STARPMC_POSE_SPAN, whose images
   are out of sight as long as sites are at most STARPMC_LARGEST_FIXED_EXTENT apart along an axis; the
   others are fp32 bits. */
#define RECEPTOR_BLOCK_SITES 4 /* places in use */
#define RECEPTOR_BLOCK_FIELDS 5
#define RECEPTOR_X 0
#define RECEPTOR_Y 1
#define RECEPTOR_Z 2
#define RECEPTOR_CHARGE 3
#define RECEPTOR_RADIUS 4
#define RECEPTOR_ROOT 5
#define STARPMC_UNUSED_PLACE 1e9
#define STARPMC_POSE_SPAN 2048.0 /* its units are 4.8e-7 A */
#define STARPMC_UNUSED_FIXED_PLACE 1024.0
#define STARPMC_LARGEST_FIXED_EXTENT 300.0
STARPMC_INLINE int receptor_fields(PoseInteraction interaction) {
  return interaction.lennard_jones ? 6 : 4;
}

/* energies: double, POSE_TERMS arrays of a value per pose. */
#define POSE_COULOMB 0
#define POSE_VDW 1
#define POSE_CLOSEST 2 /* least squared distance of a pair seen; beyond a cutoff not all are seen */
#define POSE_TERMS 3
/* Where no pair has been seen. */
#define STARPMC_NOTHING_SEEN 1e30

/* Whether a pose's sphere is out of a block's reach: 2, within the cutoff altogether: 0, or neither:
   1. A margin takes care of rounding. */
STARPMC_INLINE int pose_cut(double cutoff, double distance_squared, double radii) {
  if (cutoff == 0) return 0;
  {
    const double reach = cutoff + radii + BLOCK_MARGIN;
    const double inside = cutoff - radii - BLOCK_MARGIN;
    if (distance_squared > reach * reach) return 2;
    return inside > 0 && distance_squared < inside * inside ? 0 : 1;
  }
}

/* Most partial sums of one reduction. */
#define STARPMC_MOST_PARTIALS 8

/* Sums in the order of a binary tree over the indices of the terms, so that a sum over aligned runs of
   2^k terms and then over the runs has the same bits as the sum over all. */
#define STARPMC_TREE_LEVELS 32
typedef struct {
  double partial[STARPMC_TREE_LEVELS]; /* [k]: sum of a whole run of 2^k terms */
  unsigned int count;
} TreeSum;

STARPMC_INLINE void tree_add(TreeSum *tree, double term) {
  int level = 0;
  for (; (tree->count >> level) & 1U; ++level) term = tree->partial[level] + term;
  tree->partial[level] = term;
  ++tree->count;
}
STARPMC_INLINE double tree_total(const TreeSum *tree) {
  double total = 0;
  for (int level = 0; level < STARPMC_TREE_LEVELS; ++level) {
    if ((tree->count >> level) & 1U) total = tree->partial[level] + total;
  }
  return total;
}

#ifdef __cplusplus
}  // namespace starpmc
#endif
#endif
