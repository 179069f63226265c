#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/profile_images.hpp"

namespace starpmc {

// What is made of the energies of all images, and decided by it: by rank 0.

/// free_energy.py for a profile.
/// @param arguments after the folder's name
std::vector<std::string> estimate_command(const ProfileImages& images,
                                          std::vector<std::string> arguments = {});
/// What it says goes to standard output.
/// @return its exit status
int run_estimate(const std::vector<std::string>& command);

/// Plans twice the steps for images that too large an error comes from, where there is a
/// profile.until-error.
/// @return whether there are such that may have more
bool plan_more(const ProfileImages& images);

/// Where images are to be added.
struct AddedOrNot {
  int status = 0;                  ///< of the script
  std::vector<std::size_t> after;  ///< images that get a new one behind them
  std::vector<double> overlaps;    ///< of each with the next
};

/// Between neighbours that overlap too little. Why some get none though they should goes to the
/// estimate, which says so.
AddedOrNot choose_added(const ProfileImages& images);

}  // namespace starpmc
