#pragma once

#include <filesystem>
#include <string>

#include "qm/engine.hpp"

namespace starpmc {

/// A stored density of the solute, whose electrons and nuclei lie where its own do.
/// @throws InputError for a bad file, or one of another solute or geometry
DensityGrid read_density_of(const Solute& solute, int charge, const std::filesystem::path& file);

/// A density that never changes, read from a file: no QM program is needed. Its energy is 0.
class FrozenEngine : public QmEngine {
 public:
  /// @param charge of the solute, in elementary charges
  /// @throws InputError as read_density_of()
  FrozenEngine(const Solute& solute, int charge, const std::filesystem::path& grid_file);

  const DensityGrid& quadrature_points() const override { return no_points_; }
  QmResult update(std::span<const double> potential, std::span<const double> nuclear_potential,
                  const PointCharges& charges) override;
  std::string name() const override { return "frozen"; }
  std::string version() const override { return "1"; }

 private:
  DensityGrid no_points_;
  QmResult result_;
};

}  // namespace starpmc
