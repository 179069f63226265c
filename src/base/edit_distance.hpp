#pragma once

#include <cstddef>
#include <string_view>

namespace starpmc {

/// Levenshtein distance: how many letters must be put in, left out or changed. For suggesting the
/// nearest known name.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace starpmc
