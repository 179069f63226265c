#include "system/solute_file.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "kernels/base/error.hpp"
#include "system/atom_order.hpp"
#include "system/gro_molecule.hpp"
#include "system/rigid_geometry.hpp"
#include "system/text.hpp"
#include "system/xyz_file.hpp"

namespace starpmc {
namespace {

constexpr double largest_shift_angstrom = 0.02;

struct SoluteFile {
  std::vector<Vector3> positions;
  std::vector<NamedAtom> atoms;
  std::vector<std::string> names{};  ///< that tell an order
  std::size_t frames = 1;
};

SoluteFile read_solute_file(const std::filesystem::path& path) {
  SoluteFile file;
  if (lower_case(path.extension().string()) == ".gro") {
    const GroFile gro = read_gro_molecule(path);
    file.frames = gro.frames;
    for (const GroAtom& atom : gro.atoms) {
      file.positions.push_back(atom.position);
      file.atoms.push_back({atom.atom_name, nullptr, place_of(path, atom.line)});
      if (!is_of_a_run(gro)) file.names.push_back(atom.atom_name);
    }
    return file;
  }
  const Geometry geometry = read_geometry(path);
  constexpr std::size_t first_line = 3;
  for (std::size_t i = 0; i < geometry.elements.size(); ++i) {
    file.positions.push_back(geometry.positions[i]);
    file.atoms.push_back(
        {"", element_by_symbol(geometry.elements[i]), place_of(path, i + first_line)});
  }
  return file;
}

/// Atoms that lie where the box's coordinates have them, but not all of them in one image of the
/// box: another molecule.
void check_same_image(const Box& box, const SoluteFile& file, std::span<const Vector3> positions,
                      std::span<const std::vector<NamedAtom>> named) {
  std::vector<Vector3> whole(positions.begin(), positions.end());
  const std::vector<std::size_t> neighbours = make_whole(box, whole);
  // Where the coordinates leave open how a long molecule lies, the file decides.
  if (open_distance(box, file.positions, whole, neighbours)) return;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const std::size_t j = neighbours[i];
    const double in_file = norm(file.positions[i] - file.positions[j]);
    const double in_box = norm(whole[i] - whole[j]);
    if (norm(file.positions[i] - file.positions[j] - (whole[i] - whole[j])) <=
        2 * largest_shift_angstrom) {
      continue;
    }
    throw InputError(file.atoms[i].place,
                     fmt::format("the distance from atom {} to atom {} is another one than in {}, "
                                 "where it is {:.3f} angstrom",
                                 i + 1, j + 1, named[i].front().place, in_box),
                     fmt::format("{:.3f} angstrom", in_file),
                     "write the molecule whole, not broken over the boundary of a periodic box "
                     "('gmx trjconv -pbc mol')");
  }
}

}  // namespace

void check_solute_file(const std::filesystem::path& path) { read_solute_file(path); }

void take_solute_file(const std::filesystem::path& path, const Box& box,
                      const MoleculeDefinition& molecule, Solute& solute,
                      std::span<std::vector<NamedAtom>> named, std::vector<std::string>& warnings) {
  const SoluteFile file = read_solute_file(path);
  if (file.positions.size() != named.size()) {
    throw InputError(
        path.string(),
        fmt::format("molecule {} has {} atoms in the topology", solute.name, named.size()),
        std::to_string(file.positions.size()), "use the same atoms in the same order");
  }
  if (const auto atom = first_misplaced(molecule, file.names, Charges::unused)) {
    refuse_order(molecule, *atom, file.atoms[*atom].place, file.names[*atom]);
  }
  if (file.frames > 1) warnings.push_back(describe_more_frames(path));
  for (std::size_t i = 0; i < solute.positions.size(); ++i) {
    const double shift = norm(box.minimum_image(file.positions[i] - solute.positions[i]));
    if (shift > largest_shift_angstrom) {
      throw InputError(
          file.atoms[i].place,
          fmt::format("atom {} lies elsewhere than in {}", i + 1, named[i].front().place),
          fmt::format("{:.3f} angstrom apart", shift),
          "give the solute's coordinates in the frame of the box, or leave out the solute file");
    }
  }
  if (!solute.positions.empty()) check_same_image(box, file, solute.positions, named);
  solute.positions = file.positions;
  for (std::size_t i = 0; i < named.size(); ++i) {
    named[i].push_back(file.atoms[i]);
  }
}

}  // namespace starpmc
