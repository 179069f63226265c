#pragma once

#include <optional>
#include <span>
#include <string>

#include "kernels/compiled/machine_code.hpp"
#include "kernels/compiled/places.hpp"
#include "kernels/molecule_pairs.hpp"

namespace starpmc::compiled {

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
