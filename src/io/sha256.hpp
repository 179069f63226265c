#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

struct evp_md_ctx_st;

namespace starpmc {

/// Incremental SHA-256.
class Sha256 {
 public:
  Sha256();
  void add(std::span<const std::byte> bytes);
  void add(std::string_view text);
  /// Adds the eight bytes of each double, little-endian.
  void add(std::span<const double> values);
  /// Digest of everything added so far; adding may go on afterwards.
  std::array<std::byte, 32> digest() const;
  /// digest() as text, 64 hexadecimal digits.
  std::string hexadecimal_digest() const;

 private:
  struct Release {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Release> context_;
};

/// Digest of a chain's decisions, one byte per step: 1 accepted, 0 rejected.
///
/// SHA-256 over chunks of 4096 decisions, so that little of it need be kept in a checkpoint: with H
/// empty at first, every full chunk makes H = SHA-256(H followed by the chunk's bytes); the digest
/// is SHA-256(H followed by the bytes of the unfinished chunk). For fewer than 4096 decisions that
/// is the plain SHA-256 of their bytes. How decisions are grouped in calls of add() does not
/// matter.
class DecisionHash {
 public:
  void add(bool accepted);
  void add(std::span<const unsigned char> decisions);  ///< any non-zero byte counts as accepted
  std::string hexadecimal_digest() const;

  /// H and the bytes of the unfinished chunk.
  nlohmann::json state() const;
  /// Goes on from what state() gave.
  /// @throws RunError if the document is not one of state()'s; nothing is changed then
  void restore(const nlohmann::json& state);

 private:
  Sha256 started() const;

  std::vector<std::byte> chain_;  ///< H: empty or 32 bytes
  std::vector<std::byte> rest_;   ///< fewer than a chunk
};

}  // namespace starpmc
