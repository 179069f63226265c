#include "opencl/reduction.h"
#include "opencl/window.h"

/* Adds one buffer of partial energies; `first`: there is nothing to add to yet. */
__kernel void add_partial_energies(int count, int first, BUFFER(partial), BUFFER(energies)) {
  CONSTANT_ARRAY(double, partial);
  ARRAY(double, energies);
  const int index = (int)get_global_id(0);
  if (index < count) energies[index] = first ? partial[index] : energies[index] + partial[index];
}

/* Work-groups: (entries, terms). One partial energy of the entry, plus its energy with the start
   positions of the window's other molecules. */
__kernel GROUP_OF(SUM_GROUP) void mm_pair_reduce(WindowShape window, BUFFER(partial),
                                                 BUFFER(table), BUFFER(energies)) {
  CONSTANT_ARRAY(double, partial);
  CONSTANT_ARRAY(real, table);
  ARRAY(double, energies);
  __local double shared[SUM_GROUP];
  const int rows = entry_capacity(window.layout);
  const int index = (int)get_group_id(1) * rows + entry_at(window, (int)get_group_id(0));
  __global const real *row = table + index * rows + start_entry(window.layout, 0);
  double sum = 0;
  for (int slot = (int)get_local_id(0); slot < window.starts; slot += SUM_GROUP) {
    sum += (double)row[slot];
  }
  sum = group_sum(sum, shared);
  if (get_local_id(0) == 0) energies[index] = partial[index] + sum;
}
