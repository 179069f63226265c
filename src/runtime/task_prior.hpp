#pragma once

#include <string>
#include <string_view>

namespace starpmc::codelets {

/// What is known of an operation before any of its tasks has run.
struct TaskPrior {
  /// The history of how long so many pairs take (pair_speed.hpp); empty: nothing is known.
  std::string pair_model;
  double pairs = 0;  ///< that take a worker as long as one unit of the operation's work
};

/// @param codelet its name, "starpmc_qmmm_coulomb_grid_mixed"
TaskPrior task_prior(std::string_view codelet);

}  // namespace starpmc::codelets
