#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace starpmc::expression {

/// One multiplication: x^left x^right.
struct ChainStep {
  std::uint32_t left;
  std::uint32_t right;
  bool operator==(const ChainStep&) const = default;
};

/// Multiplications that make all these powers of one base, each from powers there are before: as
/// few as possible where a search of bounded length finds out, otherwise by repeated squaring with
/// shared partial products.
/// @param given   powers that are there already, ascending, beginning with 1
/// @param targets powers wanted, at least 1
std::vector<ChainStep> addition_chain(std::span<const std::uint32_t> given,
                                      std::span<const std::uint32_t> targets);

}  // namespace starpmc::expression
