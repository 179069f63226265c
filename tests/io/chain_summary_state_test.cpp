#include "io/chain_summary_state.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace starpmc {
namespace {

QmBlock block(std::uint64_t step, double difference) {
  QmBlock block;
  block.end.step = step;
  block.end.terms = {1.5, 2.5, 3.5, 4.5, 5.5};
  block.end.difference_kj_per_mol = difference;
  block.end.sampled_energy_kj_per_mol = -1800 - difference;
  block.end.dipole_debye = {{0.5, 0.25, -difference}};
  block.end.polarisation_energy_kj_per_mol = -3 * difference;
  block.end.seconds = difference;
  block.mean_terms = {-1, -2, -3, -4, -difference};
  block.probability = 0.5;
  block.accepted = difference < 2;
  return block;
}

TEST(ChainSummaryState, EverythingSurvives) {
  ChainSummary chain;
  chain.equilibration_steps = 77;
  chain.equilibration_end = EquilibrationEnd::not_settled;
  chain.reference = true;
  chain.table_error = {0.001, 0.02, 1260};
  chain.response_error = {0.003, 0.04, 1020};
  chain.averages.pressure_bar = {1.5, 0.5, 0.4, 2, 20, 9, false};
  chain.dispersion_correction_kj_per_mol = -88.5;
  chain.movement = Movement{4, 1.9, 500, 7};
  chain.blocks = {block(77, 1.25), block(1327, 0.75), block(2577, 2.25)};
  chain.response_components = 5;
  chain.steps = 1ULL << 40;
  chain.acceptance = 0.1;
  for (std::size_t i = 0; i < chain.averages.terms.size(); ++i) {
    chain.averages.terms[i] = {-1.0 / (3.0 + static_cast<double>(i)), 0.1, 0.09, 3, 200, 8, true};
  }
  chain.averages.qmmm_coulomb = {-7.7, 0.3, 2, 202, 4, true};
  chain.averages.solute = {8.8, 0.4, 5, 203, 32, false};
  chain.averages.total = {-20345.678912345678, 0.01234, 12, 201, 16, false};
  chain.final_energies = {1.1, 2.2, 3.3, 4.4, 5.5};
  chain.final_solute_energy_kj_per_mol = 6.6;
  chain.isolated_energy_kj_per_mol = -2.2e6;
  chain.isolated_dipole_debye = {{0.1, -0.2, 0.3}};
  chain.drift = {1e-9, -1e-300, 0, 0, 7};
  chain.final_max_translation_angstrom = 0.17;
  chain.final_max_rotation_degrees = 17.3;
  chain.qm_updates = {{.step = 7, .qm_energy_kj_per_mol = -2.1e6, .iterations = 9}};
  chain.qm_interval_steps = 1250;
  chain.qm_restarts = 3;
  chain.certified = {true, 0.3, 99, 0.7};
  chain.decisions_sha256 = "ab";
  chain.final_coordinates_sha256 = "cd";

  const auto bytes = nlohmann::json::to_cbor(chain_summary_state(chain));
  const ChainSummary back = chain_summary_from(nlohmann::json::from_cbor(bytes));

  // summary.json holds every field.
  RunSummary before;
  RunSummary after;
  before.chains = {chain};
  after.chains = {back};
  before.temperature_kelvin = after.temperature_kelvin = 300;
  EXPECT_EQ(nlohmann::json(before), nlohmann::json(after));
  EXPECT_EQ(chain_summary_state(back), chain_summary_state(chain));
  EXPECT_EQ(back.table_error, chain.table_error);
  EXPECT_EQ(back.response_error, chain.response_error);
  EXPECT_EQ(back.averages.total.mean, chain.averages.total.mean);
  EXPECT_EQ(back.drift.mm_vdw, -1e-300);
}

TEST(ChainSummaryState, IncompleteIsRefused) {
  nlohmann::json state = chain_summary_state({});
  state.erase("drift");
  EXPECT_THROW(chain_summary_from(state), nlohmann::json::exception);
}

}  // namespace
}  // namespace starpmc
