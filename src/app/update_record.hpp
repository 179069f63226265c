#pragma once

#include <cstdint>

#include "io/qm_updates.hpp"
#include "qm/engine.hpp"

namespace starpmc {

/// What an engine's result says of an update, but for the jump and for what is done to its density.
QmUpdateRecord update_record(std::uint64_t step, const QmResult& result);

/// Fills in the jump since the update before. With E, E' the embedded energies of the last density
/// D and the new one D', V, V' the potentials of the MM charges then and now and I the interaction,
///
///     jump = E'(D', V') - [E(D, V) + I(D, V') - I(D, V)],
///
/// whose bracket is the energy of the old density with the present charges: by the variational
/// principle not above 0. Where the engine does not tell I, the change that was sampled stands for
/// I(D, V') - I(D, V), and the jump contains its errors of quadrature.
/// @param sampled_change of the electrostatic energy since the last update, kJ/mol
void set_jump(QmUpdateRecord& record, const QmUpdateRecord& last, const QmResult& result,
              double sampled_change);

}  // namespace starpmc
