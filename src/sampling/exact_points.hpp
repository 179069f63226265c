#pragma once

#include <span>
#include <vector>

#include "kernels/common/layout.h"
#include "runtime/data_handle.hpp"

namespace starpmc {

/// Points in the order of compact blocks, with their own positions and in fp64, for exact energies
/// (kernels/common/exact_pairs.h).
class ExactPoints {
 public:
  /// @param headers       BLOCK_FIELDS per compact block
  /// @param slot_of_point where point i of the coordinates went
  /// @param charge        empty: all 0
  ExactPoints(std::span<const double> headers, std::span<const std::uint32_t> slot_of_point,
              std::span<const double> x, std::span<const double> y, std::span<const double> z,
              std::span<const double> charge)
      : headers_(headers.begin(), headers.end()),
        points_(headers.size() / BLOCK_FIELDS * 4 * STARPMC_BLOCK_POINTS, 0.0) {
    const std::span<const double> fields[] = {x, y, z, charge};
    for (std::size_t i = 0; i < slot_of_point.size(); ++i) {
      const std::size_t block = slot_of_point[i] / STARPMC_BLOCK_POINTS;
      const std::size_t place = slot_of_point[i] % STARPMC_BLOCK_POINTS;
      for (std::size_t k = 0; k < 4; ++k) {
        if (fields[k].empty()) continue;
        points_[(4 * block + k) * STARPMC_BLOCK_POINTS + place] = fields[k][i];
      }
    }
    headers_handle_ = DataHandle::of(std::span(headers_));
    points_handle_ = DataHandle::of(std::span(points_));
  }
  // The handles point into the arrays.
  ExactPoints(const ExactPoints&) = delete;
  ExactPoints& operator=(const ExactPoints&) = delete;

  int blocks() const { return static_cast<int>(headers_.size() / BLOCK_FIELDS); }
  const DataHandle& headers() const { return headers_handle_; }
  const DataHandle& points() const { return points_handle_; }
  /// Sum of each block's charges.
  std::vector<double> block_charges() const {
    std::vector<double> sums;
    for (std::size_t block = 0; block < headers_.size() / BLOCK_FIELDS; ++block) {
      double sum = 0;
      for (std::size_t i = 0; i < STARPMC_BLOCK_POINTS; ++i) {
        sum += points_[(4 * block + 3) * STARPMC_BLOCK_POINTS + i];
      }
      sums.push_back(sum);
    }
    return sums;
  }

 private:
  std::vector<double> headers_;
  std::vector<double> points_;
  DataHandle headers_handle_;  // destroyed before the arrays
  DataHandle points_handle_;
};

}  // namespace starpmc
