#include "kernels/molecule_pairs.hpp"

#include <algorithm>

#include "kernels/arguments.hpp"

namespace starpmc {
namespace {

/// Appends instructions to a program.
class Appending {
 public:
  explicit Appending(Program& program) : program_(program) {}
  std::uint32_t operator()(Operation operation, std::uint32_t a, std::uint32_t b = 0) {
    program_.instructions.push_back({operation, {a, b, 0}});
    return program_.values() - 1;
  }

 private:
  Program& program_;
};

/// (1 - r/rc)^2 / r of r^2 and 1/rc.
Program shifted_force() {
  Program program{{"r^2", "1/rc"}, {1}, {}, {}};
  Appending append(program);
  const auto inverse = append(Operation::reciprocal_square_root, 0);
  const auto r = append(Operation::multiply, 0, inverse);
  const auto remaining = append(Operation::subtract, 2, append(Operation::multiply, r, 1));
  const auto product = append(Operation::multiply, inverse, remaining);
  program.outputs = {append(Operation::multiply, product, remaining)};
  return program;
}

/// c12/r^12 - c6/r^6 + shift + slope r.
Program lennard_jones() {
  Program program{{"r^2", "c12", "c6", "shift", "slope"}, {}, {}, {}};
  Appending append(program);
  const auto inverse = append(Operation::reciprocal_square_root, 0);
  const auto r = append(Operation::multiply, 0, inverse);
  const auto inverse2 = append(Operation::multiply, inverse, inverse);
  const auto inverse4 = append(Operation::multiply, inverse2, inverse2);
  const auto inverse6 = append(Operation::multiply, inverse4, inverse2);
  const auto depth = append(Operation::subtract, append(Operation::multiply, 1, inverse6), 2);
  const auto linear = append(Operation::add, append(Operation::multiply, 4, r), 3);
  program.outputs = {append(Operation::add, append(Operation::multiply, depth, inverse6), linear)};
  return program;
}

}  // namespace

Program with_factor(Program program) {
  const std::uint32_t factor = program.first_constant();
  const auto moved = [&](std::uint32_t value) { return value < factor ? value : value + 1; };
  for (Instruction& instruction : program.instructions) {
    std::ranges::transform(instruction.operands, instruction.operands.begin(), moved);
  }
  const std::uint32_t output = moved(program.outputs.front());
  program.inputs.emplace_back("charges");
  program.outputs = {Appending(program)(Operation::multiply, factor, output)};
  return program;
}

std::vector<PairTerm> pair_terms(const Potential& potential, PairsWith with) {
  const bool own_coulomb = Potential::exists(potential.coulomb);
  std::vector<PairTerm> terms;
  terms.push_back(
      {with_factor(own_coulomb ? potential.coulomb : shifted_force()), MoleculeEnergy::coulomb});
  if (with == PairsWith::grid) return terms;
  terms.push_back({lennard_jones(), MoleculeEnergy::vdw});
  const Program& own = with == PairsWith::nuclei ? potential.qmmm : potential.mm;
  if (Potential::exists(own)) terms.push_back({own, MoleculeEnergy::vdw});
  return terms;
}

template <class T>
void SitePairTerms<T>::add(std::span<const PairTerm> terms, double coulomb_cutoff, double charges,
                           const double* built_in, const double* function) {
  const auto append = [&](std::span<const double> values) {
    for (const double value : values) coefficients.push_back(static_cast<T>(value));
  };
  std::uint32_t has = (charges != 0 ? 1U : 0U) | (built_in[0] != 0 || built_in[1] != 0 ? 2U : 0U);
  if (terms[0].coefficients() == 2) append({{1 / coulomb_cutoff}});
  append({{charges}});
  append({built_in, terms[1].coefficients()});
  if (terms.size() > 2) {
    if (function[0] != 0) has |= 4U;
    append({function + 1, terms[2].coefficients()});
  }
  present.push_back(has);
}

template <class T>
SitePairTerms<T> terms_of_molecules(std::span<const PairTerm> terms, const Topology& topology,
                                    double coulomb_cutoff, int target_type, int source_type) {
  const int first = std::min(target_type, source_type);
  const int second = std::max(target_type, source_type);
  SitePairTerms<T> pairs;
  const auto most =
      static_cast<std::size_t>(topology.site_count(first) * topology.site_count(second));
  pairs.sites.reserve(2 * most);
  pairs.parts.reserve(3);
  pairs.present.reserve(most);
  std::size_t per_pair = 0;
  for (const PairTerm& term : terms) per_pair += term.coefficients();
  pairs.coefficients.reserve(most * per_pair);
  /// A site of each type, and which of them is the target's.
  const auto add = [&](int i, int j, bool target_first) {
    const double charges =
        STARPMC_COULOMB_CONSTANT * topology.site(first, i)[3] * topology.site(second, j)[3];
    const double* const pair =
        topology.pair(topology.site_type(first, i), topology.site_type(second, j));
    const std::size_t coefficients = pairs.coefficients.size();
    pairs.add(terms, coulomb_cutoff, charges, pair, pair + topology.shape.pairs.mm_function);
    if (pairs.present.back() == 0) {
      pairs.present.pop_back();
      pairs.coefficients.resize(coefficients);
      return;
    }
    pairs.sites.push_back(static_cast<std::uint32_t>(target_first ? i : j));
    pairs.sites.push_back(static_cast<std::uint32_t>(target_first ? j : i));
  };
  auto end_part = [&, before = std::size_t{0}]() mutable {
    const std::size_t count = pairs.present.size() - before;
    if (count > 0) pairs.parts.push_back(count);
    before += count;
  };
  if (first != second) {
    for (int i = 0; i < topology.site_count(first); ++i) {
      for (int j = 0; j < topology.site_count(second); ++j) add(i, j, target_type == first);
    }
    end_part();
    return pairs;
  }
  for (const bool target_first : {true, false}) {
    for (int i = 0; i < topology.site_count(first); ++i) {
      for (int j = 0; j < i; ++j) add(i, j, target_first);
    }
    end_part();
  }
  for (int i = 0; i < topology.site_count(first); ++i) add(i, i, true);
  end_part();
  pairs.three_sites = topology.site_count(first) == 3 && pairs.present.size() == 9;
  for (std::size_t pair = 0; pair < pairs.present.size(); ++pair) {
    const std::uint32_t has = pairs.present[pair];
    if (pair == kPairOfFirstSites ? (has & 1U) == 0 : has != 1) pairs.three_sites = false;
  }
  return pairs;
}

template struct SitePairTerms<float>;
template struct SitePairTerms<double>;
template SitePairTerms<float> terms_of_molecules(std::span<const PairTerm>, const Topology&, double,
                                                 int, int);
template SitePairTerms<double> terms_of_molecules(std::span<const PairTerm>, const Topology&,
                                                  double, int, int);

}  // namespace starpmc
