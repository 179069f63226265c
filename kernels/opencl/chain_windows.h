/* Windows of several chains with one reference in the same launches, for GPUs: a chain's window keeps
   few of their units busy, and each launch costs the host as long as a hundred steps. What a chain's
   windows hand to each other lies in a piece of memory of its own, all laid out alike; the second
   number of a group is its chain. Of chains whose windows differ in size, all have as many groups as
   the largest: some have nothing to do. */
#ifndef STARPMC_OPENCL_CHAIN_WINDOWS_H
#define STARPMC_OPENCL_CHAIN_WINDOWS_H

#define CHAINS_PARAMETERS __global char *handed_memory, ulong chain_bytes, PLACE(chain_windows)
/* Before the arrays in the chain's memory. */
#define CHAIN_OF_GROUP                                                        \
  __global const ChainWindow *own =                                           \
      (__global const ChainWindow *)OF_PLACE(chain_windows) + get_group_id(1); \
  handed_memory += get_group_id(1) * chain_bytes;

#endif
