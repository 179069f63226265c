#include "system/gro_molecule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/base/error.hpp"
#include "system/rigid_geometry.hpp"
#include "system/text.hpp"

namespace starpmc {
namespace {

// A box drawn tightly around a molecule brings its ends nearer to each other than bonds are long.
constexpr double longest_bond_angstrom = 2;

/// The longest step on the shortest way that links all atoms, without periodic images.
double longest_step(std::span<const Vector3> positions) {
  constexpr double endless = 1e12;
  std::vector<Vector3> linked(positions.begin(), positions.end());
  const auto neighbours = make_whole({{endless, endless, endless}}, linked);
  double longest = 0;
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    longest = std::max(longest, norm(positions[i] - positions[neighbours[i]]));
  }
  return longest;
}

}  // namespace

GroFile read_gro_molecule(const std::filesystem::path& path) {
  GroFile file = read_gro(path);
  std::vector<Vector3> written;
  for (const GroAtom& atom : file.atoms) written.push_back(atom.position);
  if (longest_step(written) <= longest_bond_angstrom) return file;
  std::vector<Vector3> whole = written;
  const auto neighbours = make_whole(file.box, whole);
  if (const auto open = open_distance(file.box, written, whole, neighbours)) {
    throw InputError(
        place_of(path, file.atoms[open->atom].line),
        fmt::format("neighbouring atoms {} ({}) and {} ({}) lie more than half an edge of the "
                    "file's box apart, so that their distance may be {:.3f} as well as {:.3f} "
                    "angstrom",
                    open->atom + 1, file.atoms[open->atom].atom_name, open->neighbour + 1,
                    file.atoms[open->neighbour].atom_name, open->as_written_angstrom,
                    open->nearest_image_angstrom),
        "",
        "give the molecule as an .xyz file, or in a box whose edges are more than twice the "
        "distances of neighbouring atoms");
  }
  for (std::size_t i = 0; i < whole.size(); ++i) file.atoms[i].position = whole[i];
  return file;
}

}  // namespace starpmc
