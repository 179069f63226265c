#include "io/sha256.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <nlohmann/json.hpp>

#include "io/binary_json.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

void check(int result) {
  if (result != 1) throw RunError("OpenSSL cannot compute SHA-256");
}

constexpr std::size_t decisions_per_chunk = 4096;

std::vector<std::byte> bytes_of(const nlohmann::json& state, const char* name) {
  if (!state.is_object() || !state.contains(name) || !state[name].is_binary())
    throw RunError(std::string("hash of the decisions: ") + name + " is missing or not binary");
  const auto numbers = std::as_bytes(std::span(state[name].get_binary()));
  return {numbers.begin(), numbers.end()};
}

}  // namespace

void Sha256::Release::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  check(context_ ? 1 : 0);
  check(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr));
}

void Sha256::add(std::span<const std::byte> bytes) {
  check(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
}

void Sha256::add(std::string_view text) { add(std::as_bytes(std::span(text))); }

void Sha256::add(std::span<const double> values) {
  static_assert(std::endian::native == std::endian::little, "digests are of little-endian bytes");
  add(std::as_bytes(values));
}

std::array<std::byte, 32> Sha256::digest() const {
  // Finalising destroys the state, so a copy is finalised.
  const std::unique_ptr<evp_md_ctx_st, Release> copy(EVP_MD_CTX_new());
  check(copy ? 1 : 0);
  check(EVP_MD_CTX_copy_ex(copy.get(), context_.get()));
  std::array<std::byte, 32> bytes{};
  check(EVP_DigestFinal_ex(copy.get(), reinterpret_cast<unsigned char*>(bytes.data()), nullptr));
  return bytes;
}

std::string Sha256::hexadecimal_digest() const {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : digest()) {
    text += digits[std::to_integer<std::size_t>(byte >> 4)];
    text += digits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

void DecisionHash::add(bool accepted) { add(std::array<unsigned char, 1>{accepted}); }

void DecisionHash::add(std::span<const unsigned char> decisions) {
  for (const unsigned char decision : decisions) {
    rest_.push_back(std::byte{decision != 0});
    if (rest_.size() < decisions_per_chunk) continue;
    const auto digest = started().digest();
    chain_.assign(digest.begin(), digest.end());
    rest_.clear();
  }
}

Sha256 DecisionHash::started() const {
  Sha256 hash;
  hash.add(chain_);
  hash.add(rest_);
  return hash;
}

std::string DecisionHash::hexadecimal_digest() const { return started().hexadecimal_digest(); }

nlohmann::json DecisionHash::state() const {
  return {{"full_chunks_digest", to_binary(chain_)}, {"unfinished_chunk", to_binary(rest_)}};
}

void DecisionHash::restore(const nlohmann::json& state) {
  std::vector<std::byte> chain = bytes_of(state, "full_chunks_digest");
  std::vector<std::byte> rest = bytes_of(state, "unfinished_chunk");
  if (!chain.empty() && chain.size() != Sha256().digest().size())
    throw RunError("hash of the decisions: full_chunks_digest has " + std::to_string(chain.size()) +
                   " bytes instead of 0 or 32");
  if (rest.size() >= decisions_per_chunk)
    throw RunError("hash of the decisions: unfinished_chunk has " + std::to_string(rest.size()) +
                   " bytes, a full chunk has " + std::to_string(decisions_per_chunk));
  if (std::ranges::any_of(rest, [](std::byte byte) { return byte > std::byte{1}; }))
    throw RunError("hash of the decisions: unfinished_chunk has a byte that is neither 0 nor 1");
  chain_ = std::move(chain);
  rest_ = std::move(rest);
}

}  // namespace starpmc
