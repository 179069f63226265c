#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/energy_terms.hpp"

namespace starpmc {

inline void to_json(nlohmann::json& state, const EnergyTerms& terms) { state = terms.values(); }
/// Of a state saved before there were the last terms: these are 0.
inline void from_json(const nlohmann::json& state, EnergyTerms& terms) {
  std::array<double, TERMS> values{};
  for (std::size_t i = 0; i < std::min(values.size(), state.size()); ++i) values[i] = state[i];
  terms = EnergyTerms::of(values);
}

}  // namespace starpmc
