#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace starpmc {

/// Facts about a chemical element.
struct Element {
  std::string_view symbol;
  int atomic_number;
  double mass;                      ///< g/mol, abridged standard atomic weight
  double covalent_radius_angstrom;  ///< Cordero et al., Dalton Trans. 2008, 2832
  double vdw_radius_angstrom;       ///< Bondi 1964; Mantina et al. 2009; 2.0 where neither has one
};

/// The elements this program knows, by atomic number (hydrogen to radon).
std::span<const Element> elements();

/// Element of an atomic number, or nothing.
const Element* element_by_number(int atomic_number);

/// Element of a symbol in any case ("CL", "Cl"), or nothing.
const Element* element_by_symbol(std::string_view symbol);

/// Element nearest to a mass, if within 0.6 g/mol (0.15 for the lightest), or nothing.
const Element* element_by_mass(double mass);

/// Element of an atom: by its atomic number where given (> 0), else by its name where the mass does
/// not contradict, else by its mass alone. Without a mass by its name and residue; where the name
/// can stand for two, the one of one letter. Nothing where none of them tells.
const Element* guess_element(int atomic_number, double mass, std::string_view atom_name,
                             std::string_view residue = {});

/// Atoms are taken as bonded where they are nearer than the sum of their radii and this.
inline constexpr double kBondToleranceAngstrom = 0.4;

}  // namespace starpmc
