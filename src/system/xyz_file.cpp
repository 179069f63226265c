#include "system/xyz_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "kernels/base/error.hpp"
#include "system/element_names.hpp"
#include "system/elements.hpp"
#include "system/gro_file.hpp"
#include "system/text.hpp"

namespace starpmc {
namespace {

const Element& element_of(std::string_view word, const std::string& place) {
  const bool number = std::all_of(word.begin(), word.end(), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
  const Element* element =
      number ? element_by_number(static_cast<int>(parse_integer(word, place, "the element", 1)))
             : element_by_symbol(word);
  if (!element) {
    throw InputError(place, "unknown element", word, "write a symbol such as C, N, O, Cl");
  }
  return *element;
}

Geometry geometry_of_gro(const std::filesystem::path& path) {
  const GroFile file = read_gro(path);
  Geometry geometry{file.title, {}, {}};
  std::vector<std::string> names;
  std::vector<std::string> places;
  for (const GroAtom& atom : file.atoms) {
    names.push_back(atom.atom_name);
    places.push_back(place_of(path, atom.line));
    geometry.positions.push_back(atom.position);
  }
  for (const Element* element : elements_from_names(names, geometry.positions, places)) {
    geometry.elements.emplace_back(element->symbol);
  }
  return geometry;
}

}  // namespace

Geometry read_xyz(const std::filesystem::path& path) {
  const std::vector<std::string> lines = read_lines(path, "give the path of an .xyz file");
  if (lines.size() < 3) {
    throw InputError(place_of(path, lines.size() + 1), "the file ends too early",
                     fmt::format("{} lines", lines.size()),
                     "an .xyz file has the number of atoms, a title and the atoms");
  }
  const auto count = static_cast<std::size_t>(
      parse_integer(lines[0], place_of(path, 1), "the number of atoms", 1));
  Geometry geometry{std::string(trim(lines[1])), {}, {}};
  for (std::size_t i = 0; i < count; ++i) {
    const std::string place = place_of(path, i + 3);
    if (i + 2 >= lines.size() || trim(lines[i + 2]).empty()) {
      throw InputError(place, fmt::format("the file ends before {} atoms", count),
                       fmt::format("{} atoms", i), "correct the number of atoms in line 1");
    }
    const std::vector<std::string_view> words = split_words(lines[i + 2]);
    if (words.size() < 4) {
      throw InputError(place, "no element and three coordinates", trim(lines[i + 2]),
                       "write 'C 0.0 0.0 0.0', in angstrom");
    }
    geometry.elements.emplace_back(element_of(words[0], place).symbol);
    geometry.positions.push_back({parse_number(words[1], place, "the x coordinate (angstrom)"),
                                  parse_number(words[2], place, "the y coordinate (angstrom)"),
                                  parse_number(words[3], place, "the z coordinate (angstrom)")});
  }
  if (lines.size() > count + 2 && split_words(lines[count + 2]).size() >= 4) {
    throw InputError(place_of(path, count + 3), fmt::format("more than {} atoms", count),
                     trim(lines[count + 2]), "correct the number of atoms in line 1");
  }
  return geometry;
}

std::string format_xyz(const Geometry& geometry) {
  std::string text = fmt::format("{}\n{}\n", geometry.elements.size(), geometry.title);
  for (std::size_t i = 0; i < geometry.elements.size(); ++i) {
    const Vector3& r = geometry.positions[i];
    fmt::format_to(std::back_inserter(text), "{:<2s} {:17.10f} {:17.10f} {:17.10f}\n",
                   geometry.elements[i], r.x, r.y, r.z);
  }
  return text;
}

Geometry read_geometry(const std::filesystem::path& path) {
  const std::string extension = lower_case(path.extension().string());
  if (extension == ".gro") {
    return geometry_of_gro(path);
  }
  if (extension == ".xyz") {
    return read_xyz(path);
  }
  throw InputError(path.string(), "the solute's file format is not known", extension,
                   "use a file whose name ends in .xyz (angstrom) or .gro (nanometre)");
}

}  // namespace starpmc
