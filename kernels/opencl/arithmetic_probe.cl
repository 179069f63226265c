#include "opencl/lanes.h"

/* How fast the device computes, all in registers (ArithmeticLoop in kernels/arguments.hpp).
   Independent chains hide the latency of an operation. */
#define PROBE_CHAINS 8
#define PROBE_SITES 4

/* Item 0 says how many operations all items have made; the comparison, never true, keeps the
   compiler from leaving them out. */
#define PROBE_END(values, count)                                                             \
  ARRAY(double, result);                                                                     \
  double sum = 0;                                                                            \
  for (int k = 0; k < (count); ++k) sum += PROBE_SUM(values[k]);                    \
  if (get_global_id(0) == 0) result[0] = (double)get_global_size(0) * rounds * (count)*LANES; \
  if (get_global_id(0) == 0 || sum == 12345.678) result[1] = sum;

#if STARPMC_CPU_DEVICE
#define PROBE_SUM(value) sum_of_lanes(value)
#else
#define PROBE_SUM(value) ((double)(value))
#endif

#define PROBE_START                                                                      \
  lanes values[PROBE_CHAINS];                                                            \
  for (int k = 0; k < PROBE_CHAINS; ++k) values[k] = (lanes)((real)0.5 + (real)0.1 * k);

__kernel GROUP_OF(SUM_GROUP) void arithmetic_probe_multiply_add(int rounds, BUFFER(result)) {
  PROBE_START
  const lanes factor = (lanes)((real)0.999);
  const lanes term = (lanes)((real)0.001);
  for (int round = 0; round < rounds; ++round) {
    _Pragma("unroll") for (int k = 0; k < PROBE_CHAINS; ++k) {
      values[k] = fma(values[k], factor, term);
    }
  }
  PROBE_END(values, PROBE_CHAINS)
}

__kernel GROUP_OF(SUM_GROUP) void arithmetic_probe_reciprocal_root(int rounds, BUFFER(result)) {
  PROBE_START
  for (int round = 0; round < rounds; ++round) {
    _Pragma("unroll") for (int k = 0; k < PROBE_CHAINS; ++k) {
      values[k] = lanes_reciprocal_square_root(values[k]);
    }
  }
  PROBE_END(values, PROBE_CHAINS)
}

__kernel GROUP_OF(SUM_GROUP) void arithmetic_probe_pair(PairConstants constants, real advance,
                                                        int rounds, BUFFER(result)) {
  const GridReals reals = grid_reals(constants);
  lanes values[PROBE_SITES];
  for (int k = 0; k < PROBE_SITES; ++k) values[k] = (lanes)(0);
  lanes source = (lanes)(0);
  for (int round = 0; round < rounds; ++round) {
    source += advance;
    _Pragma("unroll") for (int k = 0; k < PROBE_SITES; ++k) {
      const lanes dx = (real)(1 + k) - source;
      const lanes dy = (real)(2 + k) - source;
      const lanes dz = (real)(3 + k) - source;
      const lanes r2 = dx * dx + (dy * dy + dz * dz);
      const lanes sum = source * lanes_energy(r2, reals) + values[k];
      values[k] = r2 < (lanes)(reals.cutoff_squared) ? sum : values[k];
    }
  }
  PROBE_END(values, PROBE_SITES)
}
