#pragma once

#include <string>

#include "kernels/potential.hpp"

namespace starpmc::opencl {

/// `-DSTARPMC_COULOMB_POLE=...`: Potential::coulomb_pole, to the last bit.
std::string pole_definition(double coulomb_pole);

/// The user's functions as OpenCL C, for the kernels of one potential.
struct UserFunctions {
  std::string definitions;  ///< options of the compiler
  std::string exact;        ///< goes behind opencl/functions.h
  std::string quick;        ///< goes behind opencl/pair_functions.h; fp64 in every precision
  std::string lanes;        ///< goes behind opencl/lanes.h; in the precision of the pair terms
};
UserFunctions user_functions(const Potential& potential);

/// Tells potentials apart: eight digits, empty where there are no functions.
std::string potential_hash(const Potential& potential);

}  // namespace starpmc::opencl
