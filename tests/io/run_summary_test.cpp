#include "io/run_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/constants.hpp"

namespace starpmc {
namespace {

using testing::HasSubstr;

RunSummary example() {
  RunSummary summary;
  summary.title = "chorismate in water";
  summary.output_folder = "results/quickstart";
  ChainSummary chain;
  chain.equilibration_steps = 5000;
  chain.steps = 20000;
  chain.acceptance = 0.4123;
  for (std::size_t i = 0; i < 5; ++i)
    chain.averages.terms[i] = {-100.0 * static_cast<double>(i + 1), 1.5, 1.5, 3, 200, 20, true};
  chain.averages.qmmm_coulomb = {-900, 0.25, 0.25, 3, 200, 20, true};
  chain.averages.solute = {21.5, 0.5, 0.5, 3, 200, 20, true};
  chain.averages.total = {-20345.6789, 0.01234, 0.012, 12, 200, 4, false};
  chain.final_energies = {1, 2, 3, 4, 5};
  chain.final_solute_energy_kj_per_mol = 6;
  chain.isolated_energy_kj_per_mol = -2.25e6;
  chain.isolated_dipole_debye = {{1, 0, 0}};
  chain.drift.mm_coulomb = 1e-9;
  chain.final_max_translation_angstrom = 0.17;
  chain.final_max_rotation_degrees = 17.5;
  for (std::uint64_t i = 0; i < 12; ++i)
    chain.qm_updates.push_back({.step = 1000 * i,
                                .qm_energy_kj_per_mol = -2.1e6,
                                .electrons_on_grid = 118.00001,
                                .dropped_charge = -1e-6,
                                .grid_points = 500000,
                                .jump_kj_per_mol = -3.25,
                                .sampling_error_kj_per_mol = 0.0625,
                                .interaction_kj_per_mol = -150,
                                .polarisation_energy_kj_per_mol = -20,
                                .dipole_debye = {{1.5, -2.25, 0.125}},
                                .iterations = 9,
                                .seconds_embedding = 1,
                                .seconds_scf = 2,
                                .seconds_density = 3});
  chain.decisions_sha256 = "ab";
  summary.chains = {chain};
  summary.codelet_timings = {{"mm_pair", "simd", 4, 0.002}};
  summary.worker_tasks = {{"CPU 0", 17, 41, 102.5, 20.5, 10.25}};
  summary.schedule = {50, 123, 2500000, 40};
  summary.steps_per_second = 812.4;
  summary.wall_seconds = 205;
  summary.startup_seconds = 10.5;
  summary.total_seconds = 216;
  summary.seed = 18446744073709551615U;
  summary.temperature_kelvin = 298.15;
  summary.precision = "mixed";
  summary.starpmc_version = "0.1.0";
  summary.hdf5_version = hdf5_library_version();
  summary.qm_engine = "pyscf";
  summary.qm_engine_version = "2.6";
  return summary;
}

TEST(RunSummary, JsonHoldsEverything) {
  const nlohmann::json document = nlohmann::json::parse(nlohmann::json(example()).dump());
  EXPECT_EQ(document["averages"]["qmmm_grid"]["mean"], -500);
  EXPECT_EQ(document["averages"]["total"]["statistical_inefficiency"], 12);
  EXPECT_EQ(document["averages"]["total"]["long_enough"], false);
  EXPECT_DOUBLE_EQ(document["averages"]["total"]["effective_samples"], 200.0 / 12);
  EXPECT_EQ(document["drift"]["mm_coulomb"], 1e-9);
  EXPECT_EQ(document["drift"]["total"], 1e-9);
  EXPECT_EQ(document["qm_updates"].size(), 12U);
  EXPECT_EQ(document["averages"]["qmmm_coulomb"]["mean"], -900);
  EXPECT_EQ(document["averages"]["solute"]["error"], 0.5);
  EXPECT_EQ(document["final_energies"]["qmmm_coulomb"], 9);
  EXPECT_EQ(document["final_energies"]["solute"], 6);
  EXPECT_EQ(document["final_energies"]["total"], 21);
  EXPECT_EQ(document["energy_zero"], "isolated solute");
  EXPECT_EQ(document["isolated_energy_kj_per_mol"], -2.25e6);
  EXPECT_EQ(document["isolated_dipole_debye"][0], 1);
  EXPECT_EQ(document["qm_updates"][3]["jump_kj_per_mol"], -3.25);
  EXPECT_EQ(document["qm_updates"][3]["sampling_error_kj_per_mol"], 0.0625);
  // Updates from the end of equilibration (step 5000) on.
  EXPECT_EQ(document["qm_averages"]["polarisation_energy_kj_per_mol"]["count"], 7);
  EXPECT_EQ(document["qm_averages"]["polarisation_energy_kj_per_mol"]["mean"], -20);
  EXPECT_EQ(document["qm_averages"]["jump_kj_per_mol"]["mean"], -3.25);
  EXPECT_NEAR(document["qm_averages"]["dipole_debye"]["mean"].get<double>(),
              std::hypot(1.5, 2.25, 0.125), 1e-12);
  EXPECT_NEAR(document["qm_averages"]["dipole_components_debye"][1]["mean"].get<double>(), -2.25,
              1e-12);
  EXPECT_EQ(document["polarisation_energy_kj_per_mol"]["mean"], -20);
  EXPECT_EQ(document["codelet_timings"][0]["mean_microseconds"], 500);
  EXPECT_EQ(document["worker_tasks"][0]["tasks"], 17);
  EXPECT_DOUBLE_EQ(document["worker_tasks"][0]["share_qm"], 0.2);
  EXPECT_DOUBLE_EQ(document["worker_tasks"][0]["share_sampling"], 0.5);
  EXPECT_NEAR(document["worker_tasks"][0]["share_idle"], 0.3, 1e-12);
  EXPECT_NEAR(document["worker_tasks"][0]["share_waiting_for_data"], 0.1, 1e-12);
  EXPECT_NEAR(document["worker_tasks"][0]["share_waiting_for_tasks"], 0.15, 1e-12);
  EXPECT_NEAR(document["worker_tasks"][0]["share_nothing_to_do"], 0.05, 1e-12);
  EXPECT_EQ(document["schedule"]["makespan_seconds"], 205);
  EXPECT_EQ(document["schedule"]["lower_bound_seconds"], 123);
  EXPECT_EQ(document["schedule"]["area_bound_seconds"], 50);
  EXPECT_EQ(document["schedule"]["bytes_between_memories"], 2500000);
  EXPECT_EQ(document["schedule"]["copies_between_memories"], 40);
  EXPECT_EQ(document["versions"]["pyscf"], "2.6");
  EXPECT_EQ(document["seed"].get<std::uint64_t>(), 18446744073709551615U);
  EXPECT_EQ(document["units"]["energy"], "kJ/mol");
  EXPECT_THAT(document["units"]["dipole"].get<std::string>(),
              HasSubstr("about the centre of nuclear charge"));
  EXPECT_TRUE(document["warnings"].empty());
  EXPECT_FALSE(document["averages"].contains("dispersion_correction"));
}

TEST(RunSummary, JsonHoldsWarnings) {
  RunSummary summary = example();
  summary.warnings = {"too short", "too hot"};
  EXPECT_EQ(nlohmann::json(summary)["warnings"], nlohmann::json({"too short", "too hot"}));
}

/// What is not known is null, and the table says so.
TEST(RunSummary, WithoutSamplesThereIsNoMean) {
  RunSummary summary = example();
  ChainSummary& chain = summary.chains.front();
  chain.averages.total = {};
  chain.averages.solute = {21.5, 0, 0, 1, 1, 0, false};
  chain.averages.qmmm_coulomb = {-900, 0, 0, 1, 200, 199, false};  // never changed
  const nlohmann::json averages = nlohmann::json(summary)["averages"];
  EXPECT_TRUE(averages["total"]["mean"].is_null());
  EXPECT_TRUE(averages["total"]["error"].is_null());
  EXPECT_EQ(averages["total"]["count"], 0);
  EXPECT_EQ(averages["solute"]["mean"], 21.5);
  EXPECT_TRUE(averages["solute"]["error"].is_null());
  EXPECT_EQ(averages["qmmm_coulomb"]["error"], 0);
  EXPECT_TRUE(nlohmann::json(summary)["total_energy"]["mean"].is_null());
  const std::string table = result_table(summary);
  EXPECT_THAT(table, HasSubstr("  total                     no samples\n"));
  EXPECT_THAT(table, HasSubstr("21.500 (one sample)\n"));
  EXPECT_THAT(table, HasSubstr("  QM-MM Coulomb, both         -900.000\n"));
  summary.chains.push_back(chain);
  const std::string both = result_table(summary);
  EXPECT_THAT(both, HasSubstr("Mean total energy       no samples\n"));
  EXPECT_THAT(both, HasSubstr("R-hat unknown\n"));
  EXPECT_THAT(both, Not(HasSubstr("nan")));
}

/// The terms add up to the total with it.
TEST(RunSummary, DispersionCorrectionIsARow) {
  RunSummary summary = example();
  summary.chains.front().dispersion_correction_kj_per_mol = -88.4969;
  const nlohmann::json average = nlohmann::json(summary)["averages"]["dispersion_correction"];
  EXPECT_EQ(average["mean"], -88.4969);
  EXPECT_EQ(average["error"], 0);
  EXPECT_EQ(average["count"], 200);
  EXPECT_THAT(result_table(summary), HasSubstr("  dispersion correction        -88.497\n"));
  summary.chains.push_back(summary.chains.front());
  EXPECT_THAT(result_table(summary), HasSubstr("  dispersion correction        -88.497\n"));
}

TEST(RunSummary, JsonOfARunWithoutQm) {
  RunSummary summary;
  summary.chains.emplace_back();
  const nlohmann::json document = summary;
  EXPECT_TRUE(document["qm_updates"].is_array());
  EXPECT_TRUE(document["codelet_timings"].is_array());
  EXPECT_EQ(document["qm_engine"], "none");
  EXPECT_EQ(document["energy_zero"], "molecules apart");
  EXPECT_TRUE(document["qm_averages"].empty());
  EXPECT_FALSE(document.contains("dipole_debye"));
}

TEST(RunSummary, JsonOfSeveralChains) {
  RunSummary summary = example();
  summary.chains.push_back(summary.chains.front());
  summary.chains[1].acceptance = 0.5;
  summary.total_energy.mean = -7;
  summary.total_energy.count = 400;
  summary.total_energy.r_hat = std::numeric_limits<double>::quiet_NaN();
  const nlohmann::json document = nlohmann::json::parse(nlohmann::json(summary).dump());
  EXPECT_EQ(document["chains"].size(), 2U);
  EXPECT_EQ(document["chains"][1]["acceptance"], 0.5);
  EXPECT_EQ(document["chains"][0]["averages"]["qmmm_grid"]["mean"], -500);
  EXPECT_EQ(document["total_energy"]["mean"], -7);
  EXPECT_TRUE(document["total_energy"]["r_hat"].is_null());
  EXPECT_FALSE(document.contains("qm_updates"));
}

TEST(RunSummary, MeansOfSeveralChainsUpdates) {
  RunSummary summary = example();
  for (const double shift : {-3.0, -6.0}) {
    summary.chains.push_back(summary.chains.front());
    for (auto& update : summary.chains.back().qm_updates) {
      *update.polarisation_energy_kj_per_mol += shift;
      (*update.dipole_debye)[0] = 0;
    }
  }
  const nlohmann::json document = summary;
  EXPECT_EQ(document["polarisation_energy_kj_per_mol"]["mean"], -23);
  EXPECT_EQ(document["polarisation_energy_kj_per_mol"]["chains"], 3);
  // Standard deviation 3 over the root of 3 chains, times Student's factor of 2 degrees of freedom.
  EXPECT_NEAR(document["polarisation_energy_kj_per_mol"]["error"].get<double>(),
              1.3212774 * std::sqrt(3.0), 1e-6);
  EXPECT_NEAR(document["dipole_debye"]["mean"].get<double>(),
              (std::hypot(1.5, 2.25, 0.125) + 2 * std::hypot(2.25, 0.125)) / 3, 1e-12);
  const std::string table = result_table(summary);
  EXPECT_THAT(table, HasSubstr("-23.0 ± 2.3 kJ/mol (too short to tell)\n"));
  EXPECT_THAT(table,
              HasSubstr("debye (too short to tell), about the centre of nuclear charge; 1.000"));
  EXPECT_EQ(document["jump_kj_per_mol"]["mean"], -3.25);
  EXPECT_THAT(table, HasSubstr("-3.250 kJ/mol (kT is 2.48)"));
}

TEST(RunSummary, ZeroOfTheEnergy) {
  RunSummary summary = example();
  EXPECT_EQ(energy_zero(summary), EnergyZero::isolated_solute);
  EXPECT_THAT(result_table(summary), HasSubstr("the isolated solute, -2250000.000 kJ/mol"));
  summary.chains[0].isolated_energy_kj_per_mol.reset();
  EXPECT_EQ(energy_zero(summary), EnergyZero::qm_program);
  EXPECT_THAT(result_table(summary), HasSubstr("that of the QM program"));
  summary.qm_engine = "frozen";
  EXPECT_EQ(energy_zero(summary), EnergyZero::stored_density);
  summary.qm_engine.clear();
  EXPECT_EQ(energy_zero(summary), EnergyZero::no_solute);
}

TEST(RunSummary, UpdatesSurviveACheckpoint) {
  const QmUpdateRecord update = example().chains[0].qm_updates[3];
  const QmUpdateRecord read =
      qm_update_from(nlohmann::json::from_cbor(nlohmann::json::to_cbor(to_json_record(update))));
  EXPECT_EQ(to_json_record(read), to_json_record(update));
  EXPECT_EQ(read.step, 3000U);
  EXPECT_EQ(read.dipole_debye, update.dipole_debye);
  EXPECT_EQ(read.sampling_error_kj_per_mol, 0.0625);
  EXPECT_EQ(read.interaction_kj_per_mol, -150);
  EXPECT_EQ(read.polarisation_energy_kj_per_mol, -20);
}

TEST(RunSummary, UpdatesWithoutADipole) {
  QmUpdateRecord update = example().chains[0].qm_updates[3];
  update.dipole_debye.reset();
  const nlohmann::json record = to_json_record(update);
  EXPECT_FALSE(record.contains("dipole_debye"));
  EXPECT_FALSE(qm_update_from(record).dipole_debye);
}

TEST(ResultTable, OfSeveralChains) {
  RunSummary summary = example();
  summary.chains.push_back(summary.chains.front());
  summary.total_energy.mean = -20345.5;
  summary.total_energy.error = 360;
  summary.total_energy.error_between_chains = 0.5;
  summary.total_energy.count = 400;
  summary.total_energy.r_hat = 1.02;
  const std::string table = result_table(summary);
  EXPECT_THAT(table, HasSubstr("Chains (2)"));
  EXPECT_THAT(table, HasSubstr("-20346 ± 360 kJ/mol (too short to tell); error within chains "
                               "unknown, between chains 0.50\n"));
  EXPECT_THAT(table, HasSubstr("R-hat 1.020"));
  EXPECT_THAT(table, HasSubstr("20.0 %"));
  EXPECT_THAT(table, HasSubstr("50.0 %"));
  EXPECT_THAT(table, HasSubstr("10.0 %   15.0 %    5.0 %"));
  EXPECT_THAT(table, HasSubstr("60 % of the fastest possible by the performance models (123 s of "
                               "205 s); 2.5 MB moved between memories"));
}

TEST(ResultTable, SaysNothingOfAScheduleThatIsNotKnown) {
  RunSummary summary = example();
  summary.schedule = {};
  EXPECT_THAT(result_table(summary), Not(HasSubstr("Schedule")));
}

TEST(RunSummary, EquilibrationIntoProduction) {
  RunSummary summary = example();
  summary.chains.push_back(summary.chains.front());
  summary.chains[0].steps = 1000;
  summary.chains[1].steps = 2000;
  EXPECT_FALSE(nlohmann::json(summary)["total_energy"].contains("equilibration"));
  EXPECT_THAT(result_table(summary), Not(HasSubstr("Equilibrated")));
  summary.equilibrations = {{.mean_from_there = -10}, {.mean_from_there = -20}};
  EXPECT_THAT(result_table(summary), HasSubstr("before production"));
  // Chain 0 keeps 1000 steps, chain 1 keeps 1500.
  summary.equilibrations[1] = {.share = 0.25,
                               .effective_samples_from_there = 120,
                               .effective_samples_of_all = 100,
                               .mean_from_there = -20,
                               .stands_out = true};
  std::string table = result_table(summary);
  EXPECT_THAT(table, HasSubstr("500 steps into production"));
  EXPECT_THAT(table, HasSubstr("from there is -16.0000"));
  EXPECT_THAT(table, Not(HasSubstr("; late")));
  summary.equilibrations[1].effective_samples_from_there = 200;
  table = result_table(summary);
  EXPECT_THAT(table, HasSubstr("; late: more steps of equilibration"));
  const nlohmann::json found = nlohmann::json(summary)["total_energy"]["equilibration"];
  EXPECT_EQ(found["mean_without_it"], -16);
  EXPECT_EQ(found["chains"][0]["steps_of_production"], 0);
  EXPECT_EQ(found["chains"][0]["late"], false);
  EXPECT_EQ(found["chains"][1]["steps_of_production"], 500);
  EXPECT_EQ(found["chains"][1]["late"], true);
}

/// Of `count` steps each, the first one where production begins; true less sampled energies turn
/// about, all of them accepted.
std::vector<QmBlock> blocks_of(std::size_t tests, std::uint64_t steps, double difference) {
  std::vector<QmBlock> blocks(tests + 1);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    BlockEnd& end = blocks[i].end;
    end.step = 5000 + i * steps;
    end.difference_kj_per_mol = i % 2 == 0 ? difference : -difference;
    end.sampled_energy_kj_per_mol = -100 - end.difference_kj_per_mol / 2;
  }
  return blocks;
}

/// Blocks that do not count are no part of the series whose equilibration is found.
TEST(RunSummary, EquilibrationIntoTheExactEnsemble) {
  RunSummary summary = example();
  ChainSummary& chain = summary.chains.front();
  chain.steps = 4000;
  chain.blocks = blocks_of(40, 100, 0.1);
  const double kt = kGasConstant * summary.temperature_kelvin;
  const std::size_t left_out = first_averaged(chain.blocks, kt) - 1;
  ASSERT_GE(left_out, 2U);
  const StepsOfEnergy steps = steps_of_energy(chain, summary.temperature_kelvin);
  EXPECT_EQ(steps.first, 100.0 * static_cast<double>(left_out));
  EXPECT_EQ(steps.first + steps.count, 4000);
  summary.equilibrations = {{.mean_from_there = -10}};
  EXPECT_THAT(
      result_table(summary),
      HasSubstr(fmt::format("{} steps into production, where averages at block ends begin\n",
                            100 * left_out)));
  summary.equilibrations[0] = {.share = 0.5, .mean_from_there = -20};
  const double begin = steps.first + steps.count / 2;
  const nlohmann::json found = nlohmann::json(summary)["total_energy"]["equilibration"];
  EXPECT_EQ(found["chains"][0]["steps_of_production"], std::llround(begin));
  EXPECT_THAT(result_table(summary),
              HasSubstr(fmt::format("{:.0f} steps into production; averages at block ends begin "
                                    "after {:.0f}, the mean total energy from there is -20.0000\n",
                                    begin, steps.first)));
  // Means have the weights of the steps that they are of.
  summary.chains.push_back(chain);
  summary.chains[1].blocks.resize(21);
  const StepsOfEnergy half = steps_of_energy(summary.chains[1], summary.temperature_kelvin);
  summary.equilibrations.push_back({.mean_from_there = -10});
  EXPECT_NEAR(mean_total_energy_equilibrated(summary),
              (-20 * steps.count / 2 - 10 * half.count) / (steps.count / 2 + half.count), 1e-12);
}

TEST(ResultTable, OfTheExactEnsembleTellsItsMeansApart) {
  RunSummary summary = example();
  ChainSummary& chain = summary.chains.front();
  chain.blocks = blocks_of(40, 100, 0.1);
  summary.total_energy.mean = -1854.4;
  summary.total_energy.error = 20;
  summary.total_energy.count = 36;
  const std::string mean =
      "Mean total energy       -1854 ± 20 kJ/mol (too short to tell), at block ends";
  const std::string steps =
      "Mean energy over all steps, between the sampled and the true ensemble (kJ/mol)\n";
  std::string table = result_table(summary);
  EXPECT_THAT(table, HasSubstr("\n" + mean + "\n"));
  EXPECT_THAT(table, HasSubstr("\n" + steps));
  EXPECT_THAT(table, HasSubstr("from all steps, corrected to first order\n"));
  chain.blocks = blocks_of(40, 100, 1);
  EXPECT_THAT(result_table(summary),
              HasSubstr("from all steps, corrected to first order only: the standard deviation "
                        "above is 0.41 kT\n"));
  summary.chains.push_back(chain);
  table = result_table(summary);
  EXPECT_THAT(table, HasSubstr("\n" + mean + "; error within chains unknown"));
  EXPECT_THAT(table, HasSubstr("\n" + steps));
}

TEST(ResultTable, SaysWhetherChainsAgree) {
  RunSummary summary = example();
  summary.chains.push_back(summary.chains.front());
  EXPECT_THAT(result_table(summary), HasSubstr("Agreement of chains     unknown"));
  summary.total_energy.agreement = 0.4;
  EXPECT_THAT(result_table(summary),
              HasSubstr("differ no more than their errors explain (F test: 0.4)"));
  summary.total_energy.agreement = 0.002;
  EXPECT_THAT(result_table(summary),
              HasSubstr("none: chains of one distribution would differ this much in "
                        "0.2 % of runs"));
}

TEST(ResultTable, CanBeRead) {
  const std::string table = result_table(example());
  EXPECT_THAT(table, HasSubstr("chorismate in water"));
  EXPECT_THAT(table, HasSubstr("-500.0 ± 1.5\n"));
  EXPECT_THAT(table, HasSubstr("-20345.679 ± 0.012 (too short to tell)"));
  EXPECT_THAT(table, HasSubstr("41.2 %"));
  EXPECT_THAT(table, HasSubstr("QM updates (12)"));
  EXPECT_THAT(table, HasSubstr("... 2 earlier"));
  EXPECT_THAT(table, HasSubstr("118.000010"));
  EXPECT_THAT(table, HasSubstr("QM-MM Coulomb, both          -900.00 ± 0.25\n"));
  EXPECT_THAT(table, HasSubstr("solute's own"));
  EXPECT_THAT(table, HasSubstr("0.062"));
  EXPECT_THAT(table, HasSubstr("polarisation energy          -20.000\n"));
  EXPECT_THAT(table, HasSubstr("dipole, debye"));
  EXPECT_THAT(table, HasSubstr("of the isolated solute"));
  EXPECT_THAT(table, HasSubstr("(kT is 2.48), dipole about the centre of nuclear charge\n"));
  EXPECT_THAT(table, HasSubstr("1.0e-09 kJ/mol"));
  EXPECT_THAT(table, HasSubstr("812 steps/s, 3 min 36 s in all, 10.5 s of it start-up"));
  EXPECT_THAT(table, HasSubstr("results/quickstart"));
}

TEST(ResultTable, SeveralChainsHaveTheMeansOfAll) {
  RunSummary summary = example();
  ChainSummary other = summary.chains.front();
  other.averages.qmmm_coulomb.mean -= 0.5;
  summary.chains.front().averages.terms[TERM_MM_VDW] = summary.chains.front().averages.qmmm_coulomb;
  other.averages.terms[TERM_MM_VDW] = summary.chains.front().averages.qmmm_coulomb;
  other.averages.terms[TERM_MM_VDW].mean = 100;
  summary.chains.push_back(other);
  const std::string table = result_table(summary);
  EXPECT_THAT(table, HasSubstr("Mean energy over all steps (kJ/mol)\n"));
  EXPECT_THAT(table, HasSubstr("QM-MM Coulomb, both          -900.25 ± "));
  EXPECT_THAT(table, HasSubstr("MM-MM van der Waals             -400 ± 919\n"));
}

/// Its field is that of density and nuclei in one.
TEST(ResultTable, OfAFixedReferenceHasTheSumOnly) {
  RunSummary summary = example();
  EXPECT_THAT(result_table(summary), HasSubstr("QM-MM nuclei"));
  summary.chains.front().reference = true;
  const std::string table = result_table(summary);
  EXPECT_THAT(table, testing::Not(HasSubstr("QM-MM nuclei")));
  EXPECT_THAT(table, testing::Not(HasSubstr("QM-MM electrons")));
  EXPECT_THAT(table, HasSubstr("QM-MM Coulomb, both          -900.00 ± 0.25\n"));
  EXPECT_THAT(table, HasSubstr("QM-MM polarisation"));
}

TEST(ResultTable, WithoutQmHasNoUpdates) {
  RunSummary summary;
  summary.chains.emplace_back();
  const std::string table = result_table(summary);
  EXPECT_THAT(table, testing::Not(HasSubstr("QM updates")));
}

TEST(Hdf5Version, IsThreeNumbers) {
  EXPECT_THAT(hdf5_library_version(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

}  // namespace
}  // namespace starpmc
