#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/inputs.hpp"
#include "system/solute_path.hpp"
#include "system/system.hpp"

namespace starpmc {

/// The images of a free energy profile in the box of a configuration, and the folders of their
/// runs. Each is an ordinary run of its own, which `starpmc resume` knows.
class ProfileImages {
 public:
  enum class State { absent, begun, finished };

  /// Reads profile.path and lays it into the box: the image nearest to the QM molecule there onto
  /// it, all others with it.
  /// @param inputs of the configuration
  /// @throws InputError where the path is none or has another molecule, or where the configuration
  ///         is not one for a profile
  explicit ProfileImages(Inputs inputs);

  std::size_t count() const { return path_.images.size(); }
  const Inputs& inputs() const { return inputs_; }
  const SolutePath& path() const { return path_; }
  /// As they are sampled: from the one nearest to the box's molecule to the last, then from there
  /// to the first.
  std::vector<std::size_t> order() const;
  /// image-01, ...
  std::filesystem::path folder(std::size_t image) const;
  State state(std::size_t image) const;
  /// The configuration's system with the solute of an image, and its topology.
  System system_of(std::size_t image) const;

  /// Makes the profile's folder with profile.cfg and path.xyz, or finds them as this profile has
  /// them.
  /// @throws InputError where they are of another profile; RunError
  void open_folder() const;
  /// The inputs of an image that has not been begun, whose solvent is that of its neighbour that
  /// has been sampled; writes the files that they are read from.
  Inputs begin(std::size_t image) const;
  /// Of one that has.
  /// @param steps of production in all
  Inputs go_on(std::size_t image, std::uint64_t steps) const;
  /// Steps of production that an image was begun, or last gone on, with.
  std::uint64_t steps_of(std::size_t image) const;
  /// Those that it is to have: sampling.steps, or what plan_steps() has said.
  std::vector<std::uint64_t> planned_steps() const;
  /// Keeps them, so that a profile that is stopped goes on with the same.
  void plan_steps(const std::vector<std::uint64_t>& steps) const;

 private:
  void place();
  void clear_images() const;
  std::filesystem::path topology_of(std::size_t image) const;
  void write_start(std::size_t image) const;
  std::vector<Molecule> solvent_for(std::size_t image) const;

  Inputs inputs_;
  SolutePath path_;
  std::vector<System> systems_;  ///< with the topology of each image; empty: with inputs_'s
  std::size_t nearest_ = 0;
};

/// "image 3 of 21"
std::string image_name(const ProfileImages& images, std::size_t image);

}  // namespace starpmc
