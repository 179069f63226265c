#pragma once

#include <cstdint>

#include "kernels/scalar/moves.hpp"

namespace starpmc {
#define INTEGER64 std::int64_t
// NOLINTBEGIN: in the common subset of C++ and OpenCL C
#include "kernels/common/virial_total.h"
// NOLINTEND
#undef INTEGER64
}  // namespace starpmc
