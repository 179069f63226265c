#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "app/profile_images.hpp"
#include "sampling/solute_energies.hpp"
#include "system/system.hpp"

namespace starpmc {

/// The Hamiltonian that an image has been sampled with, as far as images differ in it. StarPU runs.
class ImageHamiltonian {
 public:
  ImageHamiltonian(const ProfileImages& images, std::size_t image);

  /// Several at once, so that no worker waits for the next.
  /// @param frames the MM molecules of each
  /// @return kJ/mol, of each frame
  std::vector<double> operator()(std::span<const std::vector<Molecule>> frames);

 private:
  double own_energy_ = 0;  ///< of every frame: the reference's and the dispersion correction
  std::vector<std::unique_ptr<SoluteEnergies>> evaluators_;  ///< each for one thread
};

}  // namespace starpmc
