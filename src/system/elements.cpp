#include "system/elements.hpp"

#include <array>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

#include "system/element_names.hpp"
#include "system/text.hpp"

namespace starpmc {
namespace {

constexpr std::array<Element, 86> table{{
    {"H", 1, 1.008, 0.31, 1.20},    {"He", 2, 4.0026, 0.28, 1.40},  {"Li", 3, 6.94, 1.28, 1.82},
    {"Be", 4, 9.0122, 0.96, 1.53},  {"B", 5, 10.81, 0.84, 1.92},    {"C", 6, 12.011, 0.76, 1.70},
    {"N", 7, 14.007, 0.71, 1.55},   {"O", 8, 15.999, 0.66, 1.52},   {"F", 9, 18.998, 0.57, 1.47},
    {"Ne", 10, 20.180, 0.58, 1.54}, {"Na", 11, 22.990, 1.66, 2.27}, {"Mg", 12, 24.305, 1.41, 1.73},
    {"Al", 13, 26.982, 1.21, 1.84}, {"Si", 14, 28.085, 1.11, 2.10}, {"P", 15, 30.974, 1.07, 1.80},
    {"S", 16, 32.06, 1.05, 1.80},   {"Cl", 17, 35.45, 1.02, 1.75},  {"Ar", 18, 39.948, 1.06, 1.88},
    {"K", 19, 39.098, 2.03, 2.75},  {"Ca", 20, 40.078, 1.76, 2.31}, {"Sc", 21, 44.956, 1.70, 2.0},
    {"Ti", 22, 47.867, 1.60, 2.0},  {"V", 23, 50.942, 1.53, 2.0},   {"Cr", 24, 51.996, 1.39, 2.0},
    {"Mn", 25, 54.938, 1.39, 2.0},  {"Fe", 26, 55.845, 1.32, 2.0},  {"Co", 27, 58.933, 1.26, 2.0},
    {"Ni", 28, 58.693, 1.24, 1.63}, {"Cu", 29, 63.546, 1.32, 1.40}, {"Zn", 30, 65.38, 1.22, 1.39},
    {"Ga", 31, 69.723, 1.22, 1.87}, {"Ge", 32, 72.630, 1.20, 2.11}, {"As", 33, 74.922, 1.19, 1.85},
    {"Se", 34, 78.971, 1.20, 1.90}, {"Br", 35, 79.904, 1.20, 1.83}, {"Kr", 36, 83.798, 1.16, 2.02},
    {"Rb", 37, 85.468, 2.20, 3.03}, {"Sr", 38, 87.62, 1.95, 2.49},  {"Y", 39, 88.906, 1.90, 2.0},
    {"Zr", 40, 91.224, 1.75, 2.0},  {"Nb", 41, 92.906, 1.64, 2.0},  {"Mo", 42, 95.95, 1.54, 2.0},
    {"Tc", 43, 97.0, 1.47, 2.0},    {"Ru", 44, 101.07, 1.46, 2.0},  {"Rh", 45, 102.91, 1.42, 2.0},
    {"Pd", 46, 106.42, 1.39, 1.63}, {"Ag", 47, 107.87, 1.45, 1.72}, {"Cd", 48, 112.41, 1.44, 1.58},
    {"In", 49, 114.82, 1.42, 1.93}, {"Sn", 50, 118.71, 1.39, 2.17}, {"Sb", 51, 121.76, 1.39, 2.06},
    {"Te", 52, 127.60, 1.38, 2.06}, {"I", 53, 126.90, 1.39, 1.98},  {"Xe", 54, 131.29, 1.40, 2.16},
    {"Cs", 55, 132.91, 2.44, 3.43}, {"Ba", 56, 137.33, 2.15, 2.68}, {"La", 57, 138.91, 2.07, 2.0},
    {"Ce", 58, 140.12, 2.04, 2.0},  {"Pr", 59, 140.91, 2.03, 2.0},  {"Nd", 60, 144.24, 2.01, 2.0},
    {"Pm", 61, 145.0, 1.99, 2.0},   {"Sm", 62, 150.36, 1.98, 2.0},  {"Eu", 63, 151.96, 1.98, 2.0},
    {"Gd", 64, 157.25, 1.96, 2.0},  {"Tb", 65, 158.93, 1.94, 2.0},  {"Dy", 66, 162.50, 1.92, 2.0},
    {"Ho", 67, 164.93, 1.92, 2.0},  {"Er", 68, 167.26, 1.89, 2.0},  {"Tm", 69, 168.93, 1.90, 2.0},
    {"Yb", 70, 173.05, 1.87, 2.0},  {"Lu", 71, 174.97, 1.87, 2.0},  {"Hf", 72, 178.49, 1.75, 2.0},
    {"Ta", 73, 180.95, 1.70, 2.0},  {"W", 74, 183.84, 1.62, 2.0},   {"Re", 75, 186.21, 1.51, 2.0},
    {"Os", 76, 190.23, 1.44, 2.0},  {"Ir", 77, 192.22, 1.41, 2.0},  {"Pt", 78, 195.08, 1.36, 1.75},
    {"Au", 79, 196.97, 1.36, 1.66}, {"Hg", 80, 200.59, 1.32, 1.55}, {"Tl", 81, 204.38, 1.45, 1.96},
    {"Pb", 82, 207.2, 1.46, 2.02},  {"Bi", 83, 208.98, 1.48, 2.07}, {"Po", 84, 209.0, 1.40, 1.97},
    {"At", 85, 210.0, 1.50, 2.02},  {"Rn", 86, 222.0, 1.50, 2.20},
}};

bool mass_fits(const Element& element, double mass) {
  return std::abs(element.mass - mass) < (element.atomic_number <= 2 ? 0.15 : 0.6);
}

/// The letters of an atom name, without the digits some programs put in front ("1HB").
std::string_view leading_letters(std::string_view name) {
  std::size_t first = 0;
  while (first < name.size() && !std::isalpha(static_cast<unsigned char>(name[first]))) {
    ++first;
  }
  std::size_t last = first;
  while (last < name.size() && std::isalpha(static_cast<unsigned char>(name[last]))) {
    ++last;
  }
  return name.substr(first, last - first);
}

}  // namespace

std::span<const Element> elements() { return table; }

const Element* element_by_number(int atomic_number) {
  if (atomic_number < 1 || atomic_number > static_cast<int>(table.size())) {
    return nullptr;
  }
  return &table[static_cast<std::size_t>(atomic_number - 1)];
}

const Element* element_by_symbol(std::string_view symbol) {
  for (const Element& element : table) {
    if (equal_ignoring_case(element.symbol, symbol)) {
      return &element;
    }
  }
  return nullptr;
}

const Element* element_by_mass(double mass) {
  const Element* nearest = nullptr;
  for (const Element& element : table) {
    if (mass_fits(element, mass) &&
        (!nearest || std::abs(element.mass - mass) < std::abs(nearest->mass - mass))) {
      nearest = &element;
    }
  }
  return nearest;
}

const Element* guess_element(int atomic_number, double mass, std::string_view atom_name,
                             std::string_view residue) {
  if (const Element* element = element_by_number(atomic_number)) {
    return element;
  }
  if (mass <= 0) {
    const std::vector<const Element*> choice = elements_without_mass(atom_name, residue);
    return choice.empty() ? nullptr : choice.back();
  }
  const std::string_view letters = leading_letters(atom_name);
  for (std::size_t length : {std::size_t{2}, std::size_t{1}}) {
    const Element* element =
        letters.size() >= length ? element_by_symbol(letters.substr(0, length)) : nullptr;
    if (element && mass_fits(*element, mass)) {
      return element;
    }
  }
  return element_by_mass(mass);
}

}  // namespace starpmc
