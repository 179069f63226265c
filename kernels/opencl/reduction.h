/* Sum over a work-group, in a fixed order. */
#ifndef STARPMC_OPENCL_REDUCTION_H
#define STARPMC_OPENCL_REDUCTION_H

#include "opencl/portable.h"

/* Every item gets the sum; `shared` has one value per item, their number is a power of two. */
#define DEFINE_GROUP_SUM(NAME, TYPE)                                                   \
  static inline TYPE NAME(TYPE value, __local TYPE *shared) {                          \
    const int item = (int)get_local_id(0);                                             \
    shared[item] = value;                                                              \
    barrier(CLK_LOCAL_MEM_FENCE);                                                      \
    for (int half_size = (int)get_local_size(0) / 2; half_size > 0; half_size /= 2) {  \
      if (item < half_size) shared[item] += shared[item + half_size];                  \
      barrier(CLK_LOCAL_MEM_FENCE);                                                    \
    }                                                                                  \
    const TYPE sum = shared[0];                                                        \
    barrier(CLK_LOCAL_MEM_FENCE);                                                      \
    return sum;                                                                        \
  }
/* The same of each `lanes` neighbouring items, a power of two: the first of them gets the sum in its place. */
#define DEFINE_LANE_SUMS(NAME, TYPE)                                                   \
  static inline void NAME(int lanes, TYPE value, __local TYPE *shared) {               \
    const int item = (int)get_local_id(0);                                             \
    shared[item] = value;                                                              \
    barrier(CLK_LOCAL_MEM_FENCE);                                                      \
    for (int half_size = lanes / 2; half_size > 0; half_size /= 2) {                   \
      if (item % lanes < half_size) shared[item] += shared[item + half_size];          \
      barrier(CLK_LOCAL_MEM_FENCE);                                                    \
    }                                                                                  \
  }
DEFINE_LANE_SUMS(lane_sums, double)
DEFINE_LANE_SUMS(lane_sums_units, ulong)
DEFINE_GROUP_SUM(group_sum, double)
DEFINE_GROUP_SUM(group_sum_units, ulong) /* of exact energies */

#endif
