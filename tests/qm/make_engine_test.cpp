#include "qm/make_engine.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "kernels/base/error.hpp"
#include "tests/test_folders.hpp"

namespace starpmc {
namespace {

Solute hydrogen() {
  Solute solute;
  solute.elements = {"H", "H"};
  solute.atomic_numbers = {1, 1};
  solute.positions = {{0, 0, 0}, {0.74, 0, 0}};
  return solute;
}

std::string refusal(const Settings::QmSection& settings) {
  try {
    make_engine(settings, hydrogen());
  } catch (const InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no InputError";
  return {};
}

void expect_in(const std::string& part, const std::string& whole) {
  EXPECT_NE(whole.find(part), std::string::npos) << "no '" << part << "' in: " << whole;
}

TEST(MakeEngine, NoneIsNoEngine) {
  Settings::QmSection settings;
  settings.engine = "none";
  EXPECT_EQ(make_engine(settings, hydrogen()), nullptr);
}

TEST(MakeEngine, BadSettingsNameTheirKey) {
  Settings::QmSection settings;
  settings.engine = "gaussian";
  expect_in("qm.engine: unknown QM engine, found 'gaussian'", refusal(settings));
  settings = {};
  settings.embedding = "mechanical";
  expect_in("qm.embedding: unknown embedding, found 'mechanical'", refusal(settings));
  settings = {};
  settings.engine = "frozen";
  expect_in("qm.grid-file", refusal(settings));
  settings.grid_file = "/nonexistent/density.grid";
  expect_in("/nonexistent/density.grid", refusal(settings));
}

TEST(MakeEngine, MissingPythonOrScriptSaysWhatToDo) {
  Settings::QmSection settings;
  settings.python = "/nonexistent/python3";
  expect_in("qm.python: no such program", refusal(settings));
  expect_in("./quickstart setup", refusal(settings));
  settings.python = "/usr/bin/python3";
  setenv("STARPMC_WORKERS", "/nonexistent/workers", 1);
  expect_in("/nonexistent/workers", refusal(settings));
  unsetenv("STARPMC_WORKERS");
}

TEST(MakeEngine, EnvironmentNamesThePython) {
  Settings::QmSection settings;
  setenv("STARPMC_PYTHON", "/nonexistent/other-python", 1);
  expect_in("STARPMC_PYTHON", refusal(settings));
  unsetenv("STARPMC_PYTHON");
}

TEST(MakeEngine, PythonWithoutPyscfSaysWhatToDo) {
  Settings::QmSection settings;
  settings.python = source_folder().string() + "/tests/qm/workers/python_without_pyscf";
  const std::string message = refusal(settings);
  expect_in("not installed", message);
  expect_in("./quickstart setup", message);
}

/// Needs PySCF; skipped where the build has no Python for tests.
TEST(MakeEngine, PyscfAnswersOrSaysWhatIsWrong) {
  Settings::QmSection settings;
  settings.python = test_python();
  if (settings.python.empty()) GTEST_SKIP() << "no Python for tests was set";
  settings.grid_radial = 25;
  settings.grid_angular = 194;
  settings.scf_grid_radial = 35;
  settings.scf_grid_angular = 110;
  settings.time_limit_seconds = 240;
  const auto engine = make_engine(settings, hydrogen());
  EXPECT_EQ(engine->name(), "pyscf");
  const std::vector<double> potential(engine->quadrature_points().size(), 10.0);
  const QmResult result = engine->update(potential, std::vector<double>{10.0, 10.0}, {});
  EXPECT_NEAR(result.electrons_on_grid, 2.0, 1e-3);
  // A constant potential costs nothing: two electrons, two protons. PBE/def2-SVP: -1.16 Hartree.
  EXPECT_NEAR(result.energy_kj_per_mol, -1.16 * 2625.5, 20.0);

  settings.basis = "sto-99g";
  expect_in("sto-99g", refusal(settings));
  settings.basis = "def2-svp";
  settings.multiplicity = 2;
  expect_in("multiplicity 2", refusal(settings));
  settings.multiplicity = 1;
  settings.method = "no-such-functional";
  expect_in("no-such-functional", refusal(settings));
  settings.method = "pbe";
  settings.grid_angular = 300;
  expect_in("300", refusal(settings));
}

/// PySCF prunes its smallest grids to more points than were asked for.
TEST(MakeEngine, PyscfTakesItsSmallestGrids) {
  Settings::QmSection settings;
  settings.python = test_python();
  if (settings.python.empty()) GTEST_SKIP() << "no Python for tests was set";
  settings.method = "hf";
  settings.basis = "sto-3g";
  settings.grid_radial = settings.scf_grid_radial = 30;
  settings.scf_grid_angular = 50;
  const auto engine = make_engine(settings, hydrogen());
  EXPECT_GT(engine->quadrature_points().size(), 2U * 30 * 50);
}

/// Skipped, with the reason, where Psi4 is not installed (Debian package psi4).
TEST(MakeEngine, Psi4AnswersOrSaysWhatIsWrong) {
  Settings::QmSection settings;
  settings.engine = "psi4";
  settings.grid_radial = 25;
  settings.grid_angular = 194;
  settings.scf_grid_radial = 35;
  settings.scf_grid_angular = 110;
  settings.time_limit_seconds = 240;
  std::unique_ptr<QmEngine> engine;
  try {
    engine = make_engine(settings, hydrogen());
  } catch (const InputError& error) {
    expect_in("not installed", error.what());
    GTEST_SKIP() << error.what();
  }
  EXPECT_EQ(engine->name(), "psi4");
  const std::vector<double> potential(engine->quadrature_points().size(), 10.0);
  const QmResult cold = engine->update(potential, std::vector<double>{10.0, 10.0}, {});
  EXPECT_NEAR(cold.electrons_on_grid, 2.0, 1e-3);
  EXPECT_NEAR(cold.energy_kj_per_mol, -1.16 * 2625.5, 20.0);
  const QmResult warm = engine->update(potential, std::vector<double>{10.0, 10.0}, {});
  EXPECT_NEAR(warm.energy_kj_per_mol, cold.energy_kj_per_mol, 1e-4);
  EXPECT_LT(warm.iterations, cold.iterations);

  settings.basis = "sto-99g";
  expect_in("sto-99g", refusal(settings));
  settings.basis = "def2-svp";
  settings.multiplicity = 3;
  expect_in("multiplicity", refusal(settings));
  settings.multiplicity = 1;
  settings.max_iterations = 1;
  const auto hopeless = make_engine(settings, hydrogen());
  try {
    hopeless->update(potential, std::vector<double>{10.0, 10.0}, {});
    FAIL();
  } catch (const RunError& error) {
    expect_in("did not converge", error.what());
  }
}

}  // namespace
}  // namespace starpmc
