#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace starpmc {

/// How much a window and a task of a chain do. Decisions do not depend on it, but the last bits of
/// energies in fp32 do: a resumed chain keeps what it had.
struct ChainSizes {
  std::uint32_t window = 1;          ///< steps
  std::size_t windows_per_task = 0;  ///< 0: each term is a task
  std::size_t mm_parts = 1;
  std::size_t grid_parts = 1;
  bool final = false;

  nlohmann::json state() const {
    return {{"window", window},
            {"windows_per_task", windows_per_task},
            {"mm_parts", mm_parts},
            {"grid_parts", grid_parts},
            {"final", final}};
  }
  static ChainSizes from(const nlohmann::json& state) {
    return {state.at("window").get<std::uint32_t>(),
            state.at("windows_per_task").get<std::size_t>(),
            state.at("mm_parts").get<std::size_t>(), state.at("grid_parts").get<std::size_t>(),
            state.at("final").get<bool>()};
  }
};

}  // namespace starpmc
