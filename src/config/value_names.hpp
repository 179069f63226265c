#pragma once

#include "config/settings.hpp"

namespace starpmc {

/// Words of the configuration for values that are enumerations.
constexpr const char* value_name(Precision precision) {
  switch (precision) {
    case Precision::fp64:
      return "fp64";
    case Precision::mixed:
      return "mixed";
    case Precision::fixed:
      break;
  }
  return "fixed";
}
constexpr const char* value_name(Implementation implementation) {
  switch (implementation) {
    case Implementation::scalar:
      return "scalar";
    case Implementation::simd:
      return "simd";
    case Implementation::opencl:
      return "opencl";
    case Implementation::any:
      break;
  }
  return "any";
}
constexpr const char* value_name(CutoffTreatment treatment) {
  switch (treatment) {
    case CutoffTreatment::truncate:
      return "truncate";
    case CutoffTreatment::shift:
      return "shift";
    case CutoffTreatment::force_shift:
      return "force-shift";
    case CutoffTreatment::switching:
      break;
  }
  return "switch";
}

}  // namespace starpmc
