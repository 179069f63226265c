#include "system/pqr_file.hpp"

#include <fmt/format.h>

#include <cctype>

#include "kernels/base/error.hpp"
#include "kernels/base/shown_text.hpp"
#include "system/text.hpp"

namespace starpmc {
namespace {

constexpr std::string_view kColumns =
    "write 'ATOM serial name residue [chain] number x y z charge radius'";

constexpr std::size_t kMostAtoms = 5'000'000;

/// What follows the record's name, which a serial number may touch: one of six digits, or what
/// programs write for numbers that do not fit, such as "*****" or "A0000".
bool is_atom(std::string_view line, std::string_view& rest) {
  for (const std::string_view name : {"ATOM", "HETATM"}) {
    if (!line.starts_with(name)) continue;
    rest = line.substr(name.size());
    return true;
  }
  return false;
}

/// An integer, perhaps with an insertion code behind it, or with the chain before it.
bool is_residue_number(std::string_view word) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  if (is_letter(word.front())) word.remove_prefix(1);
  if (word.starts_with('-')) word.remove_prefix(1);
  if (!word.empty() && is_letter(word.back())) word.remove_suffix(1);
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

PqrAtom read_atom(std::string_view rest, std::string_view line, const std::string& place) {
  // serial, name, residue, number, then the five numbers; and perhaps the chain
  constexpr std::size_t kFewest = 9;
  const std::vector<std::string_view> words = split_words(rest);
  if (words.size() < kFewest || words.size() > kFewest + 1) {
    const bool no_radius = words.size() + 1 == kFewest;
    const bool no_charge = words.size() + 2 == kFewest;
    throw InputError(place,
                     no_charge   ? "the columns of charge and radius are missing"
                     : no_radius ? "the column of the charge or of the radius is missing"
                                 : "not the columns of a PQR file",
                     trim(line), kColumns);
  }
  const std::size_t first = words.size() - 5;
  // With a column too many, coordinates would be read from the wrong ones.
  if (!is_residue_number(words[first - 1])) {
    throw InputError(place, "the column before the last five is no residue number",
                     words[first - 1], kColumns);
  }
  const auto number = [&](std::size_t i, const char* what) {
    return parse_number(words[first + i], place, what);
  };
  PqrAtom atom;
  atom.name = shown_text(words[1]);
  atom.residue = shown_text(words[2]);
  atom.position = {number(0, "the x coordinate (angstrom)"),
                   number(1, "the y coordinate (angstrom)"),
                   number(2, "the z coordinate (angstrom)")};
  atom.charge = number(3, "the charge (elementary charges)");
  atom.radius = number(4, "the radius (angstrom)");
  if (atom.radius < 0) {
    throw InputError(place, "the radius is negative", words[first + 4],
                     "write a radius of at least 0 angstrom");
  }
  return atom;
}

}  // namespace

PqrReader::PqrReader(const std::filesystem::path& path)
    : lines_(path, "give the path of a PQR file") {}

bool PqrReader::next(PqrModel& model) {
  model.atoms.clear();
  bool in_model = false;
  std::string_view line;
  while (lines_.next(line)) {
    std::string_view rest;
    if (is_atom(line, rest)) {
      if (model.atoms.empty() && !in_model) model.line = lines_.number();
      if (model.atoms.size() == kMostAtoms) {
        throw InputError(lines_.place(), fmt::format("more than {} atoms in one model", kMostAtoms),
                         "", "end each model with ENDMDL");
      }
      model.atoms.push_back(read_atom(rest, line, lines_.place()));
      model.atoms.back().line = lines_.number();
      any_atoms_ = true;
      continue;
    }
    const std::string_view record = line.substr(0, line.find_first_of(kBlanks));
    if (record == "MODEL") {
      if (in_model || !model.atoms.empty()) {
        throw InputError(lines_.place(), "MODEL where the last model has not ended", line,
                         "end each model with ENDMDL");
      }
      in_model = true;
      model.line = lines_.number();
    } else if (record == "ENDMDL") {
      if (!in_model) {
        throw InputError(lines_.place(), "ENDMDL without MODEL", line,
                         "begin each model with MODEL");
      }
      if (model.atoms.empty()) {
        throw InputError(place_of(lines_.path(), model.line), "the model has no atoms", "",
                         "leave the model out, or give it atoms");
      }
      return true;
    } else if (record == "END" && !in_model && !model.atoms.empty()) {
      return true;
    }
  }
  if (in_model) {
    throw InputError(lines_.place(), "the file ends within a model", "",
                     "end the model with ENDMDL; is the file whole?");
  }
  if (model.atoms.empty() && !any_atoms_) {
    throw InputError(lines_.path().string(), "there is no atom in the file", "", kColumns);
  }
  return !model.atoms.empty();
}

PqrModel read_pqr(const std::filesystem::path& path) {
  PqrReader reader(path);
  PqrModel model;
  reader.next(model);
  return model;
}

PqrModel read_only_model(const std::filesystem::path& path) {
  PqrReader reader(path);
  PqrModel model;
  PqrModel more;
  reader.next(model);
  if (reader.next(more)) {
    throw InputError(place_of(path, more.line), "atoms after the end of the first model", "",
                     "keep one model, and END after its last atom only");
  }
  return model;
}

}  // namespace starpmc
