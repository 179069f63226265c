#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "kernels/common/layout.h"
#include "kernels/prepared_potential.hpp"
#include "kernels/scalar/evaluate.hpp"
#include "kernels/scalar/pair_functions.hpp"
#include "programs.hpp"

namespace starpmc::test {
namespace {

using compiled::InstructionSet;
using compiled::MoleculeFunction;
using compiled::Places;

constexpr double kBox[3] = {4, 5, 6};

/// A molecule and many others around it, with coefficients of their pairs; some pairs lack terms.
template <class Real>
struct Molecules {
  Molecules(const std::vector<PairTerm>& all_terms, std::size_t target_count,
            std::size_t source_count, std::size_t molecules, Places at)
      : terms(all_terms), places(at), random(molecules) {
    arguments.target_count = target_count;
    arguments.source_count = source_count;
    arguments.count = whole_grains<Real>(molecules);
    arguments.stride = arguments.count + 3;
    std::size_t coefficient_count = 0;
    for (const PairTerm& term : terms) coefficient_count += term.coefficients();
    coefficients = numbers(target_count * source_count * coefficient_count, 0.3, 3);
    for (std::size_t pair = 0; pair < target_count * source_count; ++pair) {
      present.push_back(terms.size() == 1 ? 1U : static_cast<std::uint32_t>(random() % 8));
      pairs.push_back(pair);
    }
    if (is_mutual(places)) {
      std::ranges::shuffle(pairs, random);
      const std::size_t row = 3 * arguments.stride;
      for (const std::size_t pair : pairs) {
        rows.push_back(pair % target_count * (places == Places::mutual_fixed_point ? 1 : row));
        rows.push_back(pair / target_count * row);
      }
      parts = {1, pairs.size() - 1};
      if (pairs.size() == 1) parts.pop_back();
      arguments.parts = parts;
      arguments.rows = rows.data();
    }
    place();
    arguments.present = present.data();
    arguments.coefficients = coefficients.data();
    for (std::size_t k = 0; k < 2; ++k) {
      arguments.squared_cutoffs[k] = arguments.inside ? Real{100} : numbers(1, 9, 16)[0];
      energies[k].assign(arguments.count, Real{7});
      if (has(k)) arguments.energies[k] = energies[k].data();
    }
  }
  bool has(std::size_t energy) const {
    return std::ranges::any_of(terms, [&](const PairTerm& term) {
      return static_cast<std::size_t>(term.energy) == energy;
    });
  }
  Molecules(const Molecules&) = delete;

  std::vector<Real> numbers(std::size_t size, double low, double high) {
    std::uniform_real_distribution<double> real(low, high);
    std::vector<Real> values(size);
    for (Real& value : values) value = static_cast<Real>(real(random));
    return values;
  }

  void place() {
    const std::size_t all = 3 * arguments.source_count * arguments.stride;
    if (places == Places::mutual_fixed_point) {
      for (std::size_t k = 0; k < 3; ++k)
        arguments.units[k] = static_cast<Real>(1e-9 * static_cast<double>(1 + k));
      for (std::size_t i = 0; i < all; ++i) fixed_sources.push_back(any_integer());
      for (std::size_t i = 0; i < 3 * arguments.target_count; ++i) {
        fixed_targets.push_back(any_integer());
      }
      arguments.fixed_sources = fixed_sources.data();
      arguments.fixed_targets = fixed_targets.data();
      return;
    }
    sources = numbers(all, 1, 3);
    targets =
        numbers(3 * arguments.target_count * (is_mutual(places) ? arguments.stride : 1), -0.5, 0.5);
    arguments.sources = sources.data();
    arguments.targets = targets.data();
    arguments.inside = places == Places::inside;
    if (has_images()) arguments.box = kBox;
  }
  bool has_images() const { return places == Places::images || places == Places::mutual_images; }
  std::int32_t any_integer() { return static_cast<std::int32_t>(random()); }

  double displacement(std::size_t target, std::size_t source, std::size_t molecule,
                      std::size_t axis) const {
    const std::size_t from = (3 * source + axis) * arguments.stride + molecule;
    const std::size_t to = is_mutual(places) && places != Places::mutual_fixed_point
                               ? (3 * target + axis) * arguments.stride + molecule
                               : axis * arguments.target_count + target;
    if (places == Places::mutual_fixed_point) {
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(fixed_targets[to]) -
                                       static_cast<std::uint32_t>(fixed_sources[from])) *
             static_cast<double>(arguments.units[axis]);
    }
    const double d = static_cast<double>(targets[to]) - static_cast<double>(sources[from]);
    return has_images() ? scalar::minimum_image(d, kBox[axis]) : d;
  }

  /// Energies of one molecule in fp64, then what their rounding errors are relative to.
  std::array<double, 4> expected(std::size_t molecule) const {
    std::array<double, 4> sums{};
    const Real* c = coefficients.data();
    for (std::size_t pair = 0; pair < present.size(); ++pair) {
      double r2 = 0;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double d = displacement(pairs[pair] % arguments.target_count,
                                      pairs[pair] / arguments.target_count, molecule, axis);
        r2 += d * d;
      }
      if (!arguments.inside) r2 = std::max(r2, STARPMC_MINIMUM_DISTANCE_SQUARED);
      for (std::size_t t = 0; t < terms.size(); ++t) {
        std::vector<double> inputs{r2};
        inputs.insert(inputs.end(), c, c + terms[t].coefficients());
        c += terms[t].coefficients();
        const auto energy = static_cast<std::size_t>(terms[t].energy);
        if ((present[pair] >> t & 1U) == 0) continue;
        double value = 0;
        scalar::evaluate_exact(terms[t].program, inputs, {&value, 1});
        sums[2 + energy] += std::abs(value);
        if (arguments.inside || r2 < arguments.squared_cutoffs[energy]) sums[energy] += value;
      }
    }
    return sums;
  }

  template <class Function>
  void expect_naive(Function& function, double tolerance) {
    function(arguments);
    for (std::size_t i = 0; i < arguments.count; ++i) {
      const auto sums = expected(i);
      for (std::size_t k = 0; k < 2 && has(k); ++k) {
        ASSERT_NEAR(energies[k][i], sums[k], tolerance * sums[2 + k])
            << "molecule " << i << " of " << arguments.count << ", energy " << k;
      }
    }
  }

  const std::vector<PairTerm>& terms;
  Places places;
  std::mt19937_64 random;
  MoleculePairArguments<Real> arguments;
  std::vector<std::size_t> pairs;  ///< which pair of sites the following are of
  std::vector<std::uint64_t> rows;
  std::vector<std::uint64_t> parts;
  std::vector<std::uint32_t> present;
  std::vector<Real> coefficients;
  std::vector<Real> sources;
  std::vector<Real> targets;
  std::vector<std::int32_t> fixed_sources;
  std::vector<std::int32_t> fixed_targets;
  std::vector<Real> energies[2];
};

constexpr std::array kEverywhere{Places::one_image,     Places::images,
                                 Places::inside,        Places::mutual,
                                 Places::mutual_images, Places::mutual_fixed_point};

/// By machine code.
template <class Real>
void expect_compiled(const std::vector<PairTerm>& terms, InstructionSet set, double tolerance,
                     std::span<const Places> all = kEverywhere) {
  const auto function = MoleculeFunction<Real>::compile(terms, all, set);
  ASSERT_NE(function, nullptr);
  for (const Places places : all) {
    SCOPED_TRACE(compiled::name_of(places));
    for (const std::size_t count : {0U, 1U, 50U}) {
      Molecules<Real>(terms, 3, 2, count, places).expect_naive(*function, tolerance);
    }
  }
}

PairTerm coulomb_term(Program program) { return {std::move(program), MoleculeEnergy::coulomb}; }

/// What two MM molecules have with a function beside the built-in ones.
std::vector<PairTerm> three_terms() {
  Potential potential;
  potential.mm.inputs = {"r2", "c"};
  potential.mm.instructions = {{Operation::divide, {1, 0, 0}}};
  potential.mm.outputs = {2};
  return pair_terms(potential, PairsWith::molecules);
}

class CompiledMolecules : public testing::TestWithParam<InstructionSet> {
 protected:
  void SetUp() override {
    if (compiled::best_instruction_set() < GetParam()) {
      GTEST_SKIP() << "no LLVM, or a processor without these instructions";
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Sets, CompiledMolecules,
                         testing::Values(InstructionSet::avx2, InstructionSet::avx512),
                         [](const auto& set) {
                           return set.param == InstructionSet::avx2 ? "Avx2" : "Avx512";
                         });

TEST_P(CompiledMolecules, AreTheNaiveLoop) {
  expect_compiled<double>(three_terms(), GetParam(), 2e-14);
  expect_compiled<float>(three_terms(), GetParam(), 1e-5);
}

/// (1 + slope r^2)/r and what is added or subtracted, with charges: the shifted-force Coulomb
/// function.
Program growing(bool slope_first, std::uint32_t form) {
  Program p;
  p.inputs = {"r2", "q"};
  p.constants = {0.7, 1, 0.2};
  const auto add = [&](Operation operation, std::uint32_t a, std::uint32_t b = 0) {
    p.instructions.push_back({operation, {a, b, 0}});
    return p.values() - 1;
  };
  const auto inverse = add(Operation::reciprocal_square_root, 0);
  const auto square = slope_first ? add(Operation::multiply, 2, 0) : add(Operation::multiply, 0, 2);
  const auto growth = add(Operation::add, square, 3);
  const auto product = slope_first ? add(Operation::multiply, growth, inverse)
                                   : add(Operation::multiply, inverse, growth);
  const std::array<std::uint32_t, 4> energies{product, add(Operation::subtract, product, 4),
                                              add(Operation::subtract, 4, product),
                                              add(Operation::add, product, inverse)};
  p.outputs = {add(Operation::multiply, energies[form], 1)};
  return p;
}

TEST_P(CompiledMolecules, GrowthOverDistanceIsTheNaiveLoop) {
  for (const bool slope_first : {false, true}) {
    for (std::uint32_t form = 0; form < 4; ++form) {
      const std::vector<PairTerm> terms{coulomb_term(growing(slope_first, form))};
      expect_compiled<double>(terms, GetParam(), 2e-15);
      expect_compiled<float>(terms, GetParam(), 2e-6);
    }
  }
}

TEST_P(CompiledMolecules, QuotientsByTheSquaredDistanceAreTheNaiveOnes) {
  Program p;
  p.inputs = {"r2", "q", "c"};
  p.instructions = {{Operation::divide, {2, 0, 0}},
                    {Operation::divide, {1, 0, 0}},
                    {Operation::multiply, {3, 4, 0}},
                    {Operation::divide, {0, 0, 0}},
                    {Operation::add, {5, 6, 0}}};
  p.outputs = {7};
  expect_compiled<double>({coulomb_term(p)}, GetParam(), 2e-15);
  expect_compiled<float>({coulomb_term(p)}, GetParam(), 2e-6);
}

TEST(BlockMolecules, AreTheNaiveLoop) {
  for (const std::vector<PairTerm>& terms :
       {three_terms(), std::vector<PairTerm>{coulomb_term(growing(false, 1))}}) {
    simd::BlockMoleculePairs<double> wide(terms);
    simd::BlockMoleculePairs<float> narrow(terms);
    for (const Places places : kEverywhere) {
      SCOPED_TRACE(compiled::name_of(places));
      for (const std::size_t count : {0U, 1U, 50U, 600U}) {
        Molecules<double>(terms, 3, 2, count, places).expect_naive(wide, 2e-14);
        Molecules<float>(terms, 3, 2, count, places).expect_naive(narrow, 1e-5);
      }
    }
  }
}

/// The sum of `terms` exponentials of the first input.
Program exponentials(std::uint32_t terms) {
  Program p;
  p.inputs = {"r2"};
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < terms; ++i) {
    p.instructions.push_back({Operation::multiply, {sum, 0, 0}});
    p.instructions.push_back({Operation::negate, {p.values() - 1, 0, 0}});
    p.instructions.push_back({Operation::exp, {p.values() - 1, 0, 0}});
    sum = p.values() - 1;
  }
  p.outputs = {sum};
  return p;
}

TEST(CompiledMolecules, HugeProgramsAreNotCompiled) {
  const auto compile = [](std::uint32_t terms) {
    const std::vector<PairTerm> one{coulomb_term(exponentials(terms))};
    return MoleculeFunction<double>::compile(one, {{Places::one_image}});
  };
  EXPECT_EQ(compile(10) != nullptr, compiled::best_instruction_set() != InstructionSet::portable);
  EXPECT_EQ(compile(2000), nullptr);
}

TEST_P(CompiledMolecules, RandomProgramsAreTheScalarOnes) {
  std::mt19937_64 random(21);
  for (int i = 0; i < 10; ++i) {
    Program program = random_program(random, 20, benign_operations());
    program.outputs = {program.values() - 1};
    expect_compiled<double>({coulomb_term(program)}, GetParam(), 1e-12, {{Places::one_image}});
  }
}

TEST_P(CompiledMolecules, EveryOperationIsTheScalarOne) {
  for (int i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    Program program;
    program.inputs = {"r2", "b", "c"};
    program.constants = {0.02};
    // asin and acos want something below 1
    program.instructions = {{Operation::multiply, {0, 3, 0}}, {operation, {4, 1, 2}}};
    program.outputs = {5};
    const std::vector<PairTerm> terms{coulomb_term(program)};
    const std::array places{Places::one_image};
    const bool circular =
        operation == Operation::sin || operation == Operation::cos || operation == Operation::tan;
    ASSERT_EQ(MoleculeFunction<double>::compile(terms, places, GetParam()) == nullptr, circular)
        << "operation " << i;
    if (circular) continue;
    expect_compiled<double>(terms, GetParam(), 2e-15, places);
    if (operation == Operation::floor || operation == Operation::ceil) continue;
    expect_compiled<float>(terms, GetParam(), 2e-6, places);
  }
}

TEST_P(CompiledMolecules, ThreadsShareThem) {
  const std::vector<PairTerm> terms = three_terms();
  const auto function = MoleculeFunction<double>::compile(terms, {{Places::one_image}}, GetParam());
  ASSERT_NE(function, nullptr);
  const Molecules<double> molecules(terms, 3, 2, 1000, Places::one_image);
  std::vector<std::vector<double>> energies(4, std::vector<double>(molecules.arguments.count));
  {
    std::vector<std::jthread> threads;
    for (auto& own : energies) {
      threads.emplace_back([&molecules, &own, function] {
        std::vector<double> other(own.size());
        MoleculePairArguments<double> arguments = molecules.arguments;
        arguments.energies[0] = own.data();
        arguments.energies[1] = other.data();
        (*function)(arguments);
      });
    }
  }
  for (const auto& own : energies) EXPECT_EQ(own, energies[0]);
}

/// Functions that cannot be compiled are evaluated in blocks.
TEST(PreparedPotential, TakesProgramsOfEveryKind) {
  Potential potential;
  potential.coulomb.inputs = {"r2"};
  potential.coulomb.constants = {3};  // away from the sine's zeros, where all errors are large
  potential.coulomb.instructions = {{Operation::sin, {0, 0, 0}}, {Operation::add, {1, 2, 0}}};
  potential.coulomb.outputs = {3};
  prepare(potential);
  for (const PairsWith with : {PairsWith::molecules, PairsWith::nuclei, PairsWith::grid}) {
    EXPECT_EQ(potential.prepared->function<double>(with), nullptr);
    const std::vector<PairTerm> terms = pair_terms(potential, with);
    MoleculePairs<double> pairs(potential, with);
    Molecules<double>(terms, 2, 1, 50, Places::one_image).expect_naive(pairs, 2e-14);
  }
  potential.coulomb.instructions[0].operation = Operation::reciprocal;
  prepare(potential);
  EXPECT_EQ(potential.prepared->function<double>(PairsWith::grid) != nullptr,
            compiled::best_instruction_set() != InstructionSet::portable);
}

}  // namespace
}  // namespace starpmc::test
