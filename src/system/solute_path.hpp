#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "system/geometry.hpp"

namespace starpmc {

/// Geometries of one molecule along a reaction path.
struct SolutePath {
  struct Image {
    std::vector<Vector3> positions;  ///< angstrom; each image lies on the one before
    double coordinate = 0;           ///< length of the path from the first image, angstrom u^1/2
    double largest_step = 0;         ///< of an atom from the image before, angstrom
    std::optional<double> energy_hartree;  ///< energy_hartree=... of the title
    std::optional<double> charge;          ///< charge=... of the title, elementary charges
    std::optional<double> multiplicity;    ///< multiplicity=... of the title
  };

  std::vector<std::string> elements;  ///< "C", "Cl", ...
  std::vector<double> masses;         ///< g/mol
  std::vector<Image> images;          ///< two or more
  std::vector<std::string> warnings;  ///< of images that are alike or seem out of order
};

/// A step of an atom between neighbouring images, in angstrom, that is always a jump; and one that
/// is where it is also kJumpFactor times the median of the path's largest steps.
inline constexpr double kJumpAngstrom = 1.0;
inline constexpr double kUnevenJumpAngstrom = 0.25;
inline constexpr double kJumpFactor = 4;

/// Reads a path from an XYZ file with several frames. The first image stays where it is; each other
/// is superposed on the one before, weighted by mass.
/// @throws InputError naming file, line and image where there are fewer than two images, where an
///         image has other atoms or another order than the first, or where the path jumps
SolutePath read_solute_path(const std::filesystem::path& path);

}  // namespace starpmc
