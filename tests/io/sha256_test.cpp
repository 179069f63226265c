#include "io/sha256.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>

#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

TEST(Sha256, PublishedDigests) {
  Sha256 hash;  // FIPS 180-4 examples
  EXPECT_EQ(hash.hexadecimal_digest(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  hash.add("abc");
  EXPECT_EQ(hash.hexadecimal_digest(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, GoesOnAfterADigest) {
  Sha256 in_pieces;
  in_pieces.add("a");
  EXPECT_EQ(in_pieces.hexadecimal_digest(), in_pieces.hexadecimal_digest());
  in_pieces.add("bc");
  EXPECT_EQ(in_pieces.hexadecimal_digest(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, DoublesAreTheirBytes) {
  Sha256 numbers;
  numbers.add(std::array<double, 1>{1.0});
  Sha256 bytes;
  bytes.add(std::string_view("\0\0\0\0\0\0\xf0\x3f", 8));
  EXPECT_EQ(numbers.hexadecimal_digest(), bytes.hexadecimal_digest());
}

TEST(DecisionHash, OneByteADecision) {
  Sha256 bytes;
  bytes.add(std::string_view("\1\0\1", 3));
  DecisionHash one_by_one;
  for (bool accepted : {true, false, true}) one_by_one.add(accepted);
  EXPECT_EQ(one_by_one.hexadecimal_digest(), bytes.hexadecimal_digest());
  DecisionHash together;
  together.add(std::array<unsigned char, 3>{255, 0, 1});
  EXPECT_EQ(together.hexadecimal_digest(), bytes.hexadecimal_digest());
}

std::vector<unsigned char> example_decisions(std::size_t count) {
  std::vector<unsigned char> decisions;
  for (std::size_t i = 0; i < count; ++i) decisions.push_back(i * i % 7 < 3 ? 1 : 0);
  return decisions;
}

struct ExampleDigest {
  std::size_t decisions;
  const char* digest;
};

// Python:
//   import hashlib
//   def digest(d):
//       h = b""
//       while len(d) >= 4096:
//           h = hashlib.sha256(h + d[:4096]).digest(); d = d[4096:]
//       return hashlib.sha256(h + d).hexdigest()
//   for n in (4095, 4096, 10000): print(n, digest(bytes(i * i % 7 < 3 for i in range(n))))
constexpr std::array<ExampleDigest, 3> example_digests = {{
    {4095, "8141d4213640bd4fb1e977ab42b4f10525e8a8e77ecc586dfb2dfb8228086c4f"},
    {4096, "8d002b57eed8d7e3cbcc397db8705a032dd7e48b4c319e53d37bcbb751bfd743"},
    {10000, "20103b093bab4fc97b3f5ad6ab32b01b862d86424662cad3c04a0b570d9d35f9"},
}};

TEST(DecisionHash, IsPythonsWhateverTheGrouping) {
  for (const ExampleDigest& example : example_digests) {
    const auto decisions = example_decisions(example.decisions);
    for (std::size_t group :
         {std::size_t{1}, std::size_t{200}, std::size_t{4096}, decisions.size()}) {
      DecisionHash hash;
      for (std::size_t first = 0; first < decisions.size(); first += group)
        hash.add(std::span(decisions).subspan(first, std::min(group, decisions.size() - first)));
      EXPECT_EQ(hash.hexadecimal_digest(), example.digest) << group;
    }
  }
}

TEST(DecisionHash, SurvivesACheckpointAnywhere) {
  const ExampleDigest& example = example_digests.back();
  const auto decisions = example_decisions(example.decisions);
  for (std::size_t kept : {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{4096},
                           std::size_t{8191}, std::size_t{9000}, decisions.size()}) {
    DecisionHash before;
    before.add(std::span(decisions).first(kept));
    const auto document = nlohmann::json::from_cbor(nlohmann::json::to_cbor(before.state()));
    DecisionHash after;
    after.add(true);  // restoring forgets it
    after.restore(document);
    EXPECT_EQ(after.hexadecimal_digest(), before.hexadecimal_digest()) << kept;
    after.add(std::span(decisions).subspan(kept));
    EXPECT_EQ(after.hexadecimal_digest(), example.digest) << kept;
  }
}

TEST(DecisionHash, RefusesAForeignDocument) {
  using nlohmann::json;
  DecisionHash hash;
  hash.add(true);
  const std::string digest = hash.hexadecimal_digest();
  const json right = hash.state();
  std::vector<json> wrong(6, right);
  wrong[0] = "text";
  wrong[1].erase("unfinished_chunk");
  wrong[2]["full_chunks_digest"] = "";
  wrong[3]["full_chunks_digest"] = json::binary({1, 2, 3});
  wrong[4]["unfinished_chunk"] = json::binary({2});
  wrong[5]["unfinished_chunk"] = json::binary(std::vector<std::uint8_t>(4096));
  for (const json& document : wrong) {
    EXPECT_THROW(hash.restore(document), RunError) << document;
    EXPECT_EQ(hash.hexadecimal_digest(), digest);
  }
}

}  // namespace
}  // namespace starpmc
