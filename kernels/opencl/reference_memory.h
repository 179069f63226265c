/* Local memory of a work-group of reference_field; in the common subset of C++ and OpenCL C. The includer
   has included common/potential_lattice.h. */
#ifndef STARPMC_OPENCL_REFERENCE_MEMORY_H
#define STARPMC_OPENCL_REFERENCE_MEMORY_H

#ifdef __cplusplus
namespace starpmc::opencl {
#endif

typedef struct {
  double charge;
  double weights[3][4];
  int node[3]; /* LatticePlace */
  int level;
  int site; /* of the molecule */
  int padding;
} SiteSpline;

typedef struct {
  SiteSpline sites[STARPMC_GROUP_SITES];
  double rows[STARPMC_GROUP_SITES * 16]; /* sums along z */
  float node_weights[STARPMC_GROUP_NODES];
  int node_places[STARPMC_GROUP_NODES]; /* of their first components, from the level's first */
  SiteGroup group;
  int taken; /* sites */
  int padding;
} ReferenceMemory;

#ifdef __cplusplus
}  // namespace starpmc::opencl
#endif
#endif
