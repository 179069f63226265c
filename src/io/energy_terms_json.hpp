#pragma once

#include <nlohmann/json.hpp>

#include "io/energy_terms.hpp"

namespace starpmc {

inline nlohmann::json energy_terms_state(const EnergyTerms& terms) { return terms.values(); }
inline EnergyTerms energy_terms_from(const nlohmann::json& state) {
  return EnergyTerms::of(state.get<std::array<double, TERMS>>());
}

}  // namespace starpmc
