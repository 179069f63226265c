#include "io/sha256.hpp"

#include <openssl/evp.h>

#include <array>
#include <bit>
#include <vector>

#include "error.hpp"

namespace starpmc {
namespace {

void check(int result) {
  if (result != 1) throw RunError("OpenSSL cannot compute SHA-256");
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

std::string Sha256::hexadecimal_digest() const {
  // Finalising destroys the state, so a copy is finalised.
  const std::unique_ptr<evp_md_ctx_st, Release> copy(EVP_MD_CTX_new());
  check(copy ? 1 : 0);
  check(EVP_MD_CTX_copy_ex(copy.get(), context_.get()));
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  check(EVP_DigestFinal_ex(copy.get(), digest.data(), &length));
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < length; ++i) {
    text += digits[digest[i] >> 4];
    text += digits[digest[i] & 15];
  }
  return text;
}

void DecisionHash::add(bool accepted) { add(std::array<unsigned char, 1>{accepted}); }

void DecisionHash::add(std::span<const unsigned char> decisions) {
  std::vector<std::byte> bytes;
  bytes.reserve(decisions.size());
  for (unsigned char decision : decisions) bytes.push_back(std::byte{decision != 0});
  hash_.add(bytes);
}

}  // namespace starpmc
