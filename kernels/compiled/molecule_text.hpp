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
  mutual_fixed_point  ///< differences wrap by themselves
};
inline constexpr std::size_t kPlaces = 6;
constexpr bool is_mutual(Places places) { return places >= Places::mutual; }
std::string name_of(Places places);

/// LLVM's text of a function for each of `places`, named by name_of:
///   void (i64 count, i64 stride, i64 targets, i64 sources, ptr target_sites, ptr source_sites,
///         ptr box, ptr parts, ptr rows, ptr present, ptr coefficients, ptr squared_cutoffs,
///         ptr coulomb, ptr vdw)
/// with the members of MoleculePairArguments; sources: where there are `rows`, the number of
/// parts; box: edges and their reciprocals, or the units of fixed-point coordinates.
/// @param least lesser squared distances count as this
/// @return nothing where a program has an operation without a form for vectors
std::optional<std::string> molecule_text(std::span<const PairTerm> terms,
                                         std::span<const Places> places, double least, bool single,
                                         InstructionSet set);

}  // namespace starpmc::compiled
