#pragma once

#include <cmath>
#include <vector>

#include "system/system.hpp"

namespace starpmc::test {

/// Two solute atoms and six four-site waters (the fourth site virtual) plus two argon atoms in an
/// oblong box; some centres lie outside it.
inline System example_system() {
  System system;
  system.title = "example";
  system.box = Box{{20, 25, 30}};
  system.force_field.site_type_names = {"X"};
  system.force_field.pairs = {{}};
  system.solute = Solute{"CLF", {"Cl", "F"}, {17, 9}, {{9, 12, 15}, {10.6, 12, 15}}, {0, 0}};
  system.molecule_types = {{"SOL",
                            {{"OW", "O", 0, 0, 15.999, {0, 0.065, 0}},
                             {"HW1", "H", 0, 0.52, 1.008, {0.757, -0.52, 0}},
                             {"HW2", "H", 0, 0.52, 1.008, {-0.757, -0.52, 0}},
                             {"MW", "", 0, -1.04, 0, {0, -0.09, 0}}}},
                           {"AR", {{"AR", "Ar", 0, 0, 39.95, {0, 0, 0}}}}};
  for (int i = 0; i < 6; ++i) {
    const double half_angle = 0.3 * i;
    system.molecules.push_back({0,
                                {3.3 * i - 5, 27.0 - 4 * i, 2.5 * i},
                                {std::cos(half_angle), std::sin(half_angle), 0, 0}});
  }
  system.molecules.push_back({1, {1, 2, 3}, {}});
  system.molecules.push_back({1, {1, 2, 33}, {}});
  return system;
}

/// A move that can be told from the frame alone.
inline std::vector<Molecule> moved(const System& system, int frame) {
  std::vector<Molecule> molecules = system.molecules;
  for (Molecule& molecule : molecules)
    molecule.centre = molecule.centre + Vector3{0.1 * frame, -0.37 * frame, 1e-9 * frame};
  return molecules;
}

}  // namespace starpmc::test
