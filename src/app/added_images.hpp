#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "system/solute_path.hpp"

namespace starpmc {

/// An image that was put between two neighbours of a profile. Images are named here by the numbers
/// of their folders, which stay as others are added; the first is 0.
struct AddedImage {
  std::size_t number;
  std::size_t before;  ///< neighbours at the time, in the order of the path
  std::size_t after;
  double overlap;  ///< of the neighbours

  friend bool operator==(const AddedImage&, const AddedImage&) = default;
};

/// Those that a profile keeps in its folder, in the order in which they were added; none where
/// there is no such file.
/// @throws InputError where the file is damaged
std::vector<AddedImage> read_added_images(const std::filesystem::path& file);
std::string text_of(std::span<const AddedImage> added);
/// @param file that the text is of
std::vector<AddedImage> added_images_in(const std::string& text, const std::filesystem::path& file);

/// The image in the middle of two neighbours that lie on each other: its positions are the mean of
/// theirs, and so is its coordinate.
SolutePath::Image image_between(const SolutePath::Image& before, const SolutePath::Image& after);

/// An image and the next one.
struct Neighbours {
  double overlap;
  double largest_step;  ///< of an atom from one to the other, angstrom
  bool same_topology;   ///< so that an image between them can have it, too
};

/// Which neighbours get an image between them.
struct ChosenNeighbours {
  std::vector<std::size_t> chosen;   ///< ascending; the pair of the first image is 0
  std::vector<std::string> reasons;  ///< for each pair: why it gets none though it should, or ""
};

/// Nearer neighbours get no image between them, angstrom: an atom's step by so much changes
/// energies by less than kT.
inline constexpr double kNearestImagesAngstrom = 0.02;

/// Those that overlap by less than `least`, the ones that overlap least coming first.
/// @param most images that may still be added
ChosenNeighbours choose_neighbours(std::span<const Neighbours> pairs, double least,
                                   std::uint64_t most);

}  // namespace starpmc
