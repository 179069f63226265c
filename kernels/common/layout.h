/* Layout of every buffer that kernels share, in the common subset of C++ and OpenCL C: the same
   text is compiled by the host compiler and, put in front of each kernel, by the device's.
   All lengths in angstrom, energies in kJ/mol, charges in elementary charges. */
#ifndef STARPMC_LAYOUT_H
#define STARPMC_LAYOUT_H

#ifdef __cplusplus
#include <cmath>
#include <cstdint>
#include <kernels/common/energy_terms.h>
#define STARPMC_INLINE inline
#define STARPMC_WORD64 std::uint64_t
namespace starpmc {
#else
#define STARPMC_INLINE static inline
#define STARPMC_WORD64 ulong
#endif

/* Coulomb constant, kJ mol^-1 A e^-2. */
#define STARPMC_COULOMB_CONSTANT 1389.35457644
/* Distances below 0.01 A count as 0.01 A, so that every pair energy stays finite in fp32. */
#define STARPMC_MINIMUM_DISTANCE_SQUARED 1e-4
/* In mixed precision, molecules whose centres are nearer than this are evaluated in fp64, and so are
   the nuclei: a few per cent of the pairs, whose energies of hundreds of kJ/mol would carry most of
   the rounding error. */
#define STARPMC_NEAR_DISTANCE 5.5
/* Each energy term of a pair of MM molecules is at most this, kJ/mol, as part of the potential. The
   energies of a window are kept up to date by adding and subtracting pairs, and an overlap's 1e20
   would leave its rounding error behind when the other molecule moves away. */
#define STARPMC_LARGEST_PAIR_ENERGY 1e6
/* Exact energies are sums of whole units, so many per kJ/mol (exact_pairs.h), and wrap at a range of
   2^64 of these, in kJ/mol. */
#define STARPMC_ENERGY_UNITS 1099511627776.0 /* 2^40 */
#define STARPMC_ENERGY_RANGE 16777216.0      /* 2^24 */
/* Points of one compact block of a grid. */
#define STARPMC_BLOCK_POINTS 256
/* A molecule visited a third time in a window has four possible histories; a fourth visit closes
   the window. */
#define STARPMC_MAXIMUM_VISITS 3

/* Capacities of a window's buffers, fixed for a run. An entry is a position that enters the pair
   table: the candidates first, then the start position of each molecule the window touches. */
typedef struct {
  int steps;      /* most steps of a window; also most start entries */
  int candidates; /* most candidates */
  int sites;      /* most sites of any molecule */
  int molecules;  /* MM molecules, padded to a multiple of 16 */
} WindowLayout;

STARPMC_INLINE int entry_capacity(WindowLayout l) { return l.candidates + l.steps; }
STARPMC_INLINE int start_entry(WindowLayout l, int slot) { return l.candidates + slot; }

/* plan: int32. Header (counts), then one array per step and per candidate. */
#define PLAN_STEPS 0
#define PLAN_CANDIDATES 1
#define PLAN_STARTS 2
#define PLAN_HEADER 4
STARPMC_INLINE int plan_step_molecule(WindowLayout l) { (void)l; return PLAN_HEADER; }
STARPMC_INLINE int plan_step_slot(WindowLayout l) { return PLAN_HEADER + l.steps; }
STARPMC_INLINE int plan_step_first(WindowLayout l) { return PLAN_HEADER + 2 * l.steps; }
STARPMC_INLINE int plan_step_visit(WindowLayout l) { return PLAN_HEADER + 3 * l.steps; }
STARPMC_INLINE int plan_start_molecule(WindowLayout l) { return PLAN_HEADER + 4 * l.steps; }
STARPMC_INLINE int plan_candidate_step(WindowLayout l) { return PLAN_HEADER + 5 * l.steps; }
/* Entry a candidate starts from: another candidate, or the start entry of its molecule. */
STARPMC_INLINE int plan_candidate_parent(WindowLayout l) {
  return PLAN_HEADER + 5 * l.steps + l.candidates;
}
STARPMC_INLINE int plan_size(WindowLayout l) {
  return PLAN_HEADER + 5 * l.steps + 2 * l.candidates;
}

/* entries: double, one array of entry_capacity() values per field. */
#define POSE_X 0 /* centre */
#define POSE_Y 1
#define POSE_Z 2
#define POSE_W 3 /* unit quaternion, scalar part first */
#define POSE_I 4
#define POSE_J 5
#define POSE_K 6
#define POSE_FIELDS 7
/* Then the sites' displacements from the centre: x, y, z of site 0, of site 1, ... */
STARPMC_INLINE int entry_fields(WindowLayout l) { return POSE_FIELDS + 3 * l.sites; }
/* Then the acceptance threshold -kT ln u of each step. */
STARPMC_INLINE int entries_threshold(WindowLayout l) { return entry_fields(l) * entry_capacity(l); }
STARPMC_INLINE int entries_size(WindowLayout l) { return entries_threshold(l) + l.steps; }

/* lattice: double, POSE_FIELDS arrays of l.molecules values.
   lattice_sites: real, 3 * l.sites arrays of l.molecules values: displacements from the centre; in
   fixed precision the sites' own positions as fixed_coordinate().
   outside: real, l.molecules values, 1 where the molecule takes no part in the window. */

/* mm_energies, and partial ones: double, MM_TERMS arrays of entry_capacity() values. The pair table:
   MM_TERMS square matrices of as many rows.
   nuclei_energies: double, STATIC_TERMS arrays of l.candidates values; grid_energies: one. */

/* The solute's linear response to the solvent, with a fixed reference: a molecule is `components`
   numbers y (a multiple of 8; 0: no response), and the polarisation energy is -1/2 |Y|^2, Y the sum of
   all y less a constant. In whole units, so that its changes are exact and have no order.
   responses: int32, y of each candidate, one behind the other; molecule_response: of each molecule
   where it is. response_total: int64, Y. All in units of 1/STARPMC_RESPONSE_UNITS sqrt(kJ/mol)
   (potential_lattice.h), 2^-18. */
/* Energy of a product of two: 1/STARPMC_RESPONSE_ENERGY_UNITS kJ/mol. Twice a polarisation energy is a
   whole number of these. */
#define STARPMC_RESPONSE_ENERGY_UNITS 68719476736.0 /* 2^36 */

#define VIRIAL_SUMS (2 * TERMS) /* energies, then virials */

/* field_cache: double, FIELDS arrays of l.molecules values: energies of each molecule's current
   position in the terms that depend on no other molecule. */

/* chain_state: double. */
#define STATE_TERMS 0 /* running totals of all terms */
#define STATE_MAXIMUM_TRANSLATION (STATE_TERMS + TERMS)          /* angstrom */
#define STATE_MAXIMUM_HALF_TURNS (STATE_MAXIMUM_TRANSLATION + 1) /* largest rotation angle / (2 pi) */
#define STATE_ACCEPTED (STATE_MAXIMUM_TRANSLATION + 2) /* since the last tuning of step sizes */
#define STATE_PROPOSED (STATE_MAXIMUM_TRANSLATION + 3)
#define STATE_NOT_FINITE (STATE_MAXIMUM_TRANSLATION + 4)    /* steps whose energy was not finite */
#define STATE_CERTIFIED (STATE_MAXIMUM_TRANSLATION + 5)     /* steps evaluated again, exactly */
#define STATE_LARGEST_ERROR (STATE_MAXIMUM_TRANSLATION + 6) /* of those steps' energy changes, relative
                                                               to its bound */
/* The region that steps are confined to (src/sampling/README.md, "Near the solute"). */
#define STATE_REGION_MOLECULES (STATE_MAXIMUM_TRANSLATION + 7) /* that are moved; 0: all, and no region */
#define STATE_REGION_CENTRE (STATE_REGION_MOLECULES + 1)       /* x, y, z, angstrom */
#define STATE_REGION_SQUARE (STATE_REGION_MOLECULES + 4)       /* of its radius */
#define STATE_REGION_FIRST (STATE_REGION_MOLECULES + 5)        /* their numbers: step s moves the (s % count)th */
/* With places for so many of them. */
STARPMC_INLINE int chain_state_size(int molecules) { return STATE_REGION_FIRST + molecules; }

/* record: double, one array of l.steps values per field: what a window tells the host. */
#define RECORD_ACCEPTED 0
#define RECORD_TERMS 1 /* running totals after the step */
#define RECORD_FIELDS (RECORD_TERMS + TERMS)

/* Where a pair of site types keeps what. All 0: the four built-in coefficients serve MM and QM/MM
   pairs alike, and there is no more. A function is one of the user's (kernels/potential.hpp): 1 where
   the pair has it, 0 where it has not, then its coefficients. */
typedef struct {
  int more;          /* values behind the first four */
  int qmmm;          /* the first of QM/MM pairs' four */
  int mm_function;   /* the first value of MM pairs' function */
  int qmmm_function; /* of QM/MM pairs' */
} PairLayout;

/* topology_reals: per molecule type and site (x, y, z, charge); then per pair of site types
   (c12, c6, shift, slope): V = c12/r^12 - c6/r^6 + shift + slope r inside the cutoff, and more where
   the PairLayout says so.
   topology_integers: type of each molecule (l.molecules), sites of each molecule type, then the
   site type of each site of each molecule type. */
typedef struct {
  int molecule_types;
  int sites;      /* most sites of any molecule type: the stride */
  int site_types;
  int molecules;  /* MM molecules, not padded */
  int padded_molecules;
  double largest_radius; /* distance of a site from its molecule's centre, over all types */
  PairLayout pairs;
} TopologyShape;

STARPMC_INLINE int topology_site(TopologyShape t, int type, int site) {
  return 4 * (type * t.sites + site);
}
STARPMC_INLINE int topology_pair(TopologyShape t, int a, int b) {
  return 4 * t.molecule_types * t.sites + (4 + t.pairs.more) * (a * t.site_types + b);
}
STARPMC_INLINE int topology_reals_size(TopologyShape t) {
  return 4 * t.molecule_types * t.sites + (4 + t.pairs.more) * t.site_types * t.site_types;
}
STARPMC_INLINE int topology_site_count(TopologyShape t, int type) {
  return t.padded_molecules + type;
}
STARPMC_INLINE int topology_site_type(TopologyShape t, int type, int site) {
  return t.padded_molecules + t.molecule_types + type * t.sites + site;
}
STARPMC_INLINE int topology_integers_size(TopologyShape t) {
  return t.padded_molecules + t.molecule_types + t.molecule_types * t.sites;
}

/* solute: double, five arrays of `nuclei` values: x, y, z, nuclear charge, site type. */
#define SOLUTE_FIELDS 5

/* grid_blocks: double, BLOCK_FIELDS values per compact block.
   grid_points: real, per compact block arrays of STARPMC_BLOCK_POINTS values: x, y, z (relative to
   its origin), charge, and 1/R^2, R the point's extent (A), 0 for a bare point; unused points have
   charge 0. In fixed precision x, y, z are fixed_coordinate() of the points' own positions, the
   others fp32 bits. */
#define BLOCK_ORIGIN 0 /* x, y, z */
#define BLOCK_RADIUS 3 /* largest distance of a point from it, at most half the shortest edge */
#define BLOCK_EXTENT 4 /* largest extent of a point, 0 where all are bare */
#define BLOCK_FIELDS 5
#define STARPMC_BLOCK_VALUES (5 * STARPMC_BLOCK_POINTS)
/* Which pairs of sites and blocks lie inside the cutoff is told with this margin, wider than the
   rounding of an fp32 distance inside any box. */
#define BLOCK_MARGIN 1e-3
/* A site this far beyond a block's radius, or beyond radius and extent, is farther than the minimum
   distance from every point and outside every point's extent. */
#define BLOCK_CLOSE 0.02

/* Inside a point's extent R, 1/r is replaced by (c0 + c1 s^2 + c2 s^4)/R with s = r/R, the potential
   of a cloud of charge 1 that joins 1/r with its slope at R and has no second moment: unlike a
   sphere's, its mean over the places of a site is that of the bare point. See kernels/README.md. */
#define EXTENT_C0 2.8125 /* 45/16 */
#define EXTENT_C1 -3.125 /* -50/16 */
#define EXTENT_C2 1.3125 /* 21/16 */

/* A coordinate as a fraction of the edge, in units of 2^-32, wrapped into the box: differences of two
   wrap to the nearest image as integers overflow. */
STARPMC_INLINE int fixed_coordinate(double position, double edge) {
  const double fraction = position / edge;
  const double units = (fraction - floor(fraction)) * 4294967296.0; /* [0, 2^32] */
  return (int)(unsigned int)(STARPMC_WORD64)rint(units);
}
/* Length of one unit. */
STARPMC_INLINE double fixed_unit(double edge) { return edge / 4294967296.0; }

/* What every pair energy needs to know. */
typedef struct {
  double box[3];
  double coulomb_cutoff;
  double vdw_cutoff;
} Interaction;

/* Whether molecules meet anything that stays: else the static terms are not computed. */
STARPMC_INLINE int has_static_terms(Interaction interaction, int nuclei) {
  (void)interaction;
  return nuclei > 0;
}

/* Constants of a step's proposal: a pure function of them and the picked molecule's pose. */
typedef struct {
  STARPMC_WORD64 seed;
  STARPMC_WORD64 first_step;
  unsigned int chain;
  unsigned int steps;
  double thermal_energy; /* kT, kJ/mol */
} StepRange;

/* Bound on the error of a step's energy change: absolute, plus relative to the energies it is the
   difference of. */
typedef struct {
  double absolute; /* kJ/mol */
  double relative;
  double grid; /* the grid term's part of `absolute`, which may be unbounded without it */
} DecisionBound;

/* How much an MM energy term counts in that: van der Waals repulsion is so much steeper than a charge's
   energy that a place's error changes it 12 times as much. */
#define STARPMC_MAGNITUDE_WEIGHT(term) ((term) == TERM_MM_VDW ? 12.0 : 1.0)

/* magnitude: sum of the absolute values of the energies that the change is computed from. */
STARPMC_INLINE double decision_error_bound(DecisionBound bound, double magnitude) {
  return bound.absolute + bound.relative * magnitude;
}

/* Of the grid term's part alone. */
STARPMC_INLINE double grid_error_bound(DecisionBound bound, double magnitude) {
  return bound.grid + bound.relative * magnitude;
}

/* Tuning of step sizes at the end of a window, where it is active. */
typedef struct {
  double target_acceptance;
  double largest_translation;
  double largest_half_turns;
  int active;
  int padding;
} StepTuning;

#ifdef __cplusplus
}  // namespace starpmc
#endif
#endif
