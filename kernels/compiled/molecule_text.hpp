#pragma once

#include <optional>
#include <span>
#include <string>

#include "kernels/compiled/row.hpp"
#include "kernels/molecule_pairs.hpp"

namespace starpmc::compiled {

/// LLVM's text of three functions, "one_image", "images" (which finds the nearest image of every
/// displacement of sites) and "fixed_point" (of fixed-point coordinates):
///   void (i64 count, i64 stride, i64 targets, i64 sources, ptr target_sites, ptr source_sites, ptr
///   box,
///         ptr present, ptr coefficients, ptr squared_cutoffs, ptr coulomb, ptr vdw)
/// with the members of MoleculePairArguments; box: edges and their reciprocals, or
/// the units of fixed-point coordinates.
/// @param least lesser squared distances count as this
/// @return nothing where a program has an operation without a form for vectors
std::optional<std::string> molecule_text(std::span<const PairTerm> terms, double least, bool single,
                                         InstructionSet set);

}  // namespace starpmc::compiled
