#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "kernels/compiled/machine_code.hpp"
#include "kernels/molecule_pairs.hpp"

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
std::string name_of(Places places);

/// LLVM's text of a function for each of `places`, named by name_of:
///   void (ptr arguments, ptr target_sites, ptr source_sites, ptr box, ptr parts, i64 sources)
/// of MoleculePairArguments, and those of its members that depend on the kind of places, all in
/// registers; sources: where there are `rows`, the number of parts; box: edges and their
/// reciprocals, or the units of fixed-point coordinates.
/// @param least lesser squared distances count as this
/// @return nothing where a program has an operation without a form for vectors
std::optional<std::string> molecule_text(std::span<const PairTerm> terms,
                                         std::span<const Places> places, double least, bool single,
                                         InstructionSet set);

}  // namespace starpmc::compiled
