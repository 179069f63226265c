#include "bench/contestant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/base/error.hpp"
#include "potential/pair_potential.hpp"

namespace starpmc {
namespace {

constexpr std::array kFunctionNames{std::string_view("built-in"), std::string_view("expressions")};

constexpr const char* kShiftedForceCoulomb = "(1+(r/cutoff)^2)/r-2/cutoff";
constexpr const char* kLennardJones =
    "4*epsilon*((sigma/r)^12-(sigma/r)^6); sigma=sqrt(sigma1*sigma2);"
    " epsilon=sqrt(epsilon1*epsilon2)";

/// fp64: rounding. Below it pairs are in single precision, of the user's functions those whose
/// error allows it.
double allowed_difference(Precision precision) {
  return precision == Precision::fp64 ? 1e-10 : 1e-3;
}

}  // namespace

std::string_view functions_name(Functions functions) {
  return kFunctionNames[static_cast<std::size_t>(functions)];
}

BenchSystem with_expressions(BenchSystem bench) {
  Settings::PotentialSection& potential = bench.settings.potential;
  potential.coulomb = kShiftedForceCoulomb;
  potential.mm_vdw = kLennardJones;
  potential.qmmm_vdw = kLennardJones;
  return bench;
}

std::vector<Contestant> make_contestants(const BenchSystem& bench,
                                         std::span<const Functions> functions,
                                         const StarpuRuntime& runtime) {
  std::vector<Contestant> contestants;
  for (const Functions kind : functions) {
    if (kind == Functions::built_in) {
      contestants.push_back({kind, bench, ""});
      continue;
    }
    BenchSystem system = with_expressions(bench);
    const PairPotential pairs = make_pair_potential(system.system, system.settings);
    contestants.push_back({kind, std::move(system), runtime.add_potential(pairs.functions)});
  }
  return contestants;
}

void add_ratios(std::span<BenchCase> rivals) {
  const auto built_in =
      std::ranges::find(rivals, functions_name(Functions::built_in), &BenchCase::functions);
  if (built_in == rivals.end()) return;
  for (BenchCase& rival : rivals) {
    if (rival.functions == built_in->functions) continue;
    const auto add = [&](const char* name, const char* time) {
      const Figure* const own = rival.figure(time);
      const Figure* const other = built_in->figure(time);
      if (own == nullptr || other == nullptr) return;
      const double ratio = own->value / other->value;
      rival.figures.push_back({name, ratio});
    };
    add("time_over_built_in", "microseconds_per_step");
    add("kernel_time_over_built_in", "kernel_microseconds_per_task");
  }
}

double energy_difference(std::span<const double> energies, std::span<const double> built_in,
                         Precision precision) {
  if (energies.size() != built_in.size()) {
    throw RunError("expressions and built-in functions were given different windows");
  }
  double largest = 0;
  const double allowed = allowed_difference(precision);
  for (std::size_t i = 0; i < energies.size(); ++i) {
    const double difference =
        std::abs(energies[i] - built_in[i]) / std::max(1.0, std::abs(built_in[i]));
    // Written so that NaN fails as well.
    if (!(difference <= allowed)) {
      throw RunError(fmt::format(
          "expressions give an energy of {} kJ/mol, built-in functions {}: one of them computes "
          "wrongly",
          energies[i], built_in[i]));
    }
    largest = std::max(largest, difference);
  }
  return largest;
}

}  // namespace starpmc
