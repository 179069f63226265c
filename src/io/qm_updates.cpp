#include "io/qm_updates.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "io/optional_json.hpp"

namespace starpmc {
namespace {

using nlohmann::json;

}  // namespace

json to_json_record(const QmUpdateRecord& update) {
  json record{{"step", update.step},
              {"qm_energy_kj_per_mol", update.qm_energy_kj_per_mol},
              {"electrons_on_grid", update.electrons_on_grid},
              {"dropped_charge", update.dropped_charge},
              {"grid_points", update.grid_points},
              {"jump_kj_per_mol", update.jump_kj_per_mol},
              {"iterations", update.iterations},
              {"seconds_embedding", update.seconds_embedding},
              {"seconds_scf", update.seconds_scf},
              {"seconds_density", update.seconds_density}};
  put(record, "sampling_error_kj_per_mol", update.sampling_error_kj_per_mol);
  put(record, "interaction_kj_per_mol", update.interaction_kj_per_mol);
  put(record, "polarisation_energy_kj_per_mol", update.polarisation_energy_kj_per_mol);
  put(record, "dipole_debye", update.dipole_debye);
  return record;
}

QmUpdateRecord qm_update_from(const json& record) {
  QmUpdateRecord update;
  update.step = record.at("step");
  update.qm_energy_kj_per_mol = record.at("qm_energy_kj_per_mol");
  update.electrons_on_grid = record.at("electrons_on_grid");
  update.dropped_charge = record.at("dropped_charge");
  update.grid_points = record.at("grid_points");
  update.jump_kj_per_mol = record.at("jump_kj_per_mol");
  take(record, "sampling_error_kj_per_mol", update.sampling_error_kj_per_mol);
  take(record, "interaction_kj_per_mol", update.interaction_kj_per_mol);
  take(record, "polarisation_energy_kj_per_mol", update.polarisation_energy_kj_per_mol);
  take(record, "dipole_debye", update.dipole_debye);
  update.iterations = record.at("iterations");
  update.seconds_embedding = record.at("seconds_embedding");
  update.seconds_scf = record.at("seconds_scf");
  update.seconds_density = record.at("seconds_density");
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
