#include "system/xyz_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <limits>

#include "kernels/base/error.hpp"
#include "system/element_names.hpp"
#include "system/elements.hpp"
#include "system/gro_molecule.hpp"
#include "system/text.hpp"

namespace starpmc {
namespace {

const Element& element_of(std::string_view word, const std::string& place) {
  const bool number = std::all_of(word.begin(), word.end(), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
  const Element* element =
      number ? element_by_number(static_cast<int>(
                   parse_integer(word, place, "the element", 1, std::numeric_limits<int>::max())))
             : element_by_symbol(word);
  if (!element) {
    throw InputError(place, "unknown element", word, "write a symbol such as C, N, O, Cl");
  }
  return *element;
}

/// @param length of the first frame, in lines
/// @param next   line that begins the second one; the first is 0
[[noreturn]] void refuse_frames(const std::filesystem::path& path, std::size_t frames,
                                std::size_t length, std::size_t next) {
  throw InputError(place_of(path, next + 1), "another frame, where one is wanted",
                   fmt::format("{} frames", frames),
                   fmt::format("give the one you mean alone: the first with 'head -n {}'", length));
}

Geometry geometry_of_gro(const std::filesystem::path& path) {
  const GroFile file = read_gro_molecule(path);
  const std::size_t lines = file.atoms.size() + 3;
  if (file.frames > 1) refuse_frames(path, file.frames, lines, lines);
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

/// The frame whose number of atoms stands in line `first` + 1.
Geometry read_frame(const std::filesystem::path& path, const std::vector<std::string>& lines,
                    std::size_t first) {
  if (lines.size() < first + 3) {
    throw InputError(place_of(path, lines.size() + 1), "the file ends too early",
                     fmt::format("{} lines", lines.size()),
                     "an .xyz file has the number of atoms, a title and the atoms");
  }
  const auto count = static_cast<std::size_t>(
      parse_integer(lines[first], place_of(path, first + 1), "the number of atoms", 1));
  Geometry geometry{std::string(trim(lines[first + 1])), {}, {}};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t line = first + i + 2;
    const std::string place = place_of(path, line + 1);
    if (line >= lines.size() || trim(lines[line]).empty()) {
      throw InputError(place, fmt::format("the file ends before {} atoms", count),
                       fmt::format("{} atoms", i),
                       fmt::format("correct the number of atoms in line {}", first + 1));
    }
    const std::vector<std::string_view> words = split_words(lines[line]);
    if (words.size() < 4) {
      throw InputError(place, "no element and three coordinates", trim(lines[line]),
                       "write 'C 0.0 0.0 0.0', in angstrom");
    }
    geometry.elements.emplace_back(element_of(words[0], place).symbol);
    geometry.positions.push_back({parse_number(words[1], place, "the x coordinate (angstrom)"),
                                  parse_number(words[2], place, "the y coordinate (angstrom)"),
                                  parse_number(words[3], place, "the z coordinate (angstrom)")});
  }
  const std::size_t next = first + count + 2;
  if (lines.size() > next && split_words(lines[next]).size() >= 4) {
    throw InputError(place_of(path, next + 1), fmt::format("more than {} atoms", count),
                     trim(lines[next]),
                     fmt::format("correct the number of atoms in line {}", first + 1));
  }
  return geometry;
}

/// Lines that begin another frame after the first; what else may follow it says nothing.
std::vector<std::size_t> further_frames(const std::vector<std::string>& lines, std::size_t next) {
  std::vector<std::size_t> begins;
  while (true) {
    while (next < lines.size() && trim(lines[next]).empty()) ++next;
    if (next == lines.size()) return begins;
    const std::string_view word = trim(lines[next]);
    std::size_t count = 0;
    const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), count);
    const bool is_number = status == std::errc() && end == word.data() + word.size();
    if (!is_number || count == 0 || lines.size() - next < 3) return begins;
    begins.push_back(next);
    next += std::min(count + 2, lines.size() - next);
  }
}

}  // namespace

Geometry read_xyz(const std::filesystem::path& path) {
  const std::vector<std::string> lines = read_lines(path, "give the path of an .xyz file");
  Geometry geometry = read_frame(path, lines, 0);
  const std::size_t length = geometry.elements.size() + 2;
  if (const auto further = further_frames(lines, length); !further.empty()) {
    refuse_frames(path, further.size() + 1, length, further.front());
  }
  return geometry;
}

std::vector<XyzFrame> read_xyz_frames(const std::filesystem::path& path) {
  const std::vector<std::string> lines = read_lines(path, "give the path of an .xyz file");
  std::vector<XyzFrame> frames;
  std::size_t line = 0;
  const auto blank = [&](std::size_t i) { return trim(lines[i]).empty(); };
  do {
    frames.push_back({read_frame(path, lines, line), line + 1});
    line += frames.back().geometry.elements.size() + 2;
    while (line < lines.size() && blank(line)) ++line;
  } while (line < lines.size());
  return frames;
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
