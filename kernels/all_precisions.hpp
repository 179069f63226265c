#pragma once

#include "kernels/precision.hpp"

/// Instantiates a function template without overloads for every precision.
#define STARPMC_FOR_ALL_PRECISIONS(function)            \
  template decltype(function<double>) function<double>; \
  template decltype(function<float>) function<float>;   \
  template decltype(function<FixedCoordinate>) function<FixedCoordinate>;

/// The same of a class template, named with its key: struct ChainData.
#define STARPMC_CLASS_FOR_ALL_PRECISIONS(type) \
  template type<double>;                       \
  template type<float>;                        \
  template type<FixedCoordinate>;
