// JSON whatever the bytes in it are.
#include "io/json_text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace starpmc {
namespace {

TEST(JsonText, IsWhatTheLibraryWritesOfUtf8) {
  const nlohmann::json document{{"title", "S\xc3\xa4ure \x1b \x7f\n"},
                                {"numbers", {1, 2.5, nullptr, true}},
                                {"empty", nlohmann::json::object()}};
  EXPECT_EQ(json_text(document), document.dump(2) + "\n");
  nlohmann::ordered_json ordered;
  ordered["b"] = {{"file", "a.gro"}};
  ordered["a"] = nlohmann::ordered_json::array();
  EXPECT_EQ(json_text(ordered), ordered.dump(2) + "\n");
}

TEST(JsonText, ShowsBytesThatAreNotUtf8) {
  nlohmann::json document{{"title", "S\xe4ure"}, {"list", {"\xff"}}};
  document["k\xe4y"] = 1;
  EXPECT_THROW(document.dump(), nlohmann::json::type_error);
  const nlohmann::json read = nlohmann::json::parse(json_text(document));
  EXPECT_EQ(read.at("title"), "S\\xe4ure");
  EXPECT_EQ(read.at("list").at(0), "\\xff");
  EXPECT_EQ(read.at("k\\xe4y"), 1);
}

}  // namespace
}  // namespace starpmc
