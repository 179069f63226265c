#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "kernels/compact_blocks.hpp"
#include "kernels/whole_units.hpp"
#include "runtime/data_handle.hpp"

namespace starpmc {

/// Points in compact blocks, registered in parts of whole groups: one part is one task.
template <class Real>
class BlockedPoints {
 public:
  struct Part {
    std::size_t first_block;
    std::size_t blocks;
    DataHandle headers;
    DataHandle points;
  };

  BlockedPoints(CompactBlocks<Real> blocks, std::size_t parts) : blocks_(std::move(blocks)) {
    const std::size_t count = blocks_.block_count();
    const std::size_t groups = (count + kGroupBlocks - 1) / kGroupBlocks;
    parts = std::clamp<std::size_t>(parts, 1, std::max<std::size_t>(groups, 1));
    for (std::size_t part = 0; part < parts && count > 0; ++part) {
      const std::size_t first = groups * part / parts * kGroupBlocks;
      const std::size_t last = std::min(groups * (part + 1) / parts * kGroupBlocks, count);
      parts_.push_back(part_of(first, last - first));
    }
  }
  /// Handles of its own for some of the blocks; the points outlive them.
  Part part_of(std::size_t first, std::size_t count) {
    return {
        first, count,
        DataHandle::of(
            std::span(blocks_.blocks).subspan(first * BLOCK_FIELDS, count * BLOCK_FIELDS)),
        DataHandle::of(std::span(blocks_.points)
                           .subspan(first * STARPMC_BLOCK_VALUES, count * STARPMC_BLOCK_VALUES))};
  }
  // The handles point into the arrays.
  BlockedPoints(const BlockedPoints&) = delete;
  BlockedPoints& operator=(const BlockedPoints&) = delete;

  const std::vector<Part>& parts() const { return parts_; }
  const CompactBlocks<Real>& blocks() const { return blocks_; }

 private:
  CompactBlocks<Real> blocks_;
  std::vector<Part> parts_;  // destroyed before the arrays
};

}  // namespace starpmc
