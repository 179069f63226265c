#pragma once

#include <string>
#include <string_view>

namespace starpmc::codelets {

/// How a codelet is shown in traces and pictures.
struct TaskDisplay {
  std::string name;     ///< "QM/MM grid"
  unsigned colour = 0;  ///< 0xRRGGBB
};

/// @param codelet its name, "starpmc_qmmm_coulomb_grid_mixed"; of an unknown one the name is kept
TaskDisplay task_display(std::string_view codelet);

}  // namespace starpmc::codelets
