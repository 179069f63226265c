#include "system/ions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>
#include <random>

#include "kernels/base/error.hpp"
#include "system/text.hpp"

namespace starpmc {
namespace {

constexpr const char* kPlace = "--ions";
constexpr double kMoleculesPerCubicAngstrom = 6.02214076e-4;  ///< at 1 mol/L
constexpr double kLargestConcentration = 10;                  ///< mol/L
constexpr std::size_t kMostInFormula = 9;

/// "Na", "Cl2": symbol and number, from the front of `formula`, which is shortened.
Ions take_part(std::string_view& formula, std::string_view text,
               std::span<const MoleculeDefinition> known) {
  const auto is = [](int (*kind)(int), char c) { return kind(static_cast<unsigned char>(c)) != 0; };
  std::size_t end = formula.empty() ? 0 : 1;
  while (end < formula.size() && is(std::islower, formula[end])) ++end;
  const std::string_view symbol = formula.substr(0, end);
  std::vector<std::string> names;
  for (const MoleculeDefinition& definition : known) {
    names.push_back(definition.name);
    if (!equal_ignoring_case(definition.name, symbol) || definition.atoms.size() != 1) continue;
    formula.remove_prefix(end);
    std::size_t count = 1;
    if (!formula.empty() && is(std::isdigit, formula[0])) {
      count = static_cast<std::size_t>(formula[0] - '0');
      formula.remove_prefix(1);
    }
    const TopologyAtom& atom = definition.atoms.front();
    return {definition.name, atom.name, atom.type, static_cast<int>(std::lround(atom.charge)),
            count};
  }
  throw InputError(kPlace, fmt::format("no such ion in '{}'", text), symbol,
                   fmt::format("write a salt of two of the force field's ions, {}, as NaCl:0.15 or "
                               "MgCl2:0.1 (mol/L)",
                               fmt::join(names, " ")));
}

double parse_concentration(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  // Written so that NaN fails as well.
  if (whole && value >= 0 && value <= kLargestConcentration) return value;
  throw InputError(kPlace, "not a concentration", text,
                   fmt::format("write 0 (counter-ions only) to {} mol/L behind the colon, as in "
                               "NaCl:0.15",
                               kLargestConcentration));
}

/// Uniform in [0, bound), the same on every platform.
std::size_t below(std::mt19937_64& generator, std::size_t bound) {
  return static_cast<std::size_t>(static_cast<double>(generator() >> 11U) * 0x1p-53 *
                                  static_cast<double>(bound));
}

}  // namespace

Salt parse_salt(std::string_view text, std::span<const MoleculeDefinition> known) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    throw InputError(kPlace, "no concentration", text, "write salt:mol/L, as NaCl:0.15 or NaCl:0");
  }
  Salt salt;
  salt.mol_per_litre = parse_concentration(text.substr(colon + 1));
  std::string_view formula = text.substr(0, colon);
  salt.cations = take_part(formula, text, known);
  salt.anions = take_part(formula, text, known);
  const auto charge = [](const Ions& ions) { return ions.charge * static_cast<int>(ions.count); };
  if (formula.empty() && salt.cations.charge > 0 && salt.anions.charge < 0 &&
      salt.cations.count > 0 && charge(salt.cations) + charge(salt.anions) == 0) {
    return salt;
  }
  throw InputError(kPlace, "not a neutral salt of a cation and an anion", text.substr(0, colon),
                   "write the cation first, as NaCl:0.15, KBr:0.1 or MgCl2:0.1");
}

std::vector<Ions> count_ions(const Salt& salt, double volume_cubic_angstrom, int solute_charge) {
  const auto units = static_cast<std::size_t>(
      std::lround(salt.mol_per_litre * volume_cubic_angstrom * kMoleculesPerCubicAngstrom));
  std::vector<Ions> ions{salt.cations, salt.anions};
  for (Ions& kind : ions) kind.count *= units;
  if (solute_charge % std::gcd(salt.cations.charge, salt.anions.charge) != 0) {
    throw InputError(kPlace, "these ions cannot neutralise the solute's charge",
                     fmt::format("{:+d} e", solute_charge), "take a salt with an ion of charge 1");
  }
  int charge = solute_charge;
  while (charge != 0) {
    Ions& counter = charge < 0 ? ions[0] : ions[1];
    ++counter.count;
    charge += counter.charge;
  }
  return ions;
}

std::vector<std::size_t> choose_waters(const Box& box, std::span<const Vector3> solute,
                                       std::span<const std::vector<Vector3>> waters,
                                       std::size_t count, double distance, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<std::size_t> order(waters.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<Vector3> taken(solute.begin(), solute.end());
  std::vector<std::size_t> chosen;
  for (std::size_t left = order.size(); left > 0 && chosen.size() < count; --left) {
    std::swap(order[below(generator, left)], order[left - 1]);
    const std::size_t water = order[left - 1];
    const Vector3& place = waters[water].front();
    const bool free = std::ranges::all_of(taken, [&](const Vector3& other) {
      return norm(box.minimum_image(place - other)) >= distance;
    });
    if (!free) continue;
    taken.push_back(place);
    chosen.push_back(water);
  }
  if (chosen.size() == count) return chosen;
  throw InputError(
      kPlace,
      fmt::format("only {} of {} ions have a place {:g} angstrom from the solute and each other",
                  chosen.size(), count, distance),
      "", "ask for more waters, a lower concentration, or a shorter --ion-distance");
}

}  // namespace starpmc
