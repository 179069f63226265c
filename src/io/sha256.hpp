#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

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
  /// Digest of everything added so far, 64 hexadecimal digits; adding may go on afterwards.
  std::string hexadecimal_digest() const;

 private:
  struct Release {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Release> context_;
};

/// SHA-256 of a chain's decisions, one byte per step: 1 accepted, 0 rejected.
class DecisionHash {
 public:
  void add(bool accepted);
  void add(std::span<const unsigned char> decisions);  ///< any non-zero byte counts as accepted
  std::string hexadecimal_digest() const { return hash_.hexadecimal_digest(); }

 private:
  Sha256 hash_;
};

}  // namespace starpmc
