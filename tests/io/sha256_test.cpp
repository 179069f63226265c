#include "io/sha256.hpp"

#include <gtest/gtest.h>

#include <array>

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

}  // namespace
}  // namespace starpmc
