#pragma once

#include <filesystem>
#include <string>

namespace starpmc {

/// Draws the plots of an experiment from its CSV files, beside them, by a script in src/bench
/// (cell_figures.py, paper_figures.py). Where Python or its matplotlib is missing, a warning says
/// how to draw them later.
void draw_figures(const std::filesystem::path& folder, const std::string& script);

}  // namespace starpmc
