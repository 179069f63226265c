#pragma once

#include <span>
#include <string>

#include "kernels/compiled/vector_text.hpp"
#include "kernels/program.hpp"

namespace starpmc::compiled {

/// Whether vector_operation knows an operation: all but sines, cosines and tangents, whose large
/// arguments take another path.
bool has_vector_form(Operation operation);

/// Writes one operation on vectors; the transcendental ones in fp64 from
/// kernels/common/functions.h, which is the right place for them in the quick precision, too: they
/// are as fast as a library's.
/// @return the name of the result
std::string vector_operation(VectorText& text, Operation operation, std::span<const std::string> x);

/// What vector_operation calls.
std::string function_declarations(VectorText& text);

}  // namespace starpmc::compiled
