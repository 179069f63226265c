#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace starpmc {

/// A document as the text of a file: indented by two blanks, with a line break at its end. Texts
/// that are not UTF-8, which JSON cannot hold, are written as shown_text() shows them, so that
/// nothing a document names can keep it from being written.
std::string json_text(const nlohmann::json& document);
std::string json_text(const nlohmann::ordered_json& document);

}  // namespace starpmc
