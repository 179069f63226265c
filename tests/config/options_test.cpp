#include "config/option.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "config/options.hpp"
#include "config/values.hpp"

namespace starpmc::config {
namespace {

using testing::HasSubstr;

TEST(Options, HelpAndReferenceNameEveryOption) {
  const std::string help = options_help();
  const std::string markdown = options_markdown();
  const std::string written = settings_as_config(Settings{});
  for (const Option& option : options()) {
    EXPECT_THAT(help, HasSubstr("--" + option.name()));
    EXPECT_THAT(markdown, HasSubstr("| `" + option.key + "` |"));
    EXPECT_THAT(written, HasSubstr("\n" + option.key + " = "));
    EXPECT_FALSE(option.meaning.empty());
    EXPECT_FALSE(section_meaning(option.section).empty());
  }
  EXPECT_THAT(help, HasSubstr("default 298.15"));
  EXPECT_THAT(markdown, HasSubstr("| `temperature` | K | `298.15` |"));
}

// What a checkpoint knows a run's settings by: other versions have other options and other words.
TEST(Options, OffDefaultAreThoseThatWereChosen) {
  Settings settings;
  EXPECT_EQ(settings_off_default(settings), "");
  settings.sampling.temperature_kelvin = 300;
  settings.qm.charge = -2;
  EXPECT_EQ(settings_off_default(settings), "sampling.temperature = 300\nqm.charge = -2\n");
}

TEST(Options, NamesAreUnique) {
  std::set<std::string> names;
  for (const Option& option : options()) EXPECT_TRUE(names.insert(option.name()).second);
}

TEST(Options, DefaultsPassTheirOwnChecks) {
  for (const Option& option : options()) {
    if (option.required) continue;
    Settings settings;
    EXPECT_NO_THROW(option.set(settings, default_text(option), {})) << option.name();
    EXPECT_EQ(settings, Settings{}) << option.name();
  }
}

TEST(Values, EditDistance) {
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("same", "same"), 0U);
}

TEST(Values, RealKeepsItsBits) {
  for (double value : {0.1, 1.0 / 3, 6.02214076e23, 5e-324, -0.0})
    EXPECT_EQ(parse_real(number_text(value), {}, ""), value);
  EXPECT_EQ(parse_real("+2.5", {}, ""), 2.5);
  EXPECT_THROW(parse_real("+-2", {}, ""), ValueProblem);
  EXPECT_THROW(parse_real("+", {}, ""), ValueProblem);
  EXPECT_THROW(parse_real("0x10", {}, ""), ValueProblem);
}

TEST(Values, RangesInWords) {
  EXPECT_EQ((RealRange{.minimum = 0, .minimum_open = true}.text()), "greater than 0");
  EXPECT_EQ((RealRange{.minimum = 0, .maximum = 180}.text()), "0 to 180");
  EXPECT_EQ(
      (RealRange{.minimum = 0, .maximum = 1, .minimum_open = true, .maximum_open = true}.text()),
      "greater than 0 and less than 1");
  EXPECT_EQ((IntegerRange{1}.text()), "at least 1");
}

}  // namespace
}  // namespace starpmc::config
