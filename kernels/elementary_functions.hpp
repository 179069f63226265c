#pragma once

#include "kernels/program.hpp"

/// FUNCTION(name) for each operation of one operand that <cmath> has by the same name, too: for the
/// cases of a switch.
#define STARPMC_ELEMENTARY_FUNCTIONS(FUNCTION) \
  FUNCTION(sin)                                \
  FUNCTION(cos)                                \
  FUNCTION(tan)                                \
  STARPMC_UNCIRCULAR_FUNCTIONS(FUNCTION)

/// The same but for those of an angle, which have no form for vectors in compiled text.
#define STARPMC_UNCIRCULAR_FUNCTIONS(FUNCTION) \
  FUNCTION(exp)                                \
  FUNCTION(log)                                \
  FUNCTION(asin)                               \
  FUNCTION(acos)                               \
  FUNCTION(atan)                               \
  FUNCTION(sinh)                               \
  FUNCTION(cosh)                               \
  FUNCTION(tanh)                               \
  FUNCTION(erf)                                \
  FUNCTION(erfc)
