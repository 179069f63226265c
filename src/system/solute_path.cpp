#include "system/solute_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "kernels/base/error.hpp"
#include "system/close_atoms.hpp"
#include "system/elements.hpp"
#include "system/superposition.hpp"
#include "system/system.hpp"
#include "system/text.hpp"
#include "system/xyz_file.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

std::string name_of_image(std::size_t index) { return fmt::format("image {}", index + 1); }

/// Refuses an image whose atoms are not those of the first.
void check_atoms(const fs::path& path, const std::vector<XyzFrame>& frames, std::size_t image) {
  const std::vector<std::string>& wanted = frames[0].geometry.elements;
  const std::vector<std::string>& found = frames[image].geometry.elements;
  const std::size_t line = frames[image].line;
  if (found.size() != wanted.size()) {
    throw InputError(
        place_of(path, line),
        fmt::format("{} has another number of atoms than the first", name_of_image(image)),
        fmt::format("{} instead of {}", found.size(), wanted.size()),
        "every image of a path has the same atoms in the same order");
  }
  const auto differs = std::mismatch(wanted.begin(), wanted.end(), found.begin());
  if (differs.first == wanted.end()) return;
  const auto atom = static_cast<std::size_t>(differs.first - wanted.begin());
  const bool reordered = std::is_permutation(wanted.begin(), wanted.end(), found.begin());
  throw InputError(place_of(path, line + 2 + atom),
                   fmt::format("atom {} of {} is {} in the first image", atom + 1,
                               name_of_image(image), *differs.first),
                   *differs.second,
                   reordered ? "bring the atoms of every image into the same order"
                             : "every image of a path has the same atoms in the same order");
}

/// Of an even number the lower one.
double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Lays an image onto the one before.
void superpose_image(const SolutePath::Image& before, std::span<const double> masses,
                     SolutePath::Image& image) {
  const Superposition fit = superpose(image.positions, before.positions, masses);
  double square = 0;
  for (std::size_t i = 0; i < masses.size(); ++i) {
    image.positions[i] = fit.centre + rotate(fit.orientation, image.positions[i]);
    const double step = norm(image.positions[i] - before.positions[i]);
    image.largest_step = std::max(image.largest_step, step);
    square += masses[i] * step * step;
  }
  image.coordinate = before.coordinate + std::sqrt(square);
}

/// Atoms of one element that an image seems to have interchanged; empty: none.
std::string interchanged(const SolutePath& path, std::size_t image) {
  const SolutePath::Image& after = path.images[image];
  for (std::size_t i = 0; i < path.elements.size(); ++i) {
    for (std::size_t j = i + 1; j < path.elements.size(); ++j) {
      if (path.elements[i] != path.elements[j]) continue;
      SolutePath::Image exchanged = after;
      exchanged.largest_step = 0;
      std::swap(exchanged.positions[i], exchanged.positions[j]);
      superpose_image(path.images[image - 1], path.masses, exchanged);
      if (exchanged.largest_step > 0.5 * after.largest_step) continue;
      return fmt::format(
          "atoms {} and {} ({}) look interchanged: bring the atoms of every image into the same "
          "order",
          i + 1, j + 1, path.elements[i]);
    }
  }
  return "";
}

void check_jumps(const fs::path& path, const std::vector<XyzFrame>& frames,
                 const SolutePath& read) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < read.images.size(); ++i) {
    steps.push_back(read.images[i].largest_step);
  }
  const double uneven = std::max(kUnevenJumpAngstrom, kJumpFactor * median(steps));
  for (std::size_t i = 1; i < read.images.size(); ++i) {
    const double step = read.images[i].largest_step;
    if (step <= std::min(kJumpAngstrom, uneven)) continue;
    std::string remedy = interchanged(read, i);
    if (remedy.empty()) {
      remedy = fmt::format("give more images between {} and {}, or correct the order of the images",
                           i, i + 1);
    }
    throw InputError(place_of(path, frames[i].line),
                     fmt::format("the path is not continuous: from image {} to image {} an atom "
                                 "moves by too much",
                                 i, i + 1),
                     fmt::format("{:.3f} angstrom", step), remedy);
  }
}

/// How far apart two images lie when one is laid onto the other, angstrom u^1/2.
double distance_of(const SolutePath& path, std::size_t one, std::size_t other) {
  SolutePath::Image moved = path.images[other];
  SolutePath::Image from = path.images[one];
  from.coordinate = 0;
  superpose_image(from, path.masses, moved);
  return moved.coordinate;
}

/// Images in another order than along the path make it longer, and nothing else tells of it.
std::vector<std::string> order_warnings(const fs::path& path, const std::vector<XyzFrame>& frames,
                                        const SolutePath& read) {
  constexpr double same_angstrom = 1e-4;
  std::vector<std::string> warnings;
  const auto length = [&](std::size_t i) {
    return read.images[i].coordinate - read.images[i - 1].coordinate;
  };
  for (std::size_t i = 1; i < read.images.size(); ++i) {
    const std::string place = place_of(path, frames[i].line);
    if (read.images[i].largest_step < same_angstrom) {
      warnings.push_back(fmt::format("{}: image {} is the same as image {}: leave one of them out",
                                     place, i + 1, i));
    } else if (i + 1 < read.images.size() &&
               distance_of(read, i - 1, i + 1) < std::max(length(i), length(i + 1))) {
      warnings.push_back(
          fmt::format("{}: the path turns back at image {}: images {} and {} are nearer to each "
                      "other than one of them is to it; see whether the images are in order",
                      place, i + 1, i, i + 2));
    }
  }
  return warnings;
}

/// In titles of extended XYZ, what stands in quotation marks is one value.
/// @param key with its "="
std::optional<double> number_in(std::string_view title, std::string_view key,
                                const std::string& place, const std::string& what) {
  bool quoted = false;
  for (const std::string_view word : split_words(title)) {
    const bool begins_quoted = quoted;
    if (std::ranges::count(word, '"') % 2 == 1) quoted = !quoted;
    if (begins_quoted || !word.starts_with(key)) continue;
    std::string_view value = word.substr(key.size());
    if (value.size() > 1 && value.starts_with('"') && value.ends_with('"')) {
      value = value.substr(1, value.size() - 2);
    }
    return parse_number(value, place, what);
  }
  return std::nullopt;
}

}  // namespace

SolutePath read_solute_path(const fs::path& path) {
  std::vector<XyzFrame> frames = read_xyz_frames(path);
  if (frames.size() < 2) {
    throw InputError(path.string(), "a path has at least two images",
                     fmt::format("{} frame", frames.size()),
                     "give an .xyz file with all images one after the other");
  }
  SolutePath read;
  read.elements = frames[0].geometry.elements;
  for (const std::string& element : read.elements) {
    read.masses.push_back(element_by_symbol(element)->mass);
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    check_atoms(path, frames, i);
    Geometry& geometry = frames[i].geometry;
    require_apart(geometry.positions,
                  [&](std::size_t atom) { return place_of(path, frames[i].line + 2 + atom); });
    const std::string place = place_of(path, frames[i].line + 1);
    SolutePath::Image image{
        .positions = std::move(geometry.positions),
        .energy_hartree =
            number_in(geometry.title, "energy_hartree=", place, "the energy (Hartree)"),
        .charge = number_in(geometry.title, "charge=", place, "the charge (e)"),
        .multiplicity = number_in(geometry.title, "multiplicity=", place, "the multiplicity")};
    if (i > 0) superpose_image(read.images.back(), read.masses, image);
    read.images.push_back(std::move(image));
  }
  check_jumps(path, frames, read);
  read.warnings = order_warnings(path, frames, read);
  return read;
}

}  // namespace starpmc
