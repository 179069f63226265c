#include "expression/parse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expression/evaluate.hpp"
#include "expression/print.hpp"

namespace starpmc::expression {
namespace {

using testing::AllOf;
using testing::HasSubstr;

double value(std::string_view text, double r = 0.7) {
  Pool pool;
  const Node node = parse(pool, text);
  return evaluate<double>(pool, {&node, 1}, {{"r", r}})[0];
}

std::string error(std::string_view text,
                  std::optional<std::span<const std::string>> known = std::nullopt) {
  Pool pool;
  try {
    parse(pool, text, known);
  } catch (const InputError& failure) {
    return failure.what();
  }
  return "no error";
}

// What OpenMM 8.6.1 gives for these.
TEST(Parse, PrecedenceIsLeptons) {
  EXPECT_DOUBLE_EQ(value("-r^2"), -0.49);
  EXPECT_EQ(value("2^3^2"), 512);
  EXPECT_EQ(value("2^-1"), 0.5);
  EXPECT_EQ(value("2^-1^2"), 0.5);
  EXPECT_DOUBLE_EQ(value("-2^-r^2"), -0.712025097798536);
  EXPECT_DOUBLE_EQ(value("2^-r*3"), 1.8467166200173746);
  EXPECT_DOUBLE_EQ(value("2/-r^2"), -4.0816326530612255);
  EXPECT_DOUBLE_EQ(value("-r*-r"), 0.49);
  EXPECT_EQ(value("2--3^2"), 11);
  EXPECT_EQ(value("1-2-3"), -4);
  EXPECT_EQ(value("8/4/2"), 1);
  EXPECT_EQ(value("--3"), 3);
}

TEST(Parse, NumbersAndFunctions) {
  EXPECT_EQ(value(".5"), 0.5);
  EXPECT_EQ(value("1."), 1);
  EXPECT_EQ(value("1.e1"), 10);
  EXPECT_EQ(value("2.5E-1"), 0.25);
  EXPECT_EQ(value("select(0, 1, 2)"), 2);
  EXPECT_EQ(value("select(-1, 1, 2)"), 1);
  EXPECT_EQ(value("step(0) + 10*step(-1e-300) + 100*delta(0) + 1000*delta(r)"), 101);
  EXPECT_EQ(value("square(3) + cube(2) + recip(4)"), 17.25);
  EXPECT_DOUBLE_EQ(value("atan2(r-2,-1)"), -2.2264919530364327);
  EXPECT_EQ(value("min(r, 0.3) + max(r, 2)"), 2.3);
}

TEST(Parse, DefinitionsMayStandInAnyOrder) {
  EXPECT_DOUBLE_EQ(value("a; a = b*b; b = r + 1"), 1.7 * 1.7);
  EXPECT_DOUBLE_EQ(value("a; b = r + 1; a = b*b;"), 1.7 * 1.7);
  EXPECT_EQ(value("1; unused = r"), 1);
}

TEST(Parse, ErrorsPointIntoTheText) {
  EXPECT_EQ(error("4*epsilon*((sigma/r)^12-)"),
            "expression, column 25: expected a number, a name, - or (, found ')'\n"
            "  remedy: complete the expression before it\n"
            "    4*epsilon*((sigma/r)^12-)\n"
            "                            ^");
  EXPECT_THAT(error("r**2"), AllOf(HasSubstr("column 3"), HasSubstr("powers by ^")));
  EXPECT_THAT(error("r r"), AllOf(HasSubstr("column 3"), HasSubstr("expected an operator")));
  EXPECT_THAT(error("(r"), AllOf(HasSubstr("expected )"), HasSubstr("found 'the end'")));
  EXPECT_THAT(error("r$2"), AllOf(HasSubstr("column 2"), HasSubstr("found '$'")));
  EXPECT_THAT(error("+r"), HasSubstr("column 1"));
  EXPECT_THAT(error(""), HasSubstr("found 'the end'"));
  EXPECT_THAT(error("3e"), HasSubstr("exponent"));
  EXPECT_THAT(error("1.2.3"), HasSubstr("column 4"));
  EXPECT_THAT(error("1e999"), HasSubstr("beyond the range of double"));
  EXPECT_THAT(error("max(r)"), HasSubstr("max takes 2 arguments"));
  EXPECT_THAT(error("sqrt(r,2)"), AllOf(HasSubstr("column 7"), HasSubstr("too many arguments")));
  EXPECT_THAT(error("sqrt + 1"), HasSubstr("write sqrt(...)"));
  EXPECT_THAT(error("2*(1/0)"), AllOf(HasSubstr("column 4"), HasSubstr("no finite number")));
  EXPECT_THAT(error("r + log(-1)"), HasSubstr("column 5"));
  EXPECT_THAT(error("r = 2"), HasSubstr("expected a semicolon"));
  EXPECT_THAT(error("r; 2 = r"), HasSubstr("write `; name = expression`"));
  EXPECT_THAT(error("r; sin = r"), HasSubstr("a function's name"));
}

TEST(Parse, TheCaretIsUnderTheCharacterAndLongTextsAreCut) {
  const std::string text = "\xCE\xB5*r";  // a Greek letter: two bytes, one column
  EXPECT_THAT(error("1 + " + text), HasSubstr("    1 + " + text + "\n        ^"));
  const std::string shown = error(std::string(500, '1').replace(250, 1, ")"));
  EXPECT_LT(shown.size(), 400u);
  EXPECT_THAT(shown, HasSubstr("column 251"));
}

TEST(Parse, UnknownNamesGetASuggestion) {
  const std::vector<std::string> known{"epsilon1", "epsilon2", "r", "sigma"};
  EXPECT_THAT(error("4*epsilon3", known),
              AllOf(HasSubstr("column 3"), HasSubstr("did you mean epsilon1?"),
                    HasSubstr("known variables: epsilon1, epsilon2, r, sigma")));
  EXPECT_THAT(error("sqr(r)"), AllOf(HasSubstr("did you mean sqrt?"), HasSubstr("recip")));
  EXPECT_THAT(error("r; sigma = 2", known), HasSubstr("cannot be defined"));
}

TEST(Parse, DefinitionsInACircleOrTwiceAreErrors) {
  EXPECT_THAT(error("a; a = b; b = c; c = a"), HasSubstr("circle a -> b -> c -> a"));
  EXPECT_THAT(error("a; a = a"), HasSubstr("circle a -> a"));
  EXPECT_THAT(error("r; a = b; b = a"), HasSubstr("by way of itself"));
  EXPECT_THAT(error("a; a = 1; a = 2"), AllOf(HasSubstr("column 11"), HasSubstr("twice")));
}

}  // namespace
}  // namespace starpmc::expression
