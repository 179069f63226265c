#include "system/element_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <limits>

#include "kernels/base/error.hpp"
#include "system/elements.hpp"
#include "system/text.hpp"

namespace starpmc {
namespace {

constexpr double shortest_bond = 0.75;  // of the sum of the covalent radii
constexpr std::array<int, 6> noble_gases{2, 10, 18, 36, 54, 86};
constexpr std::array<int, 7> never_alone{1, 5, 6, 7, 14, 15, 16};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// The first letters in a row.
std::string_view first_letters(std::string_view name) {
  const auto first = std::find_if(name.begin(), name.end(), is_letter);
  return {first, std::find_if_not(first, name.end(), is_letter)};
}

/// Residues of proteins, protonated and terminal ones too (AMBER's begin with N or C).
bool is_amino_acid(std::string_view residue) {
  static constexpr std::array<std::string_view, 48> names{
      "ALA",  "ARG",  "ASN",  "ASP",  "CYS",  "GLN", "GLU", "GLY",  "HIS",  "ILE",  "LEU",  "LYS",
      "MET",  "PHE",  "PRO",  "SER",  "THR",  "TRP", "TYR", "VAL",  "ASH",  "GLH",  "LYN",  "CYX",
      "CYM",  "HID",  "HIE",  "HIP",  "HSD",  "HSE", "HSP", "HISA", "HISB", "HISH", "HISD", "HISE",
      "ASPH", "GLUH", "LYSH", "CYSH", "ARGN", "ORN", "HYP", "SEP",  "TPO",  "PTR",  "ACE",  "NME"};
  const auto is_residue = [&](std::string_view text) {
    return std::ranges::any_of(names, [&](auto name) { return equal_ignoring_case(name, text); });
  };
  const bool terminal = residue.size() == 4 &&
                        std::string_view("NCnc").find(residue.front()) != std::string_view::npos;
  return is_residue(residue) || (terminal && is_residue(residue.substr(1)));
}

/// Symbol of an ion in CHARMM's force fields, or nothing.
std::string_view charmm_ion(std::string_view name) {
  constexpr std::array<std::array<std::string_view, 2>, 6> ions{
      {{"SOD", "Na"}, {"POT", "K"}, {"CAL", "Ca"}, {"LIT", "Li"}, {"CES", "Cs"}, {"RUB", "Rb"}}};
  for (const auto& [ion, symbol] : ions) {
    if (equal_ignoring_case(ion, name)) return symbol;
  }
  return {};
}

template <std::size_t count>
bool is_one_of(const std::array<int, count>& numbers, const Element& element) {
  return std::find(numbers.begin(), numbers.end(), element.atomic_number) != numbers.end();
}

/// Whether an element may have an atom of `other` as its nearest at this distance.
bool possible(const Element& element, std::span<const Element* const> other, double distance) {
  double smallest = std::numeric_limits<double>::max();
  double largest = 0;
  for (const Element* candidate : other) {
    smallest = std::min(smallest, candidate->covalent_radius_angstrom);
    largest = std::max(largest, candidate->covalent_radius_angstrom);
  }
  const double radius = element.covalent_radius_angstrom;
  const bool may_be_bonded = distance < radius + largest + kBondToleranceAngstrom;
  const bool is_bonded = distance < radius + smallest + kBondToleranceAngstrom;
  return distance >= shortest_bond * (radius + smallest) &&
         !(is_bonded && is_one_of(noble_gases, element)) &&
         !(!may_be_bonded && is_one_of(never_alone, element));
}

/// Index of the nearest other atom; the atom's own where there is none.
std::size_t nearest_atom(std::span<const Vector3> positions, std::size_t atom) {
  std::size_t nearest = atom;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (i != atom && (nearest == atom || norm(positions[i] - positions[atom]) <
                                             norm(positions[nearest] - positions[atom]))) {
      nearest = i;
    }
  }
  return nearest;
}

}  // namespace

std::vector<const Element*> elements_in_name(std::string_view atom_name) {
  const std::string_view letters = first_letters(atom_name);
  std::vector<const Element*> found;
  for (std::size_t length : {std::size_t{2}, std::size_t{1}}) {
    const Element* element =
        letters.size() < length ? nullptr : element_by_symbol(letters.substr(0, length));
    if (element == nullptr) {
      continue;
    }
    found.push_back(element);
    if (element->symbol == letters.substr(0, length)) {
      break;  // "Cl": the second letter is small
    }
  }
  return found;
}

std::vector<const Element*> elements_without_mass(std::string_view atom_name,
                                                  std::string_view residue) {
  const std::string_view letters = first_letters(atom_name);
  const bool is_ion = equal_ignoring_case(letters, first_letters(residue));
  if (is_ion && !charmm_ion(letters).empty()) return {element_by_symbol(charmm_ion(letters))};
  std::vector<const Element*> choice = elements_in_name(atom_name);
  if (choice.size() < 2) return choice;
  if ((is_ion && letters.size() == 2) || choice[0]->symbol == "Cl" || choice[0]->symbol == "Br") {
    return {choice[0]};
  }
  // Hydrogens are named after what they are bound to (HG), and carbons count in letters (CAB).
  if (letters.size() > 2 || choice[1]->symbol == "H" || is_amino_acid(residue)) return {choice[1]};
  return choice;
}

std::string element_choice(std::span<const Element* const> choice) {
  std::string text;
  for (const Element* element : choice) {
    text += (text.empty() ? "" : " or ") + std::string(element->symbol);
  }
  return text.empty() ? "no element" : text;
}

std::vector<const Element*> elements_from_names(std::span<const std::string> names,
                                                std::span<const Vector3> positions,
                                                std::span<const std::string> places) {
  std::vector<std::vector<const Element*>> choices;
  for (std::size_t i = 0; i < names.size(); ++i) {
    choices.push_back(elements_in_name(names[i]));
    if (choices.back().empty()) {
      throw InputError(places[i], "no element can be told from the atom name", names[i],
                       "begin the name with the element's symbol, or use .xyz");
    }
  }
  std::vector<const Element*> elements;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::vector<const Element*> left = choices[i];
    const std::size_t nearest = nearest_atom(positions, i);
    const double distance =
        nearest == i ? std::numeric_limits<double>::max() : norm(positions[nearest] - positions[i]);
    if (left.size() > 1) {
      std::erase_if(left, [&](const Element* element) {
        return !possible(*element, choices[nearest], distance);
      });
    }
    if (left.size() != 1) {
      throw InputError(places[i],
                       fmt::format("the atom name can stand for {}", element_choice(choices[i])),
                       names[i],
                       fmt::format("write the symbol's second letter small ({}), begin the name "
                                   "otherwise (C1, S2), or give the solute as .xyz",
                                   choices[i].front()->symbol));
    }
    elements.push_back(left.front());
  }
  return elements;
}

}  // namespace starpmc
