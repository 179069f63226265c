#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
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

  /// From several threads at once.
  /// @param frames   the MM molecules of each
  /// @param energies kJ/mol, of each frame
  void evaluate(std::span<const std::vector<Molecule>> frames, std::span<double> energies);

 private:
  std::unique_ptr<SoluteEnergies> take_evaluator();

  const Settings& settings_;
  System system_;
  std::shared_ptr<const ReferenceTables> tables_;
  double own_energy_ = 0;  ///< of every frame: the reference's and the dispersion correction
  std::mutex mutex_;
  std::vector<std::unique_ptr<SoluteEnergies>> idle_;  ///< made when they are needed
};

/// Those of all images at once: a frame is read but once, which takes longer than its energies on
/// many cores, and few frames are work for all workers.
class ImageHamiltonians {
 public:
  explicit ImageHamiltonians(const ProfileImages& images);

  /// @param frames the MM molecules of each
  /// @param stop   asked by all threads
  /// @return [image][frame], kJ/mol; empty where it was stopped
  std::vector<std::vector<double>> operator()(std::span<const std::vector<Molecule>> frames,
                                              const std::function<bool()>& stop);

 private:
  std::vector<std::unique_ptr<ImageHamiltonian>> images_;
};

}  // namespace starpmc
