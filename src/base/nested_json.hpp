#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace starpmc {

/// Arrays and objects within one another. What copies, writes or takes apart a document recurses:
/// without a bound a small file could use up the stack.
inline constexpr int kDeepestJson = 100;

/// Both @throws nlohmann::json::exception for what is no document, or one nested deeper.
nlohmann::json parse_json(std::string_view text);
nlohmann::json parse_cbor(std::string_view bytes);

}  // namespace starpmc
