#pragma once

#include <string>
#include <vector>

#include "io/run_summary.hpp"

namespace starpmc {

/// What is wrong with the results of a finished run, as far as they show it themselves, with its
/// remedy: chains that disagree or are short, production before the system was equilibrated, a
/// system that moved too little.
std::vector<std::string> run_warnings(const RunSummary& summary);

}  // namespace starpmc
