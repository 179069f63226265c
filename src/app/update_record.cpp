#include "app/update_record.hpp"

namespace starpmc {

QmUpdateRecord update_record(std::uint64_t step, const QmResult& result) {
  QmUpdateRecord record;
  record.step = step;
  record.qm_energy_kj_per_mol = result.energy_kj_per_mol;
  record.electrons_on_grid = result.electrons_on_grid;
  record.interaction_kj_per_mol = result.interaction_kj_per_mol();
  record.polarisation_energy_kj_per_mol = result.polarisation_energy_kj_per_mol;
  record.dipole_debye = std::to_array(result.dipole_debye);
  record.iterations = result.iterations;
  record.seconds_embedding = result.seconds_embedding;
  record.seconds_scf = result.seconds_scf;
  record.seconds_density = result.seconds_density;
  return record;
}

void set_jump(QmUpdateRecord& record, const QmUpdateRecord& last, const QmResult& result,
              double sampled_change) {
  double change = sampled_change;
  if (last.interaction_kj_per_mol && result.previous_interaction_kj_per_mol) {
    change = *result.previous_interaction_kj_per_mol - *last.interaction_kj_per_mol;
    record.sampling_error_kj_per_mol = sampled_change - change;
  }
  record.jump_kj_per_mol = record.qm_energy_kj_per_mol - last.qm_energy_kj_per_mol - change;
}

}  // namespace starpmc
