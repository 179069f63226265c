#include "base/nested_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace starpmc {
namespace {

using nlohmann::json;

std::string brackets(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') +
         std::string(static_cast<std::size_t>(depth), ']');
}

/// Arrays of one element each, the innermost empty.
std::string cbor_arrays(int depth) {
  return std::string(static_cast<std::size_t>(depth - 1), '\x81') + '\x80';
}

TEST(NestedJson, DocumentsAreReadAsTheyAre) {
  const json document = {{"a", {1, -2, 3.5, "text", nullptr, true}}, {"b", json::object()}};
  EXPECT_EQ(parse_json(document.dump()), document);
  const auto bytes = json::to_cbor(document);
  EXPECT_EQ(parse_cbor({reinterpret_cast<const char*>(bytes.data()), bytes.size()}), document);
}

TEST(NestedJson, DepthIsBounded) {
  EXPECT_NO_THROW(parse_json(brackets(kDeepestJson)));
  EXPECT_NO_THROW(parse_cbor(cbor_arrays(kDeepestJson)));
  for (const int depth : {kDeepestJson + 1, 500'000}) {
    EXPECT_THROW(parse_json(brackets(depth)), json::other_error) << depth;
    EXPECT_THROW(parse_cbor(cbor_arrays(depth)), json::other_error) << depth;
  }
  // Objects and arrays in turns, and without an end.
  std::string deep;
  for (int i = 0; i < 300'000; ++i) deep += "{\"a\":[";
  EXPECT_THROW(parse_json(deep), json::other_error);
}

TEST(NestedJson, WhatIsNoDocumentIsRefused) {
  for (const char* text : {"", "{", "[1,]", "nan", "{\"a\" 1}"}) {
    EXPECT_THROW(parse_json(text), json::parse_error) << text;
  }
  EXPECT_THROW(parse_cbor("\x81"), json::parse_error);
  EXPECT_THROW(parse_cbor(""), json::parse_error);
}

}  // namespace
}  // namespace starpmc
