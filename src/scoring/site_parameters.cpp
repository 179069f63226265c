#include "scoring/site_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/base/error.hpp"
#include "system/element_names.hpp"
#include "system/elements.hpp"
#include "system/text.hpp"
#include "system/topology.hpp"

namespace starpmc {
namespace {

std::string upper_case(std::string_view text) {
  std::string upper(text);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return upper;
}

std::string place_of_atom(const ScoredModel& model, const PqrAtom& atom) {
  return place_of(model.path, atom.line);
}

/// What the kernels' fp32 can hold (kernels/common/poses.h).
void check_limit(double value, double limit, const std::string& what, const std::string& place) {
  if (std::abs(value) <= limit) return;
  throw InputError(place, fmt::format("{} is beyond what can be computed", what),
                   fmt::format("{}", value), fmt::format("it may be at most {}", limit));
}

ReceptorSites positions_and_charges(const ScoredModel& scored) {
  ReceptorSites sites;
  for (const PqrAtom& atom : scored.model.atoms) {
    check_limit(atom.charge, STARPMC_LARGEST_SITE_CHARGE, "the charge (elementary charges)",
                place_of_atom(scored, atom));
    sites.x.push_back(atom.position.x);
    sites.y.push_back(atom.position.y);
    sites.z.push_back(atom.position.z);
    sites.charge.push_back(atom.charge);
  }
  sites.radius.assign(sites.size(), 0);
  sites.root.assign(sites.size(), 0);
  return sites;
}

/// @param least half the distance of least energy
void set_parameters(ReceptorSites& sites, std::size_t site, int combination, double least,
                    double depth, const std::string& place) {
  if (depth < 0) {
    throw InputError(place, "the well depth is negative", fmt::format("{}", depth),
                     "write at least 0 kJ/mol");
  }
  check_limit(least, STARPMC_LARGEST_RADIUS, "half the distance of least energy (angstrom)", place);
  check_limit(depth, STARPMC_LARGEST_WELL_DEPTH, "the well depth (kJ/mol)", place);
  sites.radius[site] = combination == COMBINATION_SUM ? least : std::sqrt(2 * least);
  sites.root[site] = std::sqrt(depth);
}

void add_table(const ScoredModel& scored, const WellDepthTable& table, ReceptorSites& sites) {
  for (std::size_t i = 0; i < scored.model.atoms.size(); ++i) {
    const PqrAtom& atom = scored.model.atoms[i];
    const std::string place = place_of_atom(scored, atom);
    const auto& entry = table.entry(atom, place);
    const double radius = entry.radius_angstrom < 0 ? atom.radius : entry.radius_angstrom;
    set_parameters(sites, i, COMBINATION_SUM, radius, entry.depth_kj_per_mol, place);
  }
}

struct WellShape {
  double half_distance;  ///< of least energy, angstrom
  double depth;          ///< kJ/mol
};

WellShape well_of_type(const AtomType& type, CombinationRule rule) {
  constexpr double kAngstromPerNanometre = 10;
  const double least_over_sigma = std::pow(2.0, 1.0 / 6);
  double sigma = type.vdw.first;
  double depth = type.vdw.second;
  if (rule == CombinationRule::geometric_c6_c12) {
    const double c6 = type.vdw.first;
    const double c12 = type.vdw.second;
    if ((c6 == 0) != (c12 == 0)) {
      throw InputError(type.place, "an atom type with only one of c6 and c12", type.name,
                       "score needs both, or neither");
    }
    sigma = c6 == 0 ? 0 : std::pow(c12 / c6, 1.0 / 6);
    depth = c6 == 0 ? 0 : c6 * c6 / (4 * c12);
  }
  return {std::abs(sigma) * kAngstromPerNanometre * least_over_sigma / 2, depth};
}

/// The atoms of a topology's molecules, one after another.
std::vector<const TopologyAtom*> expand(const TopologyFile& topology) {
  std::vector<const TopologyAtom*> atoms;
  for (const MoleculeCount& entry : topology.molecules) {
    for (std::size_t i = 0; i < entry.count; ++i) {
      for (const TopologyAtom& atom : topology.definitions[entry.definition].atoms) {
        atoms.push_back(&atom);
      }
    }
  }
  return atoms;
}

void check_count(const TopologyFile& topology, std::size_t found, std::size_t receptor,
                 std::size_t ligand) {
  if (found == receptor + ligand) return;
  throw InputError(
      topology.path.string(),
      fmt::format("the molecules do not have the {} atoms of the receptor and the {} of the ligand",
                  receptor, ligand),
      fmt::format("{} atoms", found),
      "list the receptor's molecules, then the ligand, and nothing else in [ molecules ]");
}

void check_pair_parameters(const TopologyFile& topology,
                           std::span<const TopologyAtom* const> atoms) {
  for (const PairParameters& pair : topology.pair_parameters) {
    const auto used = [&](const std::string& type) {
      return std::ranges::any_of(atoms, [&](const TopologyAtom* a) { return a->type == type; });
    };
    if (!used(pair.type_i) || !used(pair.type_j)) continue;
    throw InputError(pair.place, "parameters of a single pair of types",
                     pair.type_i + " " + pair.type_j,
                     "score knows combination rules only; leave [ nonbond_params ] out");
  }
}

void add_topology(const ScoredModel& scored, const TopologyFile& topology,
                  std::span<const TopologyAtom* const> atoms, int combination,
                  ReceptorSites& sites) {
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    const PqrAtom& atom = scored.model.atoms[i];
    if (!equal_ignoring_case(atoms[i]->name, atom.name)) {
      throw InputError(
          place_of_atom(scored, atom),
          fmt::format("the topology has atom '{}' here ({})", atoms[i]->name, atoms[i]->place),
          atom.name, "list the atoms in the same order in both files");
    }
    const auto type = topology.atom_types.find(atoms[i]->type);
    if (type == topology.atom_types.end()) {
      throw InputError(atoms[i]->place, "an atom type that [ atomtypes ] does not have",
                       atoms[i]->type, "include the force field");
    }
    const WellShape well = well_of_type(type->second, topology.combination_rule);
    set_parameters(sites, i, combination, well.half_distance, well.depth, type->second.place);
  }
}

}  // namespace

WellDepthTable::WellDepthTable(const std::filesystem::path& path) : path_(path) {
  const std::vector<std::string> lines =
      read_lines(path, "give the path of a table of well depths");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string place = place_of(path, i + 1);
    const std::string_view line = std::string_view(lines[i]).substr(0, lines[i].find('#'));
    const std::vector<std::string_view> words = split_words(line);
    if (words.empty()) continue;
    const bool is_element = words[0] == "element";
    if ((words.size() != 3 && words.size() != 4) || (!is_element && words[0] != "atom")) {
      throw InputError(place, "not a line of a table of well depths", trim(line),
                       "write 'element SYMBOL DEPTH [RADIUS]' or 'atom [RESIDUE:]NAME DEPTH "
                       "[RADIUS]'");
    }
    Entry entry;
    entry.depth_kj_per_mol = parse_number(words[2], place, "the well depth (kJ/mol)");
    if (words.size() == 4) {
      entry.radius_angstrom = parse_number(words[3], place, "the radius (angstrom)");
    }
    if (entry.depth_kj_per_mol < 0 || (words.size() == 4 && entry.radius_angstrom < 0)) {
      throw InputError(place, "a well depth or a radius is negative", trim(line),
                       "write numbers of at least 0");
    }
    if (!is_element) {
      atoms_[upper_case(words[1])] = entry;
      continue;
    }
    const Element* const element = element_by_symbol(words[1]);
    if (element == nullptr) {
      throw InputError(place, "unknown element", words[1], "write a symbol such as C, N, O, Cl");
    }
    elements_[std::string(element->symbol)] = entry;
  }
}

const WellDepthTable::Entry& WellDepthTable::entry(const PqrAtom& atom,
                                                   const std::string& place) const {
  const std::string name = upper_case(atom.name);
  for (const std::string& key : {upper_case(atom.residue) + ":" + name, name}) {
    const auto found = atoms_.find(key);
    if (found != atoms_.end()) return found->second;
  }
  const std::vector<const Element*> choice = elements_without_mass(atom.name, atom.residue);
  if (choice.size() > 1) {
    throw InputError(
        place, fmt::format("the atom name can stand for {}", element_choice(choice)),
        atom.residue + ":" + atom.name,
        fmt::format("write the symbol's second letter small ({}), begin the name otherwise ({}1), "
                    "or add 'atom {}:{} DEPTH' to a table like {} and give it as --well-depths",
                    choice[0]->symbol, choice[1]->symbol, atom.residue, atom.name, path_.string()));
  }
  const auto found = choice.empty() ? elements_.end() : elements_.find(choice[0]->symbol);
  if (found != elements_.end()) return found->second;
  throw InputError(place, "no well depth for this atom", atom.residue + ":" + atom.name,
                   fmt::format("add 'atom {}:{} DEPTH' to a table like {} and give it as "
                               "--well-depths",
                               atom.residue, atom.name, path_.string()));
}

ScoredSites charged_sites(const ScoredModel& receptor, const ScoredModel& ligand) {
  return {positions_and_charges(receptor), positions_and_charges(ligand)};
}

ScoredSites sites_by_table(const ScoredModel& receptor, const ScoredModel& ligand,
                           const WellDepthTable& table) {
  ScoredSites sites = charged_sites(receptor, ligand);
  add_table(receptor, table, sites.receptor);
  add_table(ligand, table, sites.ligand);
  return sites;
}

ScoredSites sites_by_topology(const ScoredModel& receptor, const ScoredModel& ligand,
                              const std::filesystem::path& topology_file) {
  ScoredSites sites = charged_sites(receptor, ligand);
  const TopologyFile topology = read_topology(topology_file, {}, {});
  const std::vector<const TopologyAtom*> atoms = expand(topology);
  check_count(topology, atoms.size(), sites.receptor.size(), sites.ligand.size());
  check_pair_parameters(topology, atoms);
  const bool sum = topology.combination_rule == CombinationRule::lorentz_berthelot;
  sites.combination = sum ? COMBINATION_SUM : COMBINATION_PRODUCT;
  const std::span<const TopologyAtom* const> all(atoms);
  add_topology(receptor, topology, all.first(sites.receptor.size()), sites.combination,
               sites.receptor);
  add_topology(ligand, topology, all.subspan(sites.receptor.size()), sites.combination,
               sites.ligand);
  return sites;
}

}  // namespace starpmc
