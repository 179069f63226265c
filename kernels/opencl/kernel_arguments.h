/* Structures that the host passes to kernels by value; in the common subset of C++ and OpenCL C.
   The includer has included common/layout.h. */
#ifndef STARPMC_OPENCL_KERNEL_ARGUMENTS_H
#define STARPMC_OPENCL_KERNEL_ARGUMENTS_H

#ifdef __cplusplus
namespace starpmc::opencl {
#endif

/* Where things are in a window's buffers, and how many of them the window really has. */
typedef struct {
  WindowLayout layout;
  TopologyShape topology;
  int steps;
  int candidates;
  int starts;
} WindowShape;

/* What every pair sum needs, prepared by the host. */
typedef struct {
  double box[3];
  double inverse_box[3];
  double half_shortest_edge;
  double coulomb_cutoff;
  double coulomb_cutoff_squared;
  double inverse_square; /* 1/rc^2 */
  double twice_inverse;  /* 2/rc */
  double vdw_cutoff;
  double vdw_cutoff_squared;
} PairConstants;

/* Sizes that the host reserves memory for and kernels lay out.
   How the acceptance of one candidate changes the energy change of a later one: square matrices, one
   per MM term, one for the magnitude and, where the solute responds, one for the polarisation; a row
   per accepted candidate. */
#define DIFFERENCE_MAGNITUDE MM_TERMS
#define DIFFERENCE_POLARISATION (MM_TERMS + 1)
#define DIFFERENCE_FIELDS (MM_TERMS + 2)
/* The energy change of a candidate by itself: the MM terms', the polarisation's, that of all field
   terms, the magnitude. */
#define OWN_POLARISATION MM_TERMS
#define OWN_FIELD (MM_TERMS + 1)
#define OWN_MAGNITUDE (MM_TERMS + 2)
#define OWN_FIELDS (MM_TERMS + 3)
/* Parts of the sum of a step's differences, each by an item. */
#define DIFFERENCE_PARTS 2
/* Values per step of Occupation::bound and change: while there is neither, they hold those parts. */
#define STEP_ENERGIES                                                                   \
  (1 + TERMS > DIFFERENCE_PARTS * DIFFERENCE_FIELDS ? 1 + TERMS                         \
                                                    : DIFFERENCE_PARTS * DIFFERENCE_FIELDS)

/* Work-groups that add up a window's energies, one kind after the other, and what one does. Those of a
   launch of their own (window_add_up) are small, of few registers; where they are of the kernel that
   decides, few fit a compute unit, so each does more. */
typedef struct {
  int mm;          /* for sums of MM energies */
  int differences; /* of candidates, by tiles or by pairs */
  int own;         /* for candidates' own changes of the polarisation energy */
} AddUpGroups;
#define ADD_UP_GROUP 128       /* items of a small one: every device whose last group goes on takes them */
#define PAIRS_PER_ITEM 4       /* of a large one, each a difference */
#define SUM_ENTRIES 16         /* entries that it adds up one MM term of */
#define DIFFERENCE_ROWS 16     /* accepted candidates of a tile of differences */
#define DIFFERENCE_COLUMNS 32  /* later candidates of it */
#define OWN_PER_GROUP 4        /* candidates that it finds the solute's own response to */
#define GRID_SUMS_PER_GROUP 4  /* candidates that it adds up the density's parts of */

/* Parts of the sum of a component's changes in a window, each by an item. They lie where the answers to
   doubts were. */
#define RESPONSE_PARTS 4

/* Arrays that a task's windows find where all lies that they hand to each other (window_arrays.cl), all
   in whole words of four bytes. */
#define HANDED_ARRAYS 10
typedef struct {
  int place[HANDED_ARRAYS]; /* in that memory, words */
  int words[HANDED_ARRAYS]; /* 0: none */
} HandedArrays;

/* What pair_virial works on. */
typedef struct {
  Interaction interaction;
  TopologyShape topology;
  double solute_centre[3];
  int first_molecule;
  int nuclei;
  int blocks; /* of the density */
  int padding;
} VirialShape;

#ifdef __cplusplus
}  // namespace starpmc::opencl
#endif
#endif
