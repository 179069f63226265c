#pragma once

#include <filesystem>
#include <string>

#include "qm/engine.hpp"

namespace starpmc {

/// A density that never changes, read from a file: no QM program is needed. Its energy is 0.
class FrozenEngine : public QmEngine {
 public:
  /// @param expected_electrons of the solute
  /// @throws InputError for a bad file
  FrozenEngine(const std::filesystem::path& grid_file, int expected_electrons);

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
