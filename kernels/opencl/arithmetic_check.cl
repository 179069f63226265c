#include "opencl/lanes.h"

/* Reciprocal roots by each function there is, for the host to compare (device_check.hpp): in lanes,
   one by one, in fp64. count: a multiple of 16 */
__kernel GROUP_OF(SUM_GROUP) void check_reciprocal_roots(int count, BUFFER(squares),
                                                         BUFFER(roots)) {
  CONSTANT_ARRAY(double, squares);
  ARRAY(double, roots);
  const int items = (int)get_global_size(0);
  for (int first = (int)get_global_id(0) * LANES; first < count; first += items * LANES) {
    real r2[LANES];
    real inverse[LANES];
    for (int lane = 0; lane < LANES; ++lane) r2[lane] = (real)squares[first + lane];
#if LANES == 1
    inverse[0] = lanes_reciprocal_square_root(r2[0]);
#else
    store_real_lanes(lanes_reciprocal_square_root(load_real_lanes(r2)), inverse);
#endif
    for (int lane = 0; lane < LANES; ++lane) {
      roots[first + lane] = (double)inverse[lane];
      roots[count + first + lane] = (double)reciprocal_square_root(r2[lane]);
      roots[2 * count + first + lane] = wide_reciprocal_square_root(squares[first + lane]);
    }
  }
}
