#pragma once

#include "qm/solute_reference.hpp"

namespace starpmc {

/// For PutFields and TakeFields.
template <class Error, class Field>
void table_error_fields(Error& error, const Field& field) {
  field("rms_kj_per_mol", error.rms_kj_per_mol);
  field("largest_kj_per_mol", error.largest_kj_per_mol);
  field("moves", error.moves);
}

}  // namespace starpmc
