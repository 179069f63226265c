#include "system/gro_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <optional>

#include "base/byte_columns.hpp"
#include "base/constants.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/shown_text.hpp"
#include "system/text.hpp"

namespace starpmc {
namespace {

constexpr std::size_t first_coordinate_column = 20;
constexpr std::size_t name_width = 5;
constexpr std::string_view column_remedy =
    "an atom line has residue number, residue name, atom name and atom number in 5 columns each, "
    "then x, y, z in nanometre, for example '    1SOL     OW    1   0.230   0.628   0.113'";

/// Width of a coordinate: the distance between the first two decimal points.
std::size_t coordinate_width(std::string_view line, const std::string& place) {
  const std::size_t first = line.find('.', first_coordinate_column);
  const std::size_t second = first == std::string_view::npos ? first : line.find('.', first + 1);
  const std::size_t third = second == std::string_view::npos ? second : line.find('.', second + 1);
  if (third == std::string_view::npos) {
    throw InputError(place, "no three coordinates with a decimal point", trim(line), column_remedy);
  }
  if (third - second != second - first) {
    throw InputError(place, "the decimal points of x, y and z are not evenly spaced", trim(line),
                     "write all coordinates with the same number of decimals");
  }
  return second - first;
}

/// 0 for what is no number: programs write blanks or "*****" for one that does not fit, and nothing
/// that is read depends on it.
int residue_number(std::string_view text) {
  int number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc() && end == text.data() + text.size() ? number : 0;
}

GroAtom read_atom(std::string_view line, std::size_t width, const std::string& place) {
  if (line.size() < first_coordinate_column + 3 * width) {
    throw InputError(place, "the atom line is too short", trim(line), column_remedy);
  }
  GroAtom atom;
  atom.residue_number = residue_number(trim(line.substr(0, 5)));
  atom.residue_name = shown_text(trim(line.substr(5, 5)));
  atom.atom_name = shown_text(trim(line.substr(10, 5)));
  const auto coordinate = [&](std::size_t axis, std::string_view name) {
    return kAngstromPerNanometre *
           parse_number(line.substr(first_coordinate_column + axis * width, width), place, name);
  };
  atom.position = {coordinate(0, "the x coordinate (nm)"), coordinate(1, "the y coordinate (nm)"),
                   coordinate(2, "the z coordinate (nm)")};
  return atom;
}

Box read_box(std::string_view line, std::size_t atom_count, const std::string& place) {
  const std::vector<std::string_view> words = split_words(line);
  const bool numbers = std::all_of(words.begin(), words.end(), [](std::string_view word) {
    return word.find_first_not_of("+-.0123456789eE") == std::string_view::npos ||
           equal_ignoring_case(word, "nan") || equal_ignoring_case(word, "inf");
  });
  if ((words.size() != 3 && words.size() != 9) || !numbers) {
    throw InputError(place, fmt::format("no box line after {} atom lines", atom_count), trim(line),
                     "write three box edges in nanometre here, or correct the number of atoms in "
                     "line 2");
  }
  std::vector<double> values;
  for (std::string_view word : words) {
    values.push_back(parse_number(word, place, "the box edge (nm)"));
  }
  if (std::any_of(values.begin() + 3, values.end(), [](double v) { return v != 0; })) {
    throw InputError(place, "the box is triclinic", trim(line),
                     "use an orthorhombic box (three edges), for example 'gmx editconf -bt cubic' "
                     "and solvate again");
  }
  for (double edge : {values[0], values[1], values[2]}) {
    if (edge <= 0) {
      throw InputError(place, "a box edge is not positive", trim(line),
                       "write the three edges of the periodic box in nanometre");
    }
  }
  return {kAngstromPerNanometre * Vector3{values[0], values[1], values[2]}};
}

/// After the first frame there may be blank lines or another frame, nothing else.
/// @return how many frames there are; what the further ones hold is not read
std::size_t check_rest(std::span<const std::string> lines, std::size_t next,
                       const std::filesystem::path& path) {
  std::size_t blank = next;
  while (blank < lines.size() && trim(lines[blank]).empty()) {
    ++blank;
  }
  if (blank == lines.size()) {
    return 1;
  }
  // The number of atoms of the frame whose title stands in line `at` + 1.
  const auto atoms_of_frame = [&](std::size_t at) {
    const std::string_view word = at + 1 < lines.size() ? trim(lines[at + 1]) : "";
    std::size_t count = 0;
    const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), count);
    const bool is_number = status == std::errc() && end == word.data() + word.size();
    return is_number ? std::optional(count) : std::nullopt;
  };
  if (!atoms_of_frame(next)) {
    throw InputError(place_of(path, blank + 1), "more lines follow the box line",
                     trim(lines[blank]),
                     "correct the number of atoms in line 2, or remove what follows");
  }
  std::size_t frames = 1;
  while (const auto count = atoms_of_frame(next)) {
    ++frames;
    if (lines.size() - next < *count) break;
    next += *count + 3;
  }
  return frames;
}

}  // namespace

GroFile read_gro(const std::filesystem::path& path) {
  const std::vector<std::string> lines = read_byte_lines(path, "give the path of a .gro file");
  if (lines.size() < 3) {
    throw InputError(place_of(path, lines.size() + 1), "the file ends too early",
                     fmt::format("{} lines", lines.size()),
                     "a .gro file has a title, the number of atoms, the atoms and the box");
  }
  GroFile file{path, shown_text(trim(lines[0])), {}, {}};
  const auto count = static_cast<std::size_t>(
      parse_integer(lines[1], place_of(path, 2), "the number of atoms", 1));
  if (lines.size() < count + 3) {
    throw InputError(place_of(path, lines.size()),
                     fmt::format("the file ends before {} atom lines and a box line", count),
                     fmt::format("{} lines after line 2", lines.size() - 2),
                     "correct the number of atoms in line 2, or write the file again");
  }
  const std::size_t width = coordinate_width(lines[2], place_of(path, 3));
  file.atoms.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    file.atoms.push_back(read_atom(lines[i + 2], width, place_of(path, i + 3)));
    file.atoms.back().line = i + 3;
  }
  file.box = read_box(lines[count + 2], count, place_of(path, count + 3));
  file.frames = check_rest(lines, count + 3, path);
  return file;
}

bool is_of_a_run(const GroFile& file) { return file.title.ends_with(", by starpmc"); }

std::string describe_more_frames(const std::filesystem::path& path) {
  return fmt::format("{}: the first of several frames is read; give the one you mean alone",
                     path.string());
}

std::string format_gro(std::string_view title, std::span<const GroAtom> atoms, const Box& box,
                       int decimals) {
  std::string text = fmt::format("{}\n{:5d}\n", title, atoms.size());
  const int width = decimals + 5;
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    const GroAtom& atom = atoms[i];
    // Residue and atom numbers have five columns: they wrap around, as in GROMACS.
    fmt::format_to(std::back_inserter(text), "{:5d}{}{}{:5d}", atom.residue_number % 100000,
                   left_column(atom.residue_name, name_width),
                   right_column(atom.atom_name, name_width), (i + 1) % 100000);
    for (double value : {atom.position.x, atom.position.y, atom.position.z}) {
      fmt::format_to(std::back_inserter(text), "{:{}.{}f}", value / kAngstromPerNanometre, width,
                     decimals);
    }
    text += '\n';
  }
  fmt::format_to(std::back_inserter(text), "{:{}.{}f}{:{}.{}f}{:{}.{}f}\n",
                 box.lengths.x / kAngstromPerNanometre, width, decimals,
                 box.lengths.y / kAngstromPerNanometre, width, decimals,
                 box.lengths.z / kAngstromPerNanometre, width, decimals);
  return text;
}

}  // namespace starpmc
