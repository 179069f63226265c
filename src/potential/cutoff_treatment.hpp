#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "config/settings.hpp"
#include "expression/pool.hpp"

namespace starpmc {

/// What a variable becomes, or nothing for one that stays.
using Substitution = std::function<std::optional<expression::Node>(std::string_view variable)>;

/// An expression with others in place of some of its variables.
/// @throws InputError where it is then not defined, such as 1/0
expression::Node substitute(expression::Pool& pool, expression::Node node,
                            const Substitution& substitution);

/// Where and how a pair function V of the variable r ends.
struct Cutoff {
  CutoffTreatment treatment;
  double distance;         ///< rc, A
  double switch_distance;  ///< rs, A
};

/// The function inside the cutoff:
///   truncate     V(r)
///   shift        V(r) - V(rc)
///   force-shift  V(r) - V(rc) - (r - rc) V'(rc)
///   switch       V(r) (1 - 10 x^3 + 15 x^4 - 6 x^5), x = max(0, (r - rs)/(rc - rs))
/// @throws InputError where V or V' is not defined at the cutoff
expression::Node treat(expression::Pool& pool, expression::Node function, const Cutoff& cutoff);

}  // namespace starpmc
