#include "system/solute_file.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "kernels/base/error.hpp"
#include "system/gro_file.hpp"
#include "system/text.hpp"
#include "system/xyz_file.hpp"

namespace starpmc {
namespace {

constexpr double largest_shift_angstrom = 0.02;

struct SoluteFile {
  std::vector<Vector3> positions;
  std::vector<NamedAtom> atoms;
};

SoluteFile read_solute_file(const std::filesystem::path& path) {
  SoluteFile file;
  if (lower_case(path.extension().string()) == ".gro") {
    for (const GroAtom& atom : read_gro(path).atoms) {
      file.positions.push_back(atom.position);
      file.atoms.push_back({atom.atom_name, nullptr, place_of(path, atom.line)});
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

}  // namespace

void take_solute_file(const std::filesystem::path& path, const Box& box, Solute& solute,
                      std::span<std::vector<NamedAtom>> named) {
  const SoluteFile file = read_solute_file(path);
  if (file.positions.size() != named.size()) {
    throw InputError(
        path.string(),
        fmt::format("molecule {} has {} atoms in the topology", solute.name, named.size()),
        std::to_string(file.positions.size()), "use the same atoms in the same order");
  }
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
  solute.positions = file.positions;
  for (std::size_t i = 0; i < named.size(); ++i) {
    named[i].push_back(file.atoms[i]);
  }
}

}  // namespace starpmc
