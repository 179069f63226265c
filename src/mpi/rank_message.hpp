#pragma once

#include <nlohmann/json.hpp>

#include "mpi/ranks.hpp"

namespace starpmc {

struct Ranks::Message {
  unsigned from = 0;
  nlohmann::json content;
};

}  // namespace starpmc
