#include "io/qm_updates.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "io/json_fields.hpp"

namespace starpmc {
namespace {

using nlohmann::json;

template <class Update, class Field>
void update_fields(Update& update, const Field& field) {
  field("step", update.step);
  field("qm_energy_kj_per_mol", update.qm_energy_kj_per_mol);
  field("electrons_on_grid", update.electrons_on_grid);
  field("dropped_charge", update.dropped_charge);
  field("grid_points", update.grid_points);
  field("jump_kj_per_mol", update.jump_kj_per_mol);
  field("sampling_error_kj_per_mol", update.sampling_error_kj_per_mol);
  field("interaction_kj_per_mol", update.interaction_kj_per_mol);
  field("polarisation_energy_kj_per_mol", update.polarisation_energy_kj_per_mol);
  field("dipole_debye", update.dipole_debye);
  field("iterations", update.iterations);
  field("seconds_embedding", update.seconds_embedding);
  field("seconds_scf", update.seconds_scf);
  field("seconds_density", update.seconds_density);
}

}  // namespace

json to_json_record(const QmUpdateRecord& update) {
  json record;
  update_fields(update, PutFields{record});
  return record;
}

QmUpdateRecord qm_update_from(const json& record) {
  QmUpdateRecord update;
  update_fields(update, TakeFields{record});
  return update;
}

QmAverages average_updates(std::span<const QmUpdateRecord> updates,
                           std::uint64_t equilibration_steps) {
  BlockAverage magnitude;
  std::array<BlockAverage, 3> components;
  BlockAverage polarisation;
  BlockAverage jump;
  for (const QmUpdateRecord& update : updates) {
    // The first one is of the coordinates as they were given.
    if (update.step == 0 || update.step < equilibration_steps) continue;
    if (update.dipole_debye) {
      const auto& dipole = *update.dipole_debye;
      jump.add(update.jump_kj_per_mol);
      magnitude.add(std::hypot(dipole[0], dipole[1], dipole[2]));
      for (std::size_t k = 0; k < 3; ++k) components[k].add(dipole[k]);
    }
    if (update.polarisation_energy_kj_per_mol) {
      polarisation.add(*update.polarisation_energy_kj_per_mol);
    }
  }
  return {magnitude.estimate(),
          {components[0].estimate(), components[1].estimate(), components[2].estimate()},
          polarisation.estimate(),
          jump.estimate()};
}

}  // namespace starpmc
