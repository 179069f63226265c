#pragma once

#include <span>
#include <string_view>

#include "system/preprocessor.hpp"
#include "system/topology.hpp"

namespace starpmc {

/// The two van der Waals parameters of a line.
/// @throws InputError if one is no number or negative
VdwParameters parse_vdw(CombinationRule rule, std::string_view first, std::string_view second,
                        const SourceLine& line);

/// A line of [ atomtypes ] in any of GROMACS's forms, with or without bond type and atomic number.
/// @param words of the line, six at least
/// @throws InputError naming file and line
AtomType parse_atom_type(CombinationRule rule, std::span<const std::string_view> words,
                         const SourceLine& line);

}  // namespace starpmc
