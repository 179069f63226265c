#include "system/topology.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/constants.hpp"
#include "kernels/base/error.hpp"
#include "system/atom_type_line.hpp"
#include "system/preprocessor.hpp"
#include "system/text.hpp"

namespace starpmc {
namespace {

/// Of the whole topology: what a molecule's atoms take from them must be known before.
constexpr std::array<std::string_view, 3> force_field_sections{"defaults", "atomtypes",
                                                               "nonbond_params"};

/// Numbers of two files that differ by what the last digit of six is rounded by are the same.
constexpr double rounding_of_six_digits = 1e-5;

/// Masses of one element, g/mol.
constexpr double rounding_of_masses = 0.1;

bool same_number(double a, double b) {
  return std::abs(a - b) <= rounding_of_six_digits * std::max(std::abs(a), std::abs(b));
}

bool same_vdw(const VdwParameters& a, const VdwParameters& b) {
  return same_number(a.first, b.first) && same_number(a.second, b.second);
}

/// A number and a mass of 0 are not given: many files leave them to [ atoms ], and charges, too.
bool same_type(const AtomType& a, const AtomType& b) {
  const bool numbers =
      a.atomic_number == 0 || b.atomic_number == 0 || a.atomic_number == b.atomic_number;
  const bool masses = a.mass == 0 || b.mass == 0 || std::abs(a.mass - b.mass) <= rounding_of_masses;
  return numbers && masses && a.is_virtual == b.is_virtual && same_vdw(a.vdw, b.vdw);
}

[[noreturn]] void refuse_second(const SourceLine& line, std::string_view what,
                                std::string_view first_place) {
  throw InputError(line.place, fmt::format("{} with other parameters than before", what), line.text,
                   fmt::format("the first is at {}; keep one", first_place));
}

/// Energies of a molecule's own shape: a rigid molecule has none.
constexpr std::array<std::string_view, 5> bonded_sections{"bonds", "angles", "dihedrals",
                                                          "impropers", "cmap"};

/// External potentials on the atoms of a molecule, rigid or not: ignored with a warning.
constexpr std::array<std::string_view, 2> external_sections{"position_restraints",
                                                            "angle_restraints_z"};

/// Sections that say nothing about rigid molecules without internal energy.
constexpr std::array<std::string_view, 15> irrelevant_sections{
    "bondtypes",
    "pairtypes",
    "angletypes",
    "dihedraltypes",
    "constrainttypes",
    "cmaptypes",
    "implicit_genborn_params",
    "implicit_surface_params",
    "pairs",
    "pairs_nb",
    "exclusions",
    "distance_restraints",
    "dihedral_restraints",
    "orientation_restraints",
    "angle_restraints",
};

/// Sections that change the energy of a rigid molecule in ways this program does not know.
constexpr std::array<std::string_view, 9> unsupported_sections{
    "virtual_sites1", "virtual_sites4",     "virtual_sitesn",     "dummies1",    "dummies4",
    "dummiesn",       "water_polarization", "thole_polarization", "polarization"};

class TopologyReader {
 public:
  explicit TopologyReader(const std::filesystem::path& file) { topology_.path = file; }

  TopologyFile read(std::span<const SourceLine> lines) {
    is_complete_ = true;
    read_lines_of(lines);
    check_complete();
    return std::move(topology_);
  }

  /// All that the lines hold of a topology.
  TopologyFile read_part(std::span<const SourceLine> lines) {
    read_lines_of(lines);
    return std::move(topology_);
  }

 private:
  using Handler = void (TopologyReader::*)(const SourceLine&);

  struct Section {
    std::string_view name;
    Handler handler;
    bool in_molecule;
  };

  static std::span<const Section> sections() {
    static const std::array<Section, 13> all{{
        {"defaults", &TopologyReader::read_defaults, false},
        {"atomtypes", &TopologyReader::read_atom_type, false},
        {"nonbond_params", &TopologyReader::read_pair_parameters, false},
        {"moleculetype", &TopologyReader::read_molecule_type, false},
        {"system", &TopologyReader::read_title, false},
        {"molecules", &TopologyReader::read_molecule_count, false},
        {"atoms", &TopologyReader::read_atom, true},
        {"settles", &TopologyReader::read_settle, true},
        {"constraints", &TopologyReader::read_constraint, true},
        {"virtual_sites2", &TopologyReader::read_virtual_site2, true},
        {"virtual_sites3", &TopologyReader::read_virtual_site3, true},
        {"dummies2", &TopologyReader::read_virtual_site2, true},
        {"dummies3", &TopologyReader::read_virtual_site3, true},
    }};
    return all;
  }

  void read_lines_of(std::span<const SourceLine> lines) {
    for (const SourceLine& line : lines) {
      if (line.text.starts_with('[')) {
        begin_section(line);
      } else {
        read_entry(line);
      }
    }
  }

  void begin_section(const SourceLine& line) {
    const std::size_t close = line.text.find(']');
    if (close == std::string::npos) {
      throw InputError(line.place, "a section name without ']'", line.text,
                       "write '[ atoms ]', for example");
    }
    const std::string name = lower_case(trim(std::string_view(line.text).substr(1, close - 1)));
    const auto is_name = [&](std::string_view known) { return known == name; };
    if (is_complete_ && !topology_.definitions.empty() &&
        std::any_of(force_field_sections.begin(), force_field_sections.end(), is_name)) {
      throw InputError(line.place, "a section of the force field after a [ moleculetype ]",
                       line.text,
                       fmt::format("put it before the first [ moleculetype ], which is at {}",
                                   topology_.definitions.front().place));
    }
    if (std::any_of(irrelevant_sections.begin(), irrelevant_sections.end(), is_name)) {
      handler_ = &TopologyReader::read_over;
      return;
    }
    if (std::any_of(bonded_sections.begin(), bonded_sections.end(), is_name)) {
      current_molecule(line, name);
      handler_ = &TopologyReader::read_bonded;
      section_ = name;
      return;
    }
    if (std::any_of(external_sections.begin(), external_sections.end(), is_name)) {
      current_molecule(line, name);
      handler_ = &TopologyReader::read_external;
      section_ = name;
      return;
    }
    if (std::any_of(unsupported_sections.begin(), unsupported_sections.end(), is_name)) {
      MoleculeDefinition& molecule = current_molecule(line, name);
      molecule.unsupported_section = name;
      molecule.unsupported_place = line.place;
      handler_ = &TopologyReader::read_over;
      return;
    }
    const auto section = std::find_if(sections().begin(), sections().end(),
                                      [&](const Section& s) { return s.name == name; });
    if (section == sections().end()) {
      throw InputError(line.place, "unknown section", name, suggest_section(name));
    }
    if (section->in_molecule) {
      current_molecule(line, name);
    }
    handler_ = section->handler;
    section_ = name;
  }

  static std::string suggest_section(std::string_view name) {
    std::vector<std::string> known;
    for (const Section& section : sections()) {
      known.emplace_back(section.name);
    }
    known.insert(known.end(), bonded_sections.begin(), bonded_sections.end());
    known.insert(known.end(), external_sections.begin(), external_sections.end());
    known.insert(known.end(), irrelevant_sections.begin(), irrelevant_sections.end());
    return suggest(name, known, "correct the section's name, or remove the section");
  }

  MoleculeDefinition& current_molecule(const SourceLine& line, std::string_view section) {
    if (topology_.definitions.empty()) {
      throw InputError(line.place, fmt::format("section [ {} ] outside a molecule", section), "",
                       "put a [ moleculetype ] before it");
    }
    return topology_.definitions.back();
  }

  void read_entry(const SourceLine& line) {
    if (handler_ == nullptr) {
      throw InputError(line.place, "text before the first section", line.text,
                       "begin with a section such as [ defaults ], or remove the line");
    }
    (this->*handler_)(line);
  }

  void read_over(const SourceLine&) {}

  void read_bonded(const SourceLine& line) {
    MoleculeDefinition& molecule = topology_.definitions.back();
    if (molecule.bonded_section.empty()) {
      molecule.bonded_section = section_;
      molecule.bonded_place = line.place;
    }
    if (section_ == "bonds") read_bond(line);
  }

  /// Bonds are only compared with coordinates: what cannot be read is no error.
  void read_bond(const SourceLine& line) {
    constexpr std::array<std::string_view, 2> restraints{"6", "10"};
    const auto words = split_words(line.text);
    if (words.size() > 2 && std::ranges::find(restraints, words[2]) != restraints.end()) {
      return;
    }
    MoleculeDefinition& molecule = topology_.definitions.back();
    const auto atom = [&](std::size_t word) -> std::size_t {
      std::size_t number = 0;
      if (word < words.size()) {
        std::from_chars(words[word].data(), words[word].data() + words[word].size(), number);
      }
      return number <= molecule.atoms.size() ? number : 0;
    };
    const std::size_t i = atom(0);
    const std::size_t j = atom(1);
    if (i > 0 && j > 0 && i != j) molecule.bonds.push_back({i - 1, j - 1, line.place});
  }

  void read_external(const SourceLine& line) {
    MoleculeDefinition& molecule = topology_.definitions.back();
    if (molecule.external_section.empty()) {
      molecule.external_section = section_;
      molecule.external_place = line.place;
    }
  }

  /// Words of a line, at least `least` of them.
  std::vector<std::string_view> words_of(const SourceLine& line, std::size_t least,
                                         std::string_view form) const {
    std::vector<std::string_view> words = split_words(line.text);
    if (words.size() < least) {
      throw InputError(line.place,
                       fmt::format("a line of [ {} ] needs at least {} columns", section_, least),
                       line.text, fmt::format("write '{}'", form));
    }
    return words;
  }

  void read_defaults(const SourceLine& line) {
    const auto words = words_of(line, 2, "nbfunc comb-rule gen-pairs fudgeLJ fudgeQQ");
    if (parse_integer(words[0], line.place, "nbfunc", 1) != 1) {
      throw InputError(line.place, "nbfunc of [ defaults ] is not Lennard-Jones", words[0],
                       "use nbfunc 1; Buckingham (2) is not supported");
    }
    const long rule = parse_integer(words[1], line.place, "comb-rule", 1);
    if (rule > 3) {
      throw InputError(line.place, "comb-rule of [ defaults ] is unknown", words[1],
                       "use 1 (c6, c12), 2 (Lorentz-Berthelot) or 3 (geometric)");
    }
    if (has_defaults_) {
      throw InputError(line.place, "a second [ defaults ]", line.text,
                       "keep one: two force fields cannot be mixed");
    }
    topology_.combination_rule = static_cast<CombinationRule>(rule);
    has_defaults_ = true;
  }

  void read_atom_type(const SourceLine& line) {
    const auto words =
        words_of(line, 6, "name [bond_type] [at.num] mass charge ptype sigma epsilon");
    const AtomType type = parse_atom_type(topology_.combination_rule, words, line);
    const auto [known, is_new] = topology_.atom_types.try_emplace(type.name, type);
    if (is_new) return;
    AtomType& first = known->second;
    if (!same_type(first, type))
      refuse_second(line, "a second atom type of this name", first.place);
    if (first.atomic_number == 0) first.atomic_number = type.atomic_number;
    if (first.mass == 0) first.mass = type.mass;
    if (!same_number(first.charge, type.charge)) first.other_charge_place = type.place;
  }

  void read_pair_parameters(const SourceLine& line) {
    const auto words = words_of(line, 5, "type type funct sigma epsilon");
    if (parse_integer(words[2], line.place, "funct", 1) != 1) {
      throw InputError(line.place, "funct of [ nonbond_params ] is not Lennard-Jones", words[2],
                       "use funct 1");
    }
    const PairParameters pair{std::string(words[0]), std::string(words[1]),
                              parse_vdw(topology_.combination_rule, words[3], words[4], line),
                              line.place};
    const auto [known, is_new] = pair_indices_.try_emplace(std::minmax(pair.type_i, pair.type_j),
                                                           topology_.pair_parameters.size());
    if (is_new) {
      topology_.pair_parameters.push_back(pair);
      return;
    }
    const PairParameters& first = topology_.pair_parameters[known->second];
    if (!same_vdw(first.vdw, pair.vdw)) {
      refuse_second(line, "a second line for this pair of atom types", first.place);
    }
  }

  void read_molecule_type(const SourceLine& line) {
    const auto words = words_of(line, 1, "name nrexcl");
    const auto [first, is_new] = molecule_places_.try_emplace(std::string(words[0]), line.place);
    if (!is_new) {
      throw InputError(line.place, "a second [ moleculetype ] of this name", words[0],
                       fmt::format("rename one; the first is at {}", first->second));
    }
    MoleculeDefinition molecule;
    molecule.name = words[0];
    molecule.place = line.place;
    topology_.definitions.push_back(std::move(molecule));
  }

  void read_atom(const SourceLine& line) {
    const auto words = words_of(line, 5, "nr type resnr residue atom cgnr charge mass");
    MoleculeDefinition& molecule = topology_.definitions.back();
    const long number = parse_integer(words[0], line.place, "the atom number", 1);
    if (number != static_cast<long>(molecule.atoms.size()) + 1) {
      throw InputError(line.place, "atoms are not numbered in order", words[0],
                       fmt::format("write {}", molecule.atoms.size() + 1));
    }
    TopologyAtom atom;
    atom.type = words[1];
    atom.residue = words[3];
    atom.name = words[4];
    atom.place = line.place;
    const auto type = topology_.atom_types.find(words[1]);
    const bool known = type != topology_.atom_types.end();
    if (known && words.size() <= 6 && !type->second.other_charge_place.empty()) {
      throw InputError(
          line.place,
          fmt::format("the atom has the charge of its type, which is given twice ({}, {})",
                      type->second.place, type->second.other_charge_place),
          line.text, "write the charge here, or keep one atom type");
    }
    atom.charge = words.size() > 6 ? parse_number(words[6], line.place, "the charge (e)")
                                   : (known ? type->second.charge : 0);
    atom.mass = words.size() > 7 ? parse_number(words[7], line.place, "the mass (g/mol)")
                                 : (known ? type->second.mass : 0);
    if (atom.mass < 0) {
      throw InputError(line.place, "the mass is negative", words[7], "write the mass in g/mol");
    }
    molecule.atoms.push_back(std::move(atom));
  }

  /// Index of an atom of the current molecule, from its number in the file.
  std::size_t atom_index(std::string_view word, const SourceLine& line) const {
    const long number = parse_integer(word, line.place, "the atom number", 1);
    const MoleculeDefinition& molecule = topology_.definitions.back();
    if (number > static_cast<long>(molecule.atoms.size())) {
      throw InputError(line.place, fmt::format("molecule {} has no such atom", molecule.name), word,
                       fmt::format("write a number from 1 to {}", molecule.atoms.size()));
    }
    return static_cast<std::size_t>(number - 1);
  }

  double read_length(std::string_view word, const SourceLine& line) const {
    const double length = parse_number(word, line.place, "the length (nm)");
    if (length <= 0) {
      throw InputError(line.place, "the length is not positive", word, "write it in nanometre");
    }
    return length * kAngstromPerNanometre;
  }

  void read_settle(const SourceLine& line) {
    const auto words = words_of(line, 4, "OW funct doh dhh");
    Settle settle{atom_index(words[0], line), read_length(words[2], line),
                  read_length(words[3], line), line.place};
    if (settle.oxygen + 2 >= topology_.definitions.back().atoms.size()) {
      throw InputError(line.place, "the two atoms after the settle's first do not exist", words[0],
                       "a settle takes an oxygen and the two hydrogens that follow it");
    }
    if (settle.hh_angstrom >= 2 * settle.oh_angstrom) {
      throw InputError(line.place, "the settle's lengths do not form a triangle", line.text,
                       "dHH must be less than twice dOH");
    }
    topology_.definitions.back().settles.push_back(std::move(settle));
  }

  void read_constraint(const SourceLine& line) {
    const auto words = words_of(line, 3, "i j funct length");
    // A length left to [ constrainttypes ] is taken from the coordinates.
    const double length = words.size() < 4 ? 0 : read_length(words[3], line);
    topology_.definitions.back().constraints.push_back(
        {atom_index(words[0], line), atom_index(words[1], line), length, line.place});
  }

  void read_virtual_site(const SourceLine& line, std::size_t from, std::string_view form) {
    const auto words = words_of(line, from + 3, form);
    VirtualSite site;
    site.site = atom_index(words[0], line);
    for (std::size_t i = 0; i < from; ++i) {
      site.from.push_back(atom_index(words[i + 1], line));
    }
    site.function = parse_integer(words[from + 1], line.place, "funct", 1);
    for (std::size_t i = from + 2; i < words.size(); ++i) {
      site.parameters.push_back(parse_number(words[i], line.place, "the parameter"));
    }
    const std::size_t needed = from == 2 ? 1 : site.function == 4 ? 3 : 2;
    if (site.function > (from == 2 ? 2 : 4) || site.parameters.size() < needed) {
      throw InputError(line.place, "the virtual site's function or parameters are not supported",
                       line.text, fmt::format("write '{}'", form));
    }
    site.place = line.place;
    topology_.definitions.back().virtual_sites.push_back(std::move(site));
  }

  void read_virtual_site2(const SourceLine& line) {
    read_virtual_site(line, 2, "site i j funct a");
  }

  void read_virtual_site3(const SourceLine& line) {
    read_virtual_site(line, 3, "site i j k funct a b [c]");
  }

  void read_title(const SourceLine& line) { topology_.title = line.text; }

  void read_molecule_count(const SourceLine& line) {
    const auto words = words_of(line, 2, "name count");
    const std::size_t definition = topology_.definition_index(words[0], line.place);
    const long count = parse_integer(words[1], line.place, "the number of molecules", 0);
    topology_.molecules.push_back({definition, static_cast<std::size_t>(count), line.place});
  }

  void check_complete() const {
    const std::string place = topology_.path.string();
    if (!has_defaults_) {
      throw InputError(place, "no [ defaults ] section", "",
                       "include a force field first, for example #include "
                       "\"oplsaa.ff/forcefield.itp\"");
    }
    if (topology_.molecules.empty()) {
      throw InputError(place, "no [ molecules ] section, or an empty one", "",
                       "list the molecules in the order of the coordinates");
    }
    check_counts();
    check_pairs();
  }

  void check_pairs() const {
    for (const PairParameters& pair : topology_.pair_parameters) {
      for (const std::string& name : {pair.type_i, pair.type_j}) {
        if (topology_.atom_types.contains(name)) continue;
        std::vector<std::string> known;
        for (const auto& [type, unused] : topology_.atom_types) known.push_back(type);
        throw InputError(pair.place, "unknown atom type in [ nonbond_params ]", name,
                         suggest(name, known, "add it to [ atomtypes ], or remove the line"));
      }
    }
  }

  /// Beyond what coordinates can have sums of atoms need not fit into an integer.
  void check_counts() const {
    constexpr std::size_t most_atoms = 2 * most_lines_of_a_file;  // of a receptor and a ligand
    std::size_t atoms = 0;
    for (const MoleculeCount& entry : topology_.molecules) {
      const MoleculeDefinition& definition = topology_.definitions[entry.definition];
      const std::size_t size = std::max<std::size_t>(definition.atoms.size(), 1);
      if (entry.count > (most_atoms - atoms) / size) {
        throw InputError(
            entry.place,
            fmt::format("[ molecules ] has more than {} atoms with this line", most_atoms),
            fmt::format("{} {}", definition.name, entry.count), "correct the count");
      }
      atoms += entry.count * size;
    }
  }

  TopologyFile topology_;
  Handler handler_ = nullptr;
  std::string section_;
  std::map<std::string, std::string, std::less<>> molecule_places_;
  std::map<std::pair<std::string, std::string>, std::size_t> pair_indices_;
  bool has_defaults_ = false;
  bool is_complete_ = false;  ///< no part of a topology
};

}  // namespace

bool MoleculeDefinition::is_virtual(std::size_t atom) const {
  return std::any_of(virtual_sites.begin(), virtual_sites.end(),
                     [&](const VirtualSite& site) { return site.site == atom; });
}

bool MoleculeDefinition::is_charged() const {
  return std::any_of(atoms.begin(), atoms.end(),
                     [](const TopologyAtom& atom) { return atom.charge != 0; });
}

std::size_t TopologyFile::definition_index(std::string_view name, std::string_view place) const {
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    if (definitions[i].name == name) {
      return i;
    }
  }
  std::vector<std::string> known;
  std::vector<std::string> alike;
  std::size_t found = 0;
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    known.push_back(definitions[i].name);
    if (!equal_ignoring_case(definitions[i].name, name)) continue;
    alike.push_back(definitions[i].name);
    found = i;
  }
  if (alike.size() == 1) return found;
  if (alike.size() > 1) {
    throw InputError(place, "more than one [ moleculetype ] has this name in another case", name,
                     fmt::format("write one of {}", fmt::join(alike, ", ")));
  }
  const std::string all = fmt::format("{}", fmt::join(known, ", "));
  throw InputError(
      place, "there is no [ moleculetype ] of this name", name,
      suggest(name, known, fmt::format("the topology has: {}", all.empty() ? "none" : all)));
}

TopologyFile read_topology(const std::filesystem::path& file, std::span<const std::string> defines,
                           std::span<const std::filesystem::path> include_folders) {
  const std::vector<SourceLine> lines = preprocess(file, defines, include_folders);
  return TopologyReader(file).read(lines);
}

std::vector<MoleculeDefinition> read_molecule_definitions(const std::filesystem::path& file) {
  return TopologyReader(file).read_part(preprocess(file, {}, {})).definitions;
}

std::map<std::string, AtomType, std::less<>> read_atom_types(const std::filesystem::path& file) {
  return TopologyReader(file).read_part(preprocess(file, {}, {})).atom_types;
}

}  // namespace starpmc
