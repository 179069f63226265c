#pragma once

#include "qm/solute_reference.hpp"

namespace starpmc {

/// The tables of a reference, shared by all chains.
class ReferenceTables {
 public:
  explicit ReferenceTables(const SoluteReference&) {}
};

}  // namespace starpmc
