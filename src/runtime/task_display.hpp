#pragma once

#include <string>
#include <string_view>

namespace starpmc::codelets {

/// "starpmc_qmmm_coulomb_grid_mixed", perhaps with the hash of a potential behind it, in its parts.
struct CodeletName {
  std::string_view operation;  ///< empty: no name of ours
  std::string_view precision;  ///< "mixed"; empty: none
};
CodeletName parsed_name(std::string_view codelet);

/// How a codelet is shown in traces and pictures.
struct TaskDisplay {
  std::string name;     ///< "QM/MM grid"
  unsigned colour = 0;  ///< 0xRRGGBB
};

/// @param codelet its name, "starpmc_qmmm_coulomb_grid_mixed"; of an unknown one the name is kept
TaskDisplay task_display(std::string_view codelet);

}  // namespace starpmc::codelets
