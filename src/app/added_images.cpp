#include "app/added_images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "io/json_text.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& file) {
  throw InputError(file.string(), "is no list of the images that were added", "",
                   "put it back, or begin anew with --output.overwrite true");
}

/// Why nothing can be put between two images; "" where something can.
std::string obstacle(const Neighbours& pair) {
  if (!pair.same_topology) {
    return "none is put there, since each of the two has Lennard-Jones parameters of its own "
           "(profile.topologies): give a path with an image between them and its .top file";
  }
  if (!(pair.largest_step >= kNearestImagesAngstrom)) {
    return fmt::format(
        "none is put there, since no atom moves by more than {:.4f} angstrom between them: give "
        "more "
        "sampling.steps or qm.configurations",
        pair.largest_step);
  }
  return "";
}

}  // namespace

std::vector<AddedImage> read_added_images(const fs::path& file) {
  if (!fs::exists(file)) return {};
  std::ifstream stream(file);
  return added_images_in({std::istreambuf_iterator<char>(stream), {}}, file);
}

std::vector<AddedImage> added_images_in(const std::string& text, const fs::path& file) {
  std::vector<AddedImage> added;
  try {
    const auto list = nlohmann::json::parse(text);
    for (const nlohmann::json& image : list.at("images")) {
      const auto number_in = [&](const nlohmann::json& value) {
        const auto number = value.get<std::int64_t>();
        if (number < 1) refuse(file);
        return static_cast<std::size_t>(number - 1);
      };
      const nlohmann::json& between = image.at("between");
      added.push_back({number_in(image.at("image")), number_in(between.at(0)),
                       number_in(between.at(1)), image.at("overlap")});
    }
  } catch (const nlohmann::json::exception&) {
    refuse(file);
  }
  return added;
}

std::string text_of(std::span<const AddedImage> added) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const AddedImage& image : added) {
    list.push_back({{"image", image.number + 1},
                    {"between", {image.before + 1, image.after + 1}},
                    {"overlap", image.overlap}});
  }
  return json_text(nlohmann::ordered_json{{"images", list}});
}

SolutePath::Image image_between(const SolutePath::Image& before, const SolutePath::Image& after) {
  SolutePath::Image middle = before;
  middle.coordinate = 0.5 * (before.coordinate + after.coordinate);
  middle.largest_step = 0.5 * after.largest_step;
  middle.energy_hartree.reset();
  for (std::size_t i = 0; i < middle.positions.size(); ++i) {
    middle.positions[i] = 0.5 * (before.positions[i] + after.positions[i]);
  }
  return middle;
}

ChosenNeighbours choose_neighbours(std::span<const Neighbours> pairs, double least,
                                   std::uint64_t most) {
  ChosenNeighbours found{{}, std::vector<std::string>(pairs.size())};
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    if (pairs[pair].overlap >= least) continue;
    found.reasons[pair] = obstacle(pairs[pair]);
    if (found.reasons[pair].empty()) found.chosen.push_back(pair);
  }
  std::ranges::stable_sort(found.chosen, {}, [&](std::size_t pair) { return pairs[pair].overlap; });
  while (found.chosen.size() > most) {
    found.reasons[found.chosen.back()] =
        "none is put there, since as many have been added as may be: give a larger "
        "profile.most-added-images, or a path with more images";
    found.chosen.pop_back();
  }
  std::ranges::sort(found.chosen);
  return found;
}

}  // namespace starpmc
