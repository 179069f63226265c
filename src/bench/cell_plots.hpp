#pragma once

#include <filesystem>

namespace starpmc {

/// Draws cell-*.svg from the CSV files of the Cell experiment (src/bench/cell_figures.py). Where
/// Python or its matplotlib is missing, a warning says how to draw them later.
void draw_cell_figures(const std::filesystem::path& folder);

}  // namespace starpmc
