#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace starpmc::compiled {

/// What coordinates are, and how they become displacements.
enum class Places : std::uint8_t {
  one_image,
  images,  ///< every displacement of sites has a nearest image of its own
  inside,  ///< one image; all pairs inside the cutoffs and farther than the least distance
  // The same with MoleculePairArguments::rows:
  mutual,
  mutual_images,
  mutual_fixed_point,  ///< differences wrap by themselves
  // The same of three sites in lists (MoleculePairArguments::listed):
  mutual_three,
  mutual_three_single,  ///< the sources in single precision, whatever the lanes are
  mutual_three_images,
  mutual_three_single_images,
  mutual_fixed_point_three,
  // And all pairs farther than the least distance:
  mutual_three_apart,
  mutual_three_images_apart,
  mutual_fixed_point_three_apart
};
inline constexpr std::size_t kPlaces = 14;
constexpr bool is_mutual(Places places) { return places >= Places::mutual; }
constexpr bool is_of_three_sites(Places places) { return places >= Places::mutual_three; }
constexpr bool is_fixed_point(Places places) {
  return places == Places::mutual_fixed_point || places == Places::mutual_fixed_point_three ||
         places == Places::mutual_fixed_point_three_apart;
}
constexpr bool have_images(Places places) {
  return places == Places::images || places == Places::mutual_images ||
         places == Places::mutual_three_images || places == Places::mutual_three_single_images ||
         places == Places::mutual_three_images_apart;
}
constexpr bool are_of_single(Places places) {
  return places == Places::mutual_three_single || places == Places::mutual_three_single_images;
}
constexpr bool are_apart(Places places) {
  return places == Places::inside || places >= Places::mutual_three_apart;
}
/// Of its function.
inline std::string name_of(Places places) {
  constexpr std::array<const char*, kPlaces> kNames{"one_image",
                                                    "images",
                                                    "inside",
                                                    "mutual",
                                                    "mutual_images",
                                                    "mutual_fixed_point",
                                                    "mutual_three",
                                                    "mutual_three_single",
                                                    "mutual_three_images",
                                                    "mutual_three_single_images",
                                                    "mutual_fixed_point_three",
                                                    "mutual_three_apart",
                                                    "mutual_three_images_apart",
                                                    "mutual_fixed_point_three_apart"};
  return kNames[static_cast<std::size_t>(places)];
}

}  // namespace starpmc::compiled
