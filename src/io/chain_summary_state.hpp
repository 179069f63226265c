#pragma once

#include <nlohmann/json_fwd.hpp>

#include "io/run_summary.hpp"

namespace starpmc {

/// Every bit of a chain's results, for another process of the run; summary.json is for readers.
nlohmann::json chain_summary_state(const ChainSummary& chain);
/// @throws nlohmann::json::exception where something is missing
ChainSummary chain_summary_from(const nlohmann::json& state);

}  // namespace starpmc
