#include "system/pdb_file.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "base/byte_columns.hpp"

namespace starpmc {
namespace {

std::string upper_case(std::string_view text) {
  std::string upper;
  for (char c : text) {
    upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return upper;
}

class PdbText {
 public:
  explicit PdbText(const System& system) {
    const Vector3& edges = system.box.lengths;
    text_ = fmt::format(
        "TITLE     {}\nCRYST1{:9.3f}{:9.3f}{:9.3f}{:7.2f}{:7.2f}{:7.2f} P 1"
        "           1\n",
        first_bytes(system.title, 70), edges.x, edges.y, edges.z, 90.0, 90.0, 90.0);
  }

  void add_atom(std::string_view record, std::string_view name, std::string_view residue,
                char chain, std::size_t residue_number, const Vector3& r,
                std::string_view element) {
    // One-letter elements begin in the second column of the name.
    const std::string shown =
        name.size() < 4 && element.size() == 1 ? fmt::format(" {}", name) : std::string(name);
    fmt::format_to(std::back_inserter(text_),
                   "{:<6s}{:5d} {} {} {}{:4d}    {:8.3f}{:8.3f}{:8.3f}{:6.2f}{:6.2f}"
                   "          {}\n",
                   record, ++atoms_ % 100000, left_column(shown, 4),
                   right_column(upper_case(residue), 3), chain, residue_number % 10000, r.x, r.y,
                   r.z, 1.0, 0.0, right_column(upper_case(element), 2));
  }

  std::string finish() && { return std::move(text_) + "END\n"; }

 private:
  std::string text_;
  std::size_t atoms_ = 0;
};

Vector3 wrapping_shift(const Box& box, const Vector3& r) {
  return {-box.lengths.x * std::floor(r.x / box.lengths.x),
          -box.lengths.y * std::floor(r.y / box.lengths.y),
          -box.lengths.z * std::floor(r.z / box.lengths.z)};
}

}  // namespace

std::string format_pdb(const System& system) {
  PdbText text(system);
  if (system.solute) {
    const Solute& solute = *system.solute;
    for (std::size_t i = 0; i < solute.atom_count(); ++i) {
      text.add_atom("HETATM", fmt::format("{}{}", upper_case(solute.elements[i]), i + 1),
                    solute.name, 'A', 1, solute.positions[i], solute.elements[i]);
    }
  }
  for (std::size_t m = 0; m < system.molecules.size(); ++m) {
    const Molecule& molecule = system.molecules[m];
    const MoleculeType& type = system.molecule_types[molecule.type];
    const Vector3 shift = wrapping_shift(system.box, molecule.centre);
    for (std::size_t s = 0; s < type.sites.size(); ++s) {
      const bool is_virtual = type.sites[s].element.empty() && type.sites[s].mass == 0;
      if (!is_virtual) {
        text.add_atom("HETATM", type.sites[s].name, type.name, 'B', m + 1,
                      site_position(system, molecule, s) + shift, type.sites[s].element);
      }
    }
  }
  return std::move(text).finish();
}

}  // namespace starpmc
