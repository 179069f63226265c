#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "app/added_images.hpp"
#include "app/inputs.hpp"
#include "app/profile_folder.hpp"
#include "mpi/ranks.hpp"
#include "system/solute_path.hpp"
#include "system/system.hpp"

namespace starpmc {

/// The images of a free energy profile in the box of a configuration, in the order of the path, and
/// the folders of their runs. Each is an ordinary run of its own, which `starpmc resume` knows.
///
/// Images are those of profile.path and those that add() has put between them. An added one has the
/// next free number: of its folder, its random numbers and its place in what is kept of images. No
/// other changes its number with it.
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
  /// Images that have been added.
  std::size_t added() const { return added_.size(); }
  /// As they are sampled: from the one nearest to the box's molecule to the last, then from there
  /// to the first.
  std::vector<std::size_t> order() const;
  /// The one that is most like the QM molecule in the box.
  std::size_t nearest_to_box() const { return nearest_; }
  /// image-01, ... by its number.
  std::filesystem::path folder(std::size_t image) const;
  State state(std::size_t image) const;
  /// The configuration's system with the solute of an image, and its topology.
  System system_of(std::size_t image) const;

  /// Makes the profile's folder with profile.cfg and path.xyz, or finds them as this profile has
  /// them, with the images that have been added. The folder is locked from here on, and rank 0's:
  /// the other ranks take from it which images there are, and write nothing. All ranks call it.
  /// @throws InputError where they are of another profile, or one is writing there; RunError;
  ///         AgreedFailure where there are several ranks
  void open_folder(Ranks& ranks);
  /// Each image with the next.
  /// @param overlaps of each with the next
  std::vector<Neighbours> neighbours(std::span<const double> overlaps) const;
  /// Puts an image between each of these and the next, and keeps that in the folder, if it is this
  /// rank's.
  /// @param after images that get a new one behind them, ascending
  void add(std::span<const std::size_t> after, std::span<const double> overlaps);
  using Words = std::vector<std::string>;  ///< that read_inputs() takes
  /// The inputs of an image that has not been begun, each of whose chains begins in the solvent
  /// that a chain of its neighbour has ended with, and the making of its reference where that chain
  /// has begun; writes the files that they are read from. The reference is found where
  /// begin_ahead() has had it made.
  Words begin(std::size_t image) const;
  /// Of a run by which its reference alone is made, as begin()'s would make it, to the bit, while
  /// the neighbour is sampled.
  Words begin_ahead(std::size_t image) const;
  /// The same before its neighbour has been begun, with a solvent of the configuration: what QM is
  /// told of is that of begin(), to the bit.
  Words preview(std::size_t image) const;
  /// Of one that has.
  /// @param steps of production in all
  Words go_on(std::size_t image, std::uint64_t steps) const;
  /// Steps of production that an image was begun, or last gone on, with.
  std::uint64_t steps_of(std::size_t image) const;
  /// Those that it is to have: sampling.steps, or what plan_steps() has said.
  std::vector<std::uint64_t> planned_steps() const;
  /// Keeps them, so that a profile that is stopped goes on with the same.
  void plan_steps(const std::vector<std::uint64_t>& steps) const;

 private:
  void place();
  std::string identity() const;
  void find_added();
  void insert(const AddedImage& added);
  void require_its_geometry(std::size_t image) const;
  std::filesystem::path topology_of(std::size_t image) const;
  using Solvents = std::vector<std::vector<Molecule>>;  ///< chain by chain, in turn
  std::size_t neighbour_of(std::size_t image) const;
  std::filesystem::path ahead_folder(std::size_t image) const;
  Words words_of(std::size_t image, const std::filesystem::path& output) const;
  /// @return the files, of each solvent one
  std::vector<std::filesystem::path> write_starts(std::size_t image, const Solvents& solvents,
                                                  const char* name) const;
  std::vector<std::filesystem::path> write_reference_starts(std::size_t image) const;
  Words ahead_from(std::size_t image, const std::vector<std::filesystem::path>& starts) const;
  Solvents own_solvents() const;
  Solvents begun_with(std::size_t image) const;
  Solvents ended_with(std::size_t image) const;

  Inputs inputs_;
  SolutePath path_;
  std::vector<std::filesystem::path> topologies_;  ///< of each image; empty: inputs_'s
  std::vector<System> systems_;                    ///< with them
  std::size_t nearest_ = 0;
  std::vector<std::size_t> numbers_;  ///< of the images' folders, from 0
  std::vector<AddedImage> added_;
  ProfileFolder folder_;
};

/// "image 3 of 21"; where images have been added, "image 3 of 22 (image-04)".
std::string image_name(const ProfileImages& images, std::size_t image);

}  // namespace starpmc
