#include "io/json_text.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "kernels/base/shown_text.hpp"

namespace starpmc {
namespace {

/// Control characters stay: JSON has its own way to write them.
constexpr auto kControlCharacters = [] {
  std::array<char, 33> characters{};
  for (int i = 0; i < 32; ++i) characters[static_cast<std::size_t>(i)] = static_cast<char>(i);
  characters[32] = 0x7f;
  return characters;
}();

std::string utf8_of(const std::string& text) {
  return shown_text(text, {kControlCharacters.data(), kControlCharacters.size()});
}

template <typename Json>
Json in_utf8(const Json& document) {
  if (document.is_string()) return Json(utf8_of(document.template get_ref<const std::string&>()));
  if (!document.is_structured()) return document;
  Json copy = document.is_array() ? Json::array() : Json::object();
  for (const auto& item : document.items()) {
    if (document.is_array()) {
      copy.push_back(in_utf8(item.value()));
    } else {
      copy[utf8_of(item.key())] = in_utf8(item.value());
    }
  }
  return copy;
}

}  // namespace

std::string json_text(const nlohmann::json& document) { return in_utf8(document).dump(2) + "\n"; }

std::string json_text(const nlohmann::ordered_json& document) {
  return in_utf8(document).dump(2) + "\n";
}

}  // namespace starpmc
