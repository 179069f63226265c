/* Sum and maximum over a work-group, in a fixed order. */
#ifndef STARPMC_OPENCL_REDUCTION_H
#define STARPMC_OPENCL_REDUCTION_H

#include "opencl/portable.h"

/* Every item gets the sum; `shared` has one value per item, their number is a power of two. */
static inline double group_sum(double value, __local double *shared) {
  const int item = (int)get_local_id(0);
  shared[item] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_size = (int)get_local_size(0) / 2; half_size > 0; half_size /= 2) {
    if (item < half_size) shared[item] += shared[item + half_size];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const double sum = shared[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return sum;
}

static inline double group_maximum(double value, __local double *shared) {
  const int item = (int)get_local_id(0);
  shared[item] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_size = (int)get_local_size(0) / 2; half_size > 0; half_size /= 2) {
    if (item < half_size && shared[item + half_size] > shared[item]) {
      shared[item] = shared[item + half_size];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const double maximum = shared[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return maximum;
}

#endif
