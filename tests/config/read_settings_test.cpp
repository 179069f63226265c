#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/input_errors.hpp"
#include "config/options.hpp"
#include "kernels/base/error.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/test_folders.hpp"

namespace starpmc {
namespace {

using test::TemporaryFolder;
using testing::HasSubstr;

const std::filesystem::path data = test_data_folder() / "config";

Settings read(const std::filesystem::path& file, std::vector<std::string> overrides = {}) {
  return read_settings(file, overrides);
}

/// A folder with the input files that configurations refer to.
class ReadSettings : public testing::Test {
 protected:
  ReadSettings() {
    folder_.write("box.gro", "");
    folder_.write("system.top", "");
    folder_.write("solute.xyz", "");
    folder_.write("grid.bin", "");
    std::filesystem::create_directory(folder_.path() / "include");
  }

  std::filesystem::path write(const std::string& rest) const {
    return folder_.write("run.cfg",
                         "[system]\ncoordinates = box.gro\ntopology = system.top\n"
                         "[sampling]\nsteps = 1000\n" +
                             rest);
  }

  TemporaryFolder folder_;
};

TEST_F(ReadSettings, PathsAreRelativeToTheFile) {
  const Settings settings = read(data / "quiet.cfg");
  EXPECT_EQ(settings.system.coordinates, data / "box.gro");
  EXPECT_EQ(settings.system.topology, data / "topology/system.top");
  EXPECT_EQ(settings.sampling.steps, 1000U);
  EXPECT_EQ(settings.output.folder, "starpmc-output");
}

TEST_F(ReadSettings, WithoutMoleculeTheEngineIsNone) {
  EXPECT_EQ(read(write("")).qm.engine, "none");
  // As a run without QM writes down its settings.
  EXPECT_EQ(read(write("[qm]\nengine = none\ncharge = -1\n")).qm.charge, -1);
  EXPECT_EQ(read(write("[system]\nqm-molecule = CHOR\n")).qm.engine, "pyscf");
}

TEST_F(ReadSettings, ReadsEveryKindOfValue) {
  const Settings settings = read(
      write("temperature = 3.1e2 # K\nseed = 18446744073709551615\n"
            "[system]\nqm-molecule=CHOR\ndefines = FLEXIBLE, N=3\ninclude-folders = include,.\n"
            "solute = solute.xyz\n"
            "[qm]\nengine = frozen\ncharge = -2\ngrid-file = grid.bin\ndensity-fitting = off\n"
            "grid-angular = 302\npython = python3\n"
            "[run]\nprecision = fp64\nimplementation = opencl\n"
            "[interaction]\nvdw-modifier = force-shift\n[output]\noverwrite = yes\r\n"));
  EXPECT_EQ(settings.sampling.temperature_kelvin, 310);
  EXPECT_EQ(settings.sampling.seed, 18446744073709551615U);
  EXPECT_THAT(settings.system.defines, testing::ElementsAre("FLEXIBLE", "N=3"));
  EXPECT_EQ(settings.system.include_folders.at(0), folder_.path() / "include");
  EXPECT_EQ(settings.system.include_folders.size(), 2U);
  EXPECT_EQ(settings.qm.charge, -2);
  EXPECT_FALSE(settings.qm.density_fitting);
  EXPECT_EQ(settings.qm.grid_angular, 302);
  EXPECT_EQ(settings.qm.python, "python3");
  EXPECT_EQ(settings.run.precision, Precision::fp64);
  EXPECT_EQ(settings.run.implementation, Implementation::opencl);
  EXPECT_EQ(settings.interaction.vdw_modifier, VdwModifier::force_shift);
  EXPECT_TRUE(settings.output.overwrite);
}

TEST_F(ReadSettings, CommandLineOverridesTheFile) {
  const Settings settings = read(write("temperature = 300\n[system]\nqm-molecule = CHOR\n"),
                                 {"--sampling.temperature", "310", "--sampling.steps=5",
                                  "--qm.charge", "-2", "--output.folder", "elsewhere"});
  EXPECT_EQ(settings.sampling.temperature_kelvin, 310);
  EXPECT_EQ(settings.sampling.steps, 5U);
  EXPECT_EQ(settings.qm.charge, -2);
  EXPECT_EQ(settings.output.folder, "elsewhere");
}

TEST_F(ReadSettings, CommandLinePathsAreRelativeToTheWorkingDirectory) {
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path() / "include");
  const auto coordinates =
      read(write(""), {"--system.coordinates", "../box.gro"}).system.coordinates;
  std::filesystem::current_path(here);
  EXPECT_EQ(std::filesystem::canonical(coordinates),
            std::filesystem::canonical(folder_.path() / "box.gro"));
}

TEST_F(ReadSettings, DotsBelowALinkMeanWhatTheSystemOpens) {
  folder_.write("far/data/box.gro", "the far one");
  std::filesystem::create_directory(folder_.path() / "far/here");
  folder_.write("data/box.gro", "the near one");
  std::filesystem::create_directory_symlink("far/here", folder_.path() / "link");
  const auto opened = [&](const std::string& text) {
    return test::read_all(
        read(write("[system]\nsolute = " + text + "\nqm-molecule = CHOR\n")).system.solute);
  };
  EXPECT_EQ(opened("link/../data/box.gro"), "the far one");
  EXPECT_EQ(opened("link/.././data/box.gro"), "the far one");
  EXPECT_EQ(opened("include/../data/box.gro"), "the near one");
  EXPECT_EQ(read(write("[system]\nsolute = ./include/../data/./box.gro\nqm-molecule = CHOR\n"))
                .system.solute,
            folder_.path() / "data/box.gro");
  // A configuration that is reached through the link.
  folder_.write("far/here/run.cfg", test::read_all(write("")));
  folder_.write("far/box.gro", "above");
  EXPECT_EQ(
      test::read_all(read(folder_.path() / "link/run.cfg",
                          {"--system.coordinates", (folder_.path() / "link/../box.gro").string(),
                           "--system.topology", (folder_.path() / "system.top").string()})
                         .system.coordinates),
      "above");
}

TEST_F(ReadSettings, WrittenConfigurationReadsBackTheSame) {
  const Settings settings = read(
      write("temperature = 298.14999999999998\nmax-translation = 0.1\nseed = 7\n"
            "[system]\nqm-molecule = CHOR\ndefines = A, B=2\ninclude-folders = include, .\n"
            "[qm]\nengine = frozen\ngrid-file = grid.bin\ncharge-threshold = 1e-300\n"
            "[interaction]\ncoulomb-cutoff = 9.123456789012345\nvdw-modifier = potential-shift\n"
            "[output]\nfolder = some folder/with blanks\noverwrite = true\nlog-level = debug\n"));
  const auto written = folder_.write("elsewhere/settings.cfg", settings_as_config(settings));
  EXPECT_EQ(read(written), settings);
  EXPECT_EQ(settings_as_config(read(written)), settings_as_config(settings));
}

TEST_F(ReadSettings, DefaultsReadBackTheSame) {
  const Settings settings = read(write(""));
  EXPECT_EQ(read(folder_.write("settings.cfg", settings_as_config(settings))), settings);
}

struct Malformed {
  std::string name;
  std::string text;  ///< appended to a valid configuration that ends in line 5, [sampling]
  std::string place;
  std::string found;
  std::string remedy;
};

class MalformedConfig : public ReadSettings, public testing::WithParamInterface<Malformed> {};

TEST_P(MalformedConfig, NamesPlaceValueAndRemedy) {
  const Malformed& malformed = GetParam();
  const auto file = write(malformed.text);
  try {
    read(file);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    const std::string place =
        malformed.place.starts_with(':') ? file.string() + malformed.place : malformed.place;
    EXPECT_THAT(error.what(), HasSubstr(place));
    if (!malformed.found.empty()) {
      EXPECT_THAT(error.what(), HasSubstr("found '" + malformed.found + "'"));
    }
    const std::string what = error.what();
    ASSERT_THAT(what, HasSubstr("remedy: "));
    EXPECT_THAT(what.substr(what.find("remedy: ")), HasSubstr(malformed.remedy));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, MalformedConfig,
    testing::ValuesIn(std::vector<Malformed>{
        {"UnknownKey", "temprature = 300\n", ":6", "sampling.temprature", "'sampling.temperature'"},
        {"Underscores", "max_translation = 1\n", ":6", "sampling.max_translation",
         "'sampling.max-translation'"},
        {"WrongSection", "[output]\n\ntemperature = 300\n", ":8", "output.temperature",
         "'sampling.temperature'"},
        {"CaseMatters", "Temperature = 300\n", ":6", "sampling.Temperature",
         "sampling.temperature"},
        {"UnknownSection", "[smapling]\n", ":6", "smapling", "[sampling]"},
        {"UnclosedSection", "[output\n", ":6", "[output", "brackets"},
        {"NeitherKeyNorSection", "temperature 300\n", ":6", "temperature 300", "key = value"},
        {"NoKey", "= 300\n", ":6", "= 300", "key = value"},
        {"Duplicate", "temperature = 300\nsteps = 7\n", ":7", "sampling.steps", ":5"},
        {"DuplicateAcrossSections", "[qm]\n[sampling]\nsteps = 7\n", ":8", "sampling.steps", ":5"},
        {"TrailingUnit", "temperature = 300 K\n", ":6: sampling.temperature", "300 K", "in K"},
        {"TrailingUnitAttached", "[interaction]\ncoulomb-cutoff = 10A\n",
         ":7: interaction.coulomb-cutoff", "10A", "a number, at least 0"},
        {"NotANumber", "temperature = warm\n", ":6: sampling.temperature", "warm",
         "greater than 0"},
        {"NegativeTemperature", "temperature = -5\n", ":6: sampling.temperature", "-5",
         "greater than 0"},
        {"ZeroTemperature", "temperature = 0\n", ":6: sampling.temperature", "0", "greater than 0"},
        {"NanTemperature", "temperature = nan\n", ":6: sampling.temperature", "nan", "a number"},
        {"InfiniteCutoff", "[interaction]\nvdw-cutoff = inf\n", ":7: interaction.vdw-cutoff", "inf",
         "a number"},
        {"OverflowingReal", "temperature = 1e999\n", ":6: sampling.temperature", "1e999",
         "a number"},
        {"OverflowingInteger", "seed = 18446744073709551616\n", ":6: sampling.seed",
         "18446744073709551616", "18446744073709551615"},
        {"MoreStepsThanCount", "tune-interval = 1e18\n", ":6: sampling.tune-interval", "1e18",
         "at most 1e+15"},
        {"MinusOfATextProcessor",
         "[qm]\ncharge = \xE2\x88\x92"
         "1\n",
         ":7: qm.charge",
         "\xE2\x88\x92"
         "1",
         "whole number"},
        {"NegativeSeed", "seed = -1\n", ":6: sampling.seed", "-1", "0 to"},
        {"NegativeCutoff", "[interaction]\ncoulomb-cutoff = -1\n", ":7: interaction.coulomb-cutoff",
         "-1", "at least 0"},
        {"RealForInteger", "tune-interval = 1.5e0\n", ":6: sampling.tune-interval", "1.5e0",
         "whole number"},
        {"CommaForPoint", "temperature = 298,15\n", ":6: sampling.temperature", "298,15",
         "a number"},
        {"EmptyNumber", "temperature =\n", ":6: sampling.temperature", "", "a number"},
        {"ZeroEnergyInterval", "[output]\nenergy-interval = 0\n", ":7: output.energy-interval", "0",
         "at least 1"},
        {"BlanksInSection", "[ output ]\n", ":6", " output ", "[output]"},
        {"AutomaticIntervalWithoutEquilibration",
         "equilibration-steps = 0\n[system]\nqm-molecule = A\n[qm]\ninterval = auto\n",
         ":10: qm.interval", "auto", "set sampling.equilibration-steps to auto"},
        {"ZeroQmInterval", "[qm]\ninterval = 0\n", ":7: qm.interval", "0", "at least 1"},
        {"AcceptanceOfOne", "target-acceptance = 1\n", ":6: sampling.target-acceptance", "1",
         "less than 1"},
        {"Boolean", "[output]\noverwrite = maybe\n", ":7: output.overwrite", "maybe",
         "true or false"},
        {"Choice", "[run]\nimplementation = opencp\n", ":7: run.implementation", "opencp",
         "did you mean 'opencl'"},
        {"LebedevOrder", "[qm]\ngrid-angular = 300\n", ":7: qm.grid-angular", "300", "302"},
        {"EmptyMethod", "[qm]\nmethod = \n", ":7: qm.method", "", "write a name"},
        {"EmptyListElement", "[system]\ndefines = A,,B\n", ":7: system.defines", "A,,B", "commas"},
        {"DefineWithGromacsOption", "[system]\ndefines = -DFLEXIBLE\n", ":7: system.defines",
         "-DFLEXIBLE", "without -D, separated by commas"},
        {"DefinesSeparatedByBlanks", "[system]\ndefines = FLEXIBLE POSRES\n", ":7: system.defines",
         "FLEXIBLE POSRES", "without -D, separated by commas"},
        {"DefineWithoutName", "[system]\ndefines = =5\n", ":7: system.defines", "=5",
         "without -D, separated by commas"},
        {"EngineWithoutMolecule", "[qm]\nengine = pyscf\n", ":7: qm.engine", "pyscf",
         "system.qm-molecule"},
        {"QmKeyWithoutMolecule", "[qm]\nbasis = def2-tzvp\ncharge = -1\n", ":8: qm.charge", "-1",
         "name the molecule in system.qm-molecule, or write qm.engine = none"},
        {"MoleculeWithoutEngine", "[system]\nqm-molecule = A\n[qm]\nengine = none\n",
         ":9: qm.engine", "none", "pyscf"},
        {"FrozenWithoutGrid", "[system]\nqm-molecule = A\n[qm]\nengine = frozen\n", ":9: qm.engine",
         "frozen", "qm.grid-file"},
        {"SoluteWithoutMolecule", "[system]\nsolute = solute.xyz\n", ":7: system.solute", "",
         "system.qm-molecule"},
        {"NothingMoves", "max-translation = 0\nmax-rotation = 0\n", ":6: sampling.max-translation",
         "0", "greater than 0"},
        {"MissingFile", "[system]\nsolute = nowhere.xyz\nqm-molecule = A\n", ":7: system.solute",
         "", "relative to its folder"},
        {"FolderForFile", "[system]\nsolute = include\nqm-molecule = A\n", ":7: system.solute", "",
         "name a file"},
        {"FileForFolder", "[system]\ninclude-folders = box.gro\n", ":7: system.include-folders", "",
         "name a folder"},
        {"EmptyOutputFolder", "[output]\nfolder =\n", ":7: output.folder", "", "path of a folder"},
        {"AngleBeyondHalfTurn", "max-rotation = 181\n", ":6: sampling.max-rotation", "181",
         "0 to 180"},
        {"WindowTooLarge", "window = 5000\n", ":6: sampling.window", "5000", "1 to 1000"}}),
    [](const auto& instance) { return instance.param.name; });

/// Whole files, and what the message must hold.
struct Broken {
  std::string name;
  std::string text;
  std::vector<std::string> expected;
};

class BrokenFile : public ReadSettings, public testing::WithParamInterface<Broken> {};

TEST_P(BrokenFile, IsRejected) {
  const auto file = folder_.write("broken.cfg", GetParam().text);
  try {
    read(file);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr(file.string()));
    for (const std::string& part : GetParam().expected) EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BrokenFile,
    testing::ValuesIn(std::vector<Broken>{
        {"Empty", "", {"required", "system.coordinates", "[system]"}},
        {"KeyBeforeSection", "# start\nsteps = 3\n", {":2", "'steps'", "[sampling]"}},
        {"NoTopology", "[system]\ncoordinates = box.gro\n", {"system.topology", "topology = ..."}},
        {"NoSteps", "[system]\ncoordinates = box.gro\ntopology = system.top\n", {"sampling.steps"}},
        {"Coordinates",
         "water\n 3\n    1SOL     OW    1   0.2   0.6   0.1\n",
         {"is not a configuration", "'water'", "name the .cfg file"}},
        {"Binary", std::string("\0\1\2", 3), {"not a text file"}},
        {"Huge", std::string(2 << 20, ' '), {"1 MiB"}}}),
    [](const auto& instance) { return instance.param.name; });

TEST_F(ReadSettings, SaysWhatOnlyLooksLikeANumber) {
  for (const char* text : {"[qm]\ncharge = \xE2\x88\x92"
                           "1\n",
                           "temperature = 300\xC2\xA0\n"}) {
    try {
      read(write(text));
      FAIL() << "accepted";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("is not ASCII: type it anew"));
    }
  }
}

TEST_F(ReadSettings, MissingFileAndFolder) {
  EXPECT_THROW(read(folder_.path() / "none.cfg"), InputError);
  EXPECT_THROW(read(folder_.path()), InputError);
}

TEST_F(ReadSettings, ByteOrderMarkIsIgnored) {
  const auto file = folder_.write("mark.cfg",
                                  "\xEF\xBB\xBF[system]\ncoordinates = box.gro\n"
                                  "topology = system.top\n[sampling]\nsteps=1");
  EXPECT_EQ(read(file).sampling.steps, 1U);
}

TEST_F(ReadSettings, WholeNumbersMayHaveADecimalExponent) {
  EXPECT_EQ(read(write("equilibration-steps = 1e6\n")).sampling.equilibration_steps, 1000000U);
  EXPECT_EQ(read(write("tune-interval = 2.5E3\n")).sampling.tune_interval, 2500U);
  EXPECT_EQ(read(write("[qm]\nengine = none\ncharge = -2e0\n")).qm.charge, -2);
  EXPECT_THROW(read(write("tune-interval = 1e17\n")), InputError);  // fp64 may not hold it
  EXPECT_THROW(read(write("tune-interval = 1e-3\n")), InputError);
  EXPECT_THROW(read(write("tune-interval = 1e\n")), InputError);
}

TEST_F(ReadSettings, CommentsFollowEitherSign) {
  const Settings settings =
      read(write("; a line\n  # another; one\ntemperature = 310;K\nseed = 5 ; the fifth # run\n"
                 "[output] ; where to\nfolder = a;b#c ; the folder\n[system] # what\n"
                 "defines = A, B # two\n"
                 "[potential]\nmm-vdw = s/r^6; s = 2 # a constant\n"));
  EXPECT_EQ(settings.sampling.temperature_kelvin, 310);
  EXPECT_EQ(settings.sampling.seed, 5U);
  EXPECT_EQ(settings.output.folder, "a;b#c");
  EXPECT_THAT(settings.system.defines, testing::ElementsAre("A", "B"));
  EXPECT_EQ(settings.potential.mm_vdw, "s/r^6; s = 2");
  EXPECT_EQ(read(folder_.write("settings.cfg", settings_as_config(settings))), settings);
}

TEST_F(ReadSettings, PathsThatAFileCannotHoldAreRefused) {
  for (const char* folder : {"a #b", "a ;b", "#a", ";a", "a\t;b"}) {
    const std::vector<std::string> words{"--output.folder", folder};
    EXPECT_THROW(read(write(""), words), InputError) << folder;
  }
}

struct BadOverride {
  std::string name;
  std::vector<std::string> words;
  std::vector<std::string> expected;
};

class MalformedOverride : public ReadSettings, public testing::WithParamInterface<BadOverride> {};

TEST_P(MalformedOverride, NamesTheOption) {
  const auto file = write("");
  try {
    read(file, GetParam().words);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("command line"));
    EXPECT_THAT(error.what(), HasSubstr("remedy"));
    for (const std::string& part : GetParam().expected) EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, MalformedOverride,
    testing::ValuesIn(std::vector<BadOverride>{
        {"Unknown", {"--sampling.stepz", "3"}, {"sampling.stepz", "'sampling.steps'"}},
        {"UnknownWithEquals", {"--sampling.stepz=3"}, {"sampling.stepz", "'sampling.steps'"}},
        {"Prefix", {"--sampling.temp", "3"}, {"sampling.temp", "sampling.temperature"}},
        {"NoValue", {"--sampling.steps"}, {"sampling.steps"}},
        {"NotAnOption", {"steps"}, {"steps", "--section.key value"}},
        {"Short", {"-s", "3"}, {"-s"}},
        {"Value", {"--sampling.steps", "many"}, {"--sampling.steps", "'many'"}},
        {"Twice", {"--sampling.steps", "3", "--sampling.steps", "4"}, {"twice", "'4'"}},
        {"Comment", {"--output.folder", "a #b"}, {"output.folder", "#"}},
        {"MissingFile", {"--system.topology", "no.top"}, {"--system.topology", "no such file"}}}),
    [](const auto& instance) { return instance.param.name; });

TEST_F(ReadSettings, TellsWhereOptionsWereGiven) {
  const auto file = write("[potential]\ncoulomb = 1/r\n");
  const std::vector<std::string> overrides{"--sampling.seed", "3"};
  OptionPlaces places;
  read_settings(file, overrides, &places);
  EXPECT_EQ(places("potential.coulomb"), file.string() + ":7: potential.coulomb");
  EXPECT_EQ(places("sampling.seed"), "command line: --sampling.seed");
  EXPECT_EQ(places("potential.mm-vdw"), file.string() + ": potential.mm-vdw");
}

/// Messages of all errors, and what was read in spite of them.
std::vector<std::string> all_errors(const std::filesystem::path& file,
                                    const std::vector<std::string>& overrides, Settings& settings) {
  InputErrors errors(InputErrors::Mode::collect);
  OptionPlaces places;
  settings = read_settings(file, overrides, &places, errors);
  std::vector<std::string> messages;
  for (const InputError& error : errors.all()) messages.emplace_back(error.what());
  return messages;
}

TEST_F(ReadSettings, CollectsErrorsThatDoNotDependOnEachOther) {
  const auto file = write(
      "equilibration-steps = -1\nsteps = 5\nseed = 7\nnonsense\n[sampling\n"
      "[interactoin]\ncoulomb-cutoff = x\nvdw-cutoff = 8\n"
      "[system]\nsolute = nosuch.xyz\n[qm]\nchagre = 1\n"
      "[output]\nenergy-interval = 7\npressure-interval = 10\n");
  Settings settings;
  const auto messages =
      all_errors(file, {"--sampling.windwo", "3", "--output.energy-interval", "7"}, settings);
  const std::string run = file.string() + ":";
  EXPECT_THAT(messages, testing::UnorderedElementsAre(
                            HasSubstr(run + "6: sampling.equilibration-steps"),
                            HasSubstr(run + "7: option given twice"), HasSubstr(run + "9: neither"),
                            HasSubstr(run + "10: the section's name is not closed"),
                            HasSubstr(run + "11: unknown section, found 'interactoin'"),
                            HasSubstr(run + "12: interaction.coulomb-cutoff"),
                            HasSubstr(run + "15: system.solute: no such file"),
                            HasSubstr(run + "15: system.solute: coordinates of a QM molecule"),
                            HasSubstr(run + "17: unknown option, found 'qm.chagre'"),
                            HasSubstr("command line: unknown option, found 'sampling.windwo'"),
                            HasSubstr(run + "20: output.pressure-interval")));
  EXPECT_EQ(settings.sampling.seed, 7U);
  EXPECT_EQ(settings.sampling.steps, 1000U);
  EXPECT_EQ(settings.interaction.vdw_cutoff_angstrom, 8);  // of the section that was meant
  EXPECT_TRUE(settings.system.solute.empty());
}

TEST_F(ReadSettings, AnErrorDoesNotMakeOthers) {
  Settings settings;
  // A misspelt qm-molecule leaves [qm] without a molecule, and a wrong path required options unset.
  EXPECT_THAT(
      all_errors(write("[system]\nqm-molecul = CHOR\n[qm]\nengine = pyscf\n"), {}, settings),
      testing::ElementsAre(HasSubstr("qm-molecul")));
  EXPECT_THAT(all_errors(folder_.write("short.cfg",
                                       "[system]\ncoordinates = nosuch.gro\ntopolgy = system.top\n"
                                       "[sampling]\nsteps = many\n"),
                         {}, settings),
              testing::UnorderedElementsAre(HasSubstr("nosuch.gro"), HasSubstr("topolgy"),
                                            HasSubstr("many")));
  EXPECT_TRUE(settings.system.coordinates.empty());
  EXPECT_THAT(all_errors(write(""), {}, settings), testing::IsEmpty());
}

TEST(ResolveCutoffs, ZeroMeansTheLongest) {
  Settings settings;
  resolve_cutoffs(settings, Box{{30, 20, 25}}, OptionPlaces("run.cfg"));
  EXPECT_EQ(settings.interaction.coulomb_cutoff_angstrom, 10);
  EXPECT_EQ(settings.interaction.vdw_cutoff_angstrom, 10);
  settings.interaction = {.coulomb_cutoff_angstrom = 8, .vdw_cutoff_angstrom = 0};
  resolve_cutoffs(settings, Box{{30, 20, 25}}, OptionPlaces("run.cfg"));
  EXPECT_EQ(settings.interaction.vdw_cutoff_angstrom, 8);
}

TEST(ResolveCutoffs, BeyondHalfTheShortestEdgeIsAnError) {
  Settings settings;
  settings.interaction = {.coulomb_cutoff_angstrom = 9, .vdw_cutoff_angstrom = 10.5};
  try {
    resolve_cutoffs(settings, Box{{30, 20, 25}}, OptionPlaces("run.cfg"));
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("run.cfg: interaction.vdw-cutoff"));
    EXPECT_THAT(error.what(), HasSubstr("found '10.5 A'"));
    EXPECT_THAT(error.what(), HasSubstr("at most 10 A"));
  }
}

}  // namespace
}  // namespace starpmc
