#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "system/superposition.hpp"
#include "system/system.hpp"

namespace starpmc {

/// Poses of molecules tell where their sites are only with the reference geometry that they were
/// made with, which is another where it was taken from other coordinates. Gives the same positions
/// as poses in the reference geometries of one's own.
class PoseTransfer {
 public:
  /// @param stored of the poses to come
  /// @param own    as many types of the same names and sites
  /// @param file   the poses come from, for messages
  /// @throws InputError naming the file and the molecule whose shape is another
  PoseTransfer(std::span<const MoleculeType> stored, std::span<const MoleculeType> own,
               const std::filesystem::path& file);

  /// To the last bit the same where the reference geometries are.
  Molecule operator()(const Molecule& molecule) const;
  std::vector<Molecule> operator()(std::span<const Molecule> molecules) const;

 private:
  struct Fit {
    bool same = true;  ///< the reference geometries
    Superposition own_in_stored{};
  };

  std::vector<Fit> fits_;  ///< of each type
};

}  // namespace starpmc
