#pragma once

#include <nlohmann/json.hpp>

#include "io/energy_terms.hpp"

namespace starpmc {

inline nlohmann::json energy_terms_state(const EnergyTerms& terms) { return terms.values(); }
inline EnergyTerms energy_terms_from(const nlohmann::json& state) {
  const auto v = state.get<std::array<double, 5>>();
  return {v[0], v[1], v[2], v[3], v[4]};
}

}  // namespace starpmc
