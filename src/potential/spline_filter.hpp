#pragma once

#include <cstddef>
#include <span>

namespace starpmc {

/// Values at `count` nodes become the coefficients of the cubic B-spline that has them there, with
/// no curvature at the ends. Several interleaved arrays at a time: element i of array c is
/// values[i * stride + c].
/// @param count at least 2
void filter_to_spline(double* values, std::size_t count, std::size_t stride, std::size_t arrays);

/// The same along the three axes of values [x][y][z][component].
void filter_to_spline(std::span<double> values, const int nodes[3], int components);

}  // namespace starpmc
