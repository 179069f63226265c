#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/energy_terms.hpp"

namespace starpmc {

inline nlohmann::json energy_terms_state(const EnergyTerms& terms) { return terms.values(); }
/// Of a state saved before there were the last terms: these are 0.
inline EnergyTerms energy_terms_from(const nlohmann::json& state) {
  std::array<double, TERMS> values{};
  for (std::size_t i = 0; i < std::min(values.size(), state.size()); ++i) values[i] = state[i];
  return EnergyTerms::of(values);
}

}  // namespace starpmc
