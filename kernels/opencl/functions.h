/* kernels/common/functions.h and angle_functions.h for one double at a time. */
#ifndef STARPMC_OPENCL_FUNCTIONS_H
#define STARPMC_OPENCL_FUNCTIONS_H

#include "opencl/moves.h"

#define r_both(a, b) ((a) && (b))
#define r_either(a, b) ((a) || (b))
#define r_any(mask) (mask)
#define w_entry(table, index) ((table)[index])
#define STARPMC_TABLE __constant const ulong
#define STARPMC_FUNCTION static inline
#include "common/functions.h"
#define STARPMC_FUNCTION static inline
#include "common/angle_functions.h"

#endif
