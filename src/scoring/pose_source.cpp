#include "scoring/pose_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "kernels/base/error.hpp"
#include "system/element_names.hpp"
#include "system/elements.hpp"
#include "system/line_source.hpp"
#include "system/system.hpp"
#include "system/text.hpp"

namespace starpmc {
namespace {

/// Models of a PQR file; what they say of charges and radii must be what the ligand's file says,
/// but only names are compared.
class PqrPoses : public PoseSource {
 public:
  PqrPoses(const std::filesystem::path& path, const PqrModel& ligand)
      : path_(path), reader_(path), ligand_(ligand) {}

  bool next(std::span<Vector3> positions) override {
    if (!reader_.next(model_)) return false;
    if (model_.atoms.size() != positions.size()) {
      throw InputError(
          place_of(path_, model_.line),
          fmt::format("the pose does not have the ligand's {} atoms", positions.size()),
          fmt::format("{} atoms", model_.atoms.size()),
          "give each pose all atoms of the ligand, in their order");
    }
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const PqrAtom& atom = model_.atoms[i];
      if (atom.name != ligand_.atoms[i].name) {
        throw InputError(place_of(path_, atom.line),
                         fmt::format("the ligand has atom '{}' here", ligand_.atoms[i].name),
                         atom.name, "give each pose the atoms of the ligand, in their order");
      }
      positions[i] = atom.position;
    }
    return true;
  }
  double share_read() const override { return reader_.share_read(); }

 private:
  std::filesystem::path path_;
  PqrReader reader_;
  PqrModel model_;
  const PqrModel& ligand_;
};

/// A number of the last line. The place is made where it is needed only: there are many lines.
double parse_in(const LineSource& lines, std::string_view word, std::string_view what) {
  double value = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (status == std::errc() && end == word.data() + word.size() && std::isfinite(value)) {
    return value;
  }
  return parse_number(word, lines.place(), what);
}

/// The next word of a text, which is taken off it.
std::string_view take_word(std::string_view& text, std::string_view separators) {
  const std::size_t end = std::min(text.find_first_of(separators), text.size());
  const std::string_view word = trim(text.substr(0, end));
  text = text.substr(std::min(end + 1, text.size()));
  return word;
}

/// Elements that the name of an atom, or the word for it in an .xyz file, may stand for: where one
/// is likely, that and the one of two letters (HG: H or Hg), so that no good file is refused.
std::vector<const Element*> possible_elements(std::string_view name, std::string_view residue) {
  std::vector<const Element*> found = elements_without_mass(name, residue);
  const std::vector<const Element*> in_name = elements_in_name(name);
  if (!in_name.empty() && std::ranges::find(found, in_name.front()) == found.end()) {
    found.push_back(in_name.front());
  }
  return found;
}

/// The same of a word that may also be an atomic number.
std::vector<const Element*> elements_of_word(std::string_view word) {
  int number = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (status != std::errc() || end != word.data() + word.size()) return possible_elements(word, "");
  const Element* const element = element_by_number(number);
  return element == nullptr ? std::vector<const Element*>{} : std::vector{element};
}

/// Compares the words of frames with the ligand's atoms, where their names tell their elements.
class AtomOrder {
 public:
  explicit AtomOrder(const PqrModel& ligand) {
    for (const PqrAtom& atom : ligand.atoms) {
      const bool tells = elements_without_mass(atom.name, atom.residue).size() == 1;
      atoms_.push_back(
          {atom.name,
           tells ? possible_elements(atom.name, atom.residue) : std::vector<const Element*>{},
           {}});
    }
  }

  /// @throws InputError where the word stands for other elements only
  void check(std::size_t index, std::string_view word, const LineSource& lines) {
    Atom& atom = atoms_[index];
    if (word == atom.accepted) return;  // as in the frame before
    const std::vector<const Element*> found = elements_of_word(word);
    const bool fits = atom.elements.empty() || found.empty() ||
                      equal_ignoring_case(word, atom.name) ||
                      std::ranges::find_first_of(found, atom.elements) != found.end();
    if (!fits) {
      throw InputError(lines.place(),
                       fmt::format("the ligand has atom '{}' ({}) here", atom.name,
                                   element_choice(atom.elements)),
                       word,
                       fmt::format("give each pose the atoms of the ligand, in their order; where "
                                   "they are, and the ligand's name does not tell the element, "
                                   "write that name here ({})",
                                   atom.name));
    }
    atom.accepted = word;
  }

 private:
  struct Atom {
    std::string name;
    std::vector<const Element*> elements;  ///< none: any
    std::string accepted;                  ///< the last word
  };
  std::vector<Atom> atoms_;
};

class XyzPoses : public PoseSource {
 public:
  XyzPoses(const std::filesystem::path& path, const PqrModel& ligand)
      : lines_(path, "give the path of an .xyz file"), order_(ligand) {}

  bool next(std::span<Vector3> positions) override {
    std::string_view line;
    do {
      if (!lines_.next(line)) return false;
    } while (line.empty());
    const long count = parse_integer(line, lines_.place(), "the number of atoms", 1);
    if (static_cast<std::size_t>(count) != positions.size()) {
      throw InputError(
          lines_.place(),
          fmt::format("the pose does not have the ligand's {} atoms", positions.size()), line,
          "give each pose all atoms of the ligand, in their order");
    }
    if (!lines_.next(line)) fail_at_end(positions.size());
    for (std::size_t i = 0; i < positions.size(); ++i) {
      if (!lines_.next(line)) fail_at_end(positions.size());
      read_atom(line, i, positions[i]);
    }
    return true;
  }
  double share_read() const override { return lines_.share_read(); }

 private:
  void read_atom(std::string_view line, std::size_t atom, Vector3& position) {
    const std::vector<std::string_view> words = split_words(line);
    if (words.size() < 4) {
      throw InputError(lines_.place(), "no element and three coordinates", line,
                       "write 'C 0.0 0.0 0.0', in angstrom");
    }
    position = {parse_in(lines_, words[1], "the x coordinate (angstrom)"),
                parse_in(lines_, words[2], "the y coordinate (angstrom)"),
                parse_in(lines_, words[3], "the z coordinate (angstrom)")};
    order_.check(atom, words[0], lines_);
  }
  [[noreturn]] void fail_at_end(std::size_t atoms) const {
    throw InputError(lines_.place(), "the file ends within a pose", "",
                     fmt::format("a frame has a line with {}, a title and {} atoms; is the file "
                                 "whole?",
                                 atoms, atoms));
  }

  LineSource lines_;
  AtomOrder order_;
};

class TransformedPoses : public PoseSource {
 public:
  TransformedPoses(const std::filesystem::path& path, const PqrModel& ligand)
      : lines_(path, "give the path of a .csv file of rotations and translations") {
    for (const PqrAtom& atom : ligand.atoms) centre_ = centre_ + atom.position;
    centre_ = (1.0 / static_cast<double>(ligand.atoms.size())) * centre_;
    for (const PqrAtom& atom : ligand.atoms) reference_.push_back(atom.position - centre_);
  }

  bool next(std::span<Vector3> positions) override {
    std::array<double, 7> row{};
    if (!next_row(row)) return false;
    const double length =
        std::sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2] + row[3] * row[3]);
    constexpr double kRounding = 0.01;  // of files with few digits
    if (!(std::abs(length - 1) <= kRounding)) {
      throw InputError(lines_.place(), "the rotation is not a unit quaternion",
                       fmt::format("length {}", length),
                       "write w,x,y,z with w^2 + x^2 + y^2 + z^2 = 1; 1,0,0,0 turns nothing");
    }
    const Quaternion turn{row[0] / length, row[1] / length, row[2] / length, row[3] / length};
    const Vector3 centre = centre_ + Vector3{row[4], row[5], row[6]};
    for (std::size_t i = 0; i < positions.size(); ++i) {
      positions[i] = centre + rotate(turn, reference_[i]);
    }
    return true;
  }
  double share_read() const override { return lines_.share_read(); }

 private:
  /// Lines of names or comments come first; nan and inf are numbers.
  static bool is_heading(std::string_view line) {
    if (line.starts_with('#')) return true;
    const std::string_view word = trim(line.substr(0, line.find(',')));
    double number = 0;
    const char* const word_end = word.data() + word.size();
    if (std::from_chars(word.data(), word_end, number).ptr == word_end) return false;
    const char first = line.front();
    return (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '"';
  }

  /// Other programs write the quaternion's real part last: read as the first column it would be
  /// another rotation, of the same length.
  void check_names(std::string_view line) const {
    constexpr std::string_view expected = "w,x,y,z,tx,ty,tz";
    if (line.starts_with('#') || std::ranges::count(line, ',') != std::ranges::count(expected, ','))
      return;
    std::string names;
    for (const char character : line) {
      if (character != '"' && kBlanks.find(character) == std::string_view::npos) names += character;
    }
    if (lower_case(names) == expected) return;
    throw InputError(lines_.place(), "the columns are other ones, or in another order", line,
                     fmt::format("write them as {}, the quaternion's real part first", expected));
  }

  bool next_row(std::array<double, 7>& row) {
    std::string_view line;
    while (true) {
      if (!lines_.next(line)) return false;
      if (line.empty()) continue;
      if (begun_ || !is_heading(line)) break;
      check_names(line);
    }
    begun_ = true;
    std::string_view rest = line;
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (rest.empty()) fail_columns(line);
      const std::string_view word = take_word(rest, ",");
      row[k] = parse_in(lines_, word, k < 4 ? "the quaternion" : "the translation (angstrom)");
    }
    if (!rest.empty()) fail_columns(line);
    return true;
  }
  [[noreturn]] void fail_columns(std::string_view line) const {
    throw InputError(lines_.place(), "not the seven columns of a rotation and a translation", line,
                     "write 'w,x,y,z,tx,ty,tz': a unit quaternion and a translation in angstrom");
  }

  LineSource lines_;
  Vector3 centre_;
  std::vector<Vector3> reference_;
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<PoseSource> open_poses(const std::filesystem::path& path, const PqrModel& ligand) {
  const std::string extension = lower_case(path.extension().string());
  if (extension == ".pqr") return std::make_unique<PqrPoses>(path, ligand);
  if (extension == ".xyz") return std::make_unique<XyzPoses>(path, ligand);
  if (extension == ".csv") return std::make_unique<TransformedPoses>(path, ligand);
  throw InputError(path.string(), "the poses' file format is not known", extension,
                   "use a file whose name ends in .pqr, .xyz or .csv");
}

}  // namespace starpmc
