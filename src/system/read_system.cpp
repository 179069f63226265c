#include "system/read_system.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "kernels/base/error.hpp"
#include "system/atom_order.hpp"
#include "system/close_atoms.hpp"
#include "system/element_names.hpp"
#include "system/elements.hpp"
#include "system/gro_file.hpp"
#include "system/overlaps.hpp"
#include "system/rigid_geometry.hpp"
#include "system/rigidity.hpp"
#include "system/site_types.hpp"
#include "system/solute_elements.hpp"
#include "system/solute_file.hpp"
#include "system/superposition.hpp"
#include "system/text.hpp"
#include "system/topology.hpp"

namespace starpmc {
namespace {

constexpr double rmsd_of_rounding_angstrom = 0.01;  // three decimals in nm: 0.005 A at most
constexpr std::size_t no_definition = static_cast<std::size_t>(-1);
constexpr std::size_t most_overlaps_told = 10;

/// First letter of an atom name: its element, near enough to tell a mixed-up order.
char first_letter(std::string_view name) {
  for (char c : name) {
    if (std::isalpha(static_cast<unsigned char>(c))) {
      return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
  }
  return '\0';
}

class SystemReader {
 public:
  SystemReader(const SystemFiles& files, InputErrors& errors)
      : files_(files),
        errors_(errors),
        errors_before_(errors.all().size()),
        coordinates_(ordered_.coordinates),
        site_types_(topology_) {}

  /// @param box set once the coordinates have been read
  /// @param topology_order if not null, is given the topology's
  /// @return nothing where there are errors
  std::optional<System> read(std::optional<Box>& box, MoleculeOrder* topology_order) {
    if (!read_files(box)) return std::nullopt;
    system_.title = coordinates_.title;
    system_.box = coordinates_.box;
    if (coordinates_.frames > 1) {
      system_.warnings.push_back(describe_more_frames(coordinates_.path));
    }
    const bool found = errors_.attempt([this] { find_solute(); });
    errors_.attempt([this] { find_rigid(); });
    if (!found || !errors_.attempt([this] { check_atom_count(); })) return std::nullopt;
    read_molecules();
    if (errors_.all().size() > errors_before_) return std::nullopt;
    sort_molecules(topology_order);
    system_.force_field = site_types_.force_field();
    note_fitted();
    warn_of_names();
    check_overlaps();
    if (errors_.all().size() > errors_before_) return std::nullopt;
    return std::move(system_);
  }

  /// @return whether topology and coordinates have been read
  bool read_files(std::optional<Box>& box) {
    const auto read_one = [this](const std::filesystem::path& file, const auto& body) {
      return !file.empty() && errors_.attempt(body);
    };
    const bool topology = read_one(files_.topology, [this] {
      topology_ = read_topology(files_.topology, files_.defines, files_.include_folders);
    });
    // Of a stored state, molecules are found by the topology's names.
    const bool readable = files_.state == nullptr || topology;
    const bool coordinates = readable && read_one(files_.coordinates, [this] {
                               ordered_ = files_.state == nullptr
                                              ? OrderedState{read_gro(files_.coordinates), {}}
                                              : ordered_by_topology(*files_.state, topology_);
                             });
    if (coordinates) box = coordinates_.box;
    if (topology && coordinates) return true;
    // With them it is read where its atoms are needed.
    read_one(files_.solute, [this] { check_solute_file(files_.solute); });
    return false;
  }

 private:
  /// Molecules of a kind whose atoms the coordinates call otherwise.
  struct OtherNames {
    std::size_t count = 0;
    std::string text;  ///< of the first
  };

  /// Molecules whose coordinates do not have their model's geometry.
  struct Fitted {
    std::size_t count = 0;
    double largest_rmsd = 0;
  };

  void sort_molecules(MoleculeOrder* topology_order) {
    // Stable: molecules of one type keep their order in the file.
    std::vector<std::size_t> order(system_.molecules.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      order[i] = i;
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return system_.molecules[a].type < system_.molecules[b].type;
    });
    std::vector<Molecule> sorted;
    for (std::size_t i : order) {
      sorted.push_back(system_.molecules[i]);
      sorted_lines_.push_back(lines_[i]);
    }
    system_.molecules = std::move(sorted);
    if (topology_order != nullptr) *topology_order = order_in_topology(order);
  }

  /// @param sorted the topology's molecules in the order of the system's, without the QM molecule
  MoleculeOrder order_in_topology(const std::vector<std::size_t>& sorted) const {
    MoleculeOrder order(sorted.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) order[sorted[i]] = i;
    if (system_.solute) {
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(molecules_before_solute_),
                   kSolutePlace);
    }
    return order;
  }

  std::size_t atoms_of(const MoleculeCount& entry) const {
    return entry.count * topology_.definitions[entry.definition].atoms.size();
  }

  std::string place_in_coordinates(std::size_t line) const {
    return files_.state == nullptr ? place_of(coordinates_.path, line) : coordinates_.path.string();
  }

  std::string line_place(std::size_t atom) const {
    return place_in_coordinates(coordinates_.atoms[atom].line);
  }

  /// A molecule of the stored state that begins at an atom and has the geometry of a type; null:
  /// there is none.
  const Molecule* stored_molecule(std::size_t first, std::size_t type) const {
    if (files_.state == nullptr || ordered_.molecules[first] == OrderedState::kNoMolecule) {
      return nullptr;
    }
    const Molecule& molecule = files_.state->molecules[ordered_.molecules[first]];
    const bool same = std::ranges::equal(
        files_.state->types[molecule.type].sites, system_.molecule_types[type].sites,
        [](const Site& a, const Site& b) { return a.reference == b.reference; });
    return same ? &molecule : nullptr;
  }

  void find_solute() {
    if (files_.qm_molecule.empty()) {
      if (!files_.solute.empty()) {
        throw InputError(files_.solute.string(), "solute coordinates without a QM molecule", "",
                         "name the QM molecule (system.qm-molecule), or leave out the solute file");
      }
      return;
    }
    qm_definition_ = topology_.definition_index(files_.qm_molecule, "system.qm-molecule");
    std::size_t count = 0;
    for (const MoleculeCount& entry : topology_.molecules) {
      count += entry.definition == qm_definition_ ? entry.count : 0;
    }
    if (count != 1) {
      throw InputError(
          topology_.path.string(),
          fmt::format("[ molecules ] must hold exactly one QM molecule '{}'", files_.qm_molecule),
          std::to_string(count),
          "give the QM molecule a [ moleculetype ] of its own, with count 1");
    }
  }

  void find_rigid() {
    for (const std::string& name : files_.rigid) {
      rigid_definitions_.insert(topology_.definition_index(name, "system.rigid"));
    }
  }

  void check_atom_count() {
    std::size_t expected = 0;
    std::size_t solute_atoms = 0;
    std::vector<std::string> parts;
    for (const MoleculeCount& entry : topology_.molecules) {
      const MoleculeDefinition& definition = topology_.definitions[entry.definition];
      if (definition.atoms.empty() && entry.count > 0) {
        throw InputError(definition.place, "the molecule has no [ atoms ]", definition.name,
                         "list its atoms");
      }
      expected += atoms_of(entry);
      solute_atoms += entry.definition == qm_definition_ ? atoms_of(entry) : 0;
      constexpr std::size_t most_named = 8;
      if (parts.size() < most_named) {
        parts.push_back(fmt::format("{} x {} of {} atoms", entry.count, definition.name,
                                    definition.atoms.size()));
      } else if (parts.size() == most_named) {
        parts.emplace_back("...");
      }
    }
    const std::size_t found = coordinates_.atoms.size();
    solute_in_coordinates_ = found == expected;
    const bool from_file = solute_atoms > 0 && found + solute_atoms == expected;
    if (solute_in_coordinates_ || (from_file && !files_.solute.empty())) {
      return;
    }
    throw InputError(place_in_coordinates(2),
                     fmt::format("the topology {} needs {} atoms ({})", topology_.path.string(),
                                 expected, fmt::join(parts, ", ")),
                     std::to_string(found),
                     from_file ? "the QM molecule is missing here: add it, or give its "
                                 "coordinates in a solute file (system.solute)"
                               : "correct the counts in [ molecules ] or use the coordinates that "
                                 "belong to this topology");
  }

  void read_molecules() {
    std::size_t atom = 0;
    for (const MoleculeCount& entry : topology_.molecules) {
      errors_.attempt([&] { read_molecules(entry, atom); });
      const bool in_coordinates = entry.definition != qm_definition_ || solute_in_coordinates_;
      atom += in_coordinates ? atoms_of(entry) : 0;
    }
  }

  void read_molecules(const MoleculeCount& entry, std::size_t first) {
    const MoleculeDefinition& definition = topology_.definitions[entry.definition];
    check_supported(definition, entry.count);
    if (entry.definition == qm_definition_) {
      if (entry.count == 1) read_solute(definition, first);
      return;
    }
    const bool has_geometry =
        defined_geometry(definition).has_value() || given_geometry(definition) != nullptr;
    for (std::size_t i = 0; i < entry.count; ++i) {
      read_molecule(entry.definition, first + i * definition.atoms.size(), has_geometry);
    }
  }

  static void check_supported(const MoleculeDefinition& definition, std::size_t count) {
    if (count > 0 && !definition.unsupported_section.empty()) {
      throw InputError(
          definition.unsupported_place,
          fmt::format("section not supported, but molecule {} needs it", definition.name),
          definition.unsupported_section, "use a rigid, non-polarisable model of the molecule");
    }
  }

  [[noreturn]] void refuse_open_distance(const MoleculeDefinition& definition, std::size_t first,
                                         const OpenDistance& open) const {
    throw InputError(
        line_place(first + open.atom),
        fmt::format("neighbouring atoms {} ({}) and {} ({}, {}) of molecule {} lie more than half "
                    "an edge of the periodic box apart, so that their distance may be {:.3f} as "
                    "well as {:.3f} angstrom",
                    open.atom + 1, definition.atoms[open.atom].name, open.neighbour + 1,
                    definition.atoms[open.neighbour].name, line_place(first + open.neighbour),
                    definition.name, open.as_written_angstrom, open.nearest_image_angstrom),
        "",
        "take a box whose edges are more than twice the distances of neighbouring sites, and write "
        "the molecule whole ('gmx trjconv -pbc mol')");
  }

  [[noreturn]] void refuse_atom(const MoleculeDefinition& definition, std::size_t first,
                                std::size_t i) const {
    const GroAtom& atom = coordinates_.atoms[first + i];
    refuse_order(definition, i, line_place(first + i),
                 definition.atoms.size() == 1
                     ? fmt::format("{} of residue {}", atom.atom_name, atom.residue_name)
                     : atom.atom_name);
  }

  /// Whether a residue is called as another molecule of one atom, with other parameters: a QM ion
  /// is set apart from its like by the name of its moleculetype.
  bool is_of_another_ion(const MoleculeDefinition& definition, std::string_view residue,
                         bool is_solute) const {
    const TopologyAtom& atom = definition.atoms[0];
    if (same_name(residue, definition.name) || same_name(residue, atom.residue)) return false;
    return std::ranges::any_of(topology_.molecules, [&](const MoleculeCount& entry) {
      const MoleculeDefinition& other = topology_.definitions[entry.definition];
      return entry.count > 0 && other.atoms.size() == 1 && same_name(residue, other.name) &&
             (other.atoms[0].type != atom.type ||
              (!is_solute && other.atoms[0].charge != atom.charge));
    });
  }

  /// Of a molecule of one atom.
  bool is_another_ion(const MoleculeDefinition& definition, const GroAtom& atom,
                      bool is_solute) const {
    if (is_of_another_ion(definition, atom.residue_name, is_solute)) return true;
    const TopologyAtom& there = definition.atoms[0];
    if (same_name(atom.atom_name, there.name)) return false;
    const auto elements = elements_without_mass(atom.atom_name, atom.residue_name);
    const auto named = elements_without_mass(there.name, there.residue);
    if (elements.empty() || named.empty()) {
      return first_letter(atom.atom_name) != first_letter(there.name);
    }
    return std::ranges::find_first_of(elements, named) == elements.end();
  }

  void check_names(const MoleculeDefinition& definition, std::size_t first, bool is_solute) {
    const std::span<const GroAtom> atoms =
        std::span(coordinates_.atoms).subspan(first, definition.atoms.size());
    if (atoms.size() == 1 && !definition.is_virtual(0)) {
      if (is_another_ion(definition, atoms[0], is_solute)) refuse_atom(definition, first, 0);
    } else {
      for (std::size_t i = 0; i < atoms.size(); ++i) {
        if (first_letter(atoms[i].atom_name) != first_letter(definition.atoms[i].name) &&
            !definition.is_virtual(i)) {
          refuse_atom(definition, first, i);
        }
      }
    }
    if (is_solute && (files_.state != nullptr || is_of_a_run(coordinates_))) return;
    std::vector<std::string> names;
    for (const GroAtom& atom : atoms) names.push_back(atom.atom_name);
    const auto other = first_other_name(definition, names);
    if (!other) return;
    const Charges charges = is_solute ? Charges::unused : Charges::used;
    if (const auto misplaced = first_misplaced(definition, names, charges)) {
      refuse_atom(definition, first, *misplaced);
    }
    OtherNames& found = other_names_[definition.name];
    if (++found.count > 1) return;
    found.text =
        fmt::format("{}: atom {} of molecule {} is called '{}' here and '{}' in the topology ({})",
                    line_place(first + *other), *other + 1, definition.name, names[*other],
                    definition.atoms[*other].name, definition.atoms[*other].place);
  }

  void warn_of_names() {
    for (const auto& [molecule, found] : other_names_) {
      system_.warnings.push_back(fmt::format(
          "{}; {}: atoms are told by their order alone, so see that it is the same in both files",
          found.text,
          found.count == 1
              ? "it is the only molecule of this kind with other names"
              : fmt::format("{} molecules of this kind have other names", found.count)));
    }
  }

  /// Coordinates of a molecule, whole; checks its atom names.
  /// @param has_geometry whether its geometry is known without them
  std::vector<Vector3> whole_molecule(const MoleculeDefinition& definition, std::size_t first,
                                      bool has_geometry, bool is_solute = false) {
    check_names(definition, first, is_solute);
    std::vector<Vector3> positions;
    for (std::size_t i = 0; i < definition.atoms.size(); ++i) {
      positions.push_back(coordinates_.atoms[first + i].position);
    }
    const std::vector<Vector3> written = positions;
    const std::vector<std::size_t> neighbours = make_whole(system_.box, positions);
    if (!has_geometry) {
      if (const auto open = open_distance(system_.box, written, positions, neighbours)) {
        refuse_open_distance(definition, first, *open);
      }
    }
    return positions;
  }

  /// The geometry of the first coordinates of the system, where they tell it and are in another
  /// file; else null.
  const MoleculeType* given_geometry(const MoleculeDefinition& definition) const {
    if (files_.first == nullptr || defined_geometry(definition)) return nullptr;
    const auto type =
        std::ranges::find(files_.first->molecule_types, definition.name, &MoleculeType::name);
    const bool is_there =
        type != files_.first->molecule_types.end() && type->sites.size() == definition.atoms.size();
    return is_there ? &*type : nullptr;
  }

  [[noreturn]] void refuse_geometry(const MoleculeDefinition& definition, std::size_t first,
                                    double rmsd) const {
    const bool is_given = given_geometry(definition) != nullptr;
    throw InputError(
        line_place(first),
        fmt::format("molecule {} does not have the geometry {} (root mean square deviation above "
                    "{} angstrom)",
                    definition.name, is_given ? "that system.coordinates gives it" : "of its model",
                    kLargestRmsdAngstrom),
        fmt::format("{:.3f} angstrom", rmsd),
        is_given ? "give files of one system, whose molecules have one rigid geometry"
                 : "use coordinates made for this rigid model, or the model they were made for; "
                   "flexible molecules are not supported");
  }

  void read_molecule(std::size_t definition_index, std::size_t first, bool has_geometry) {
    const MoleculeDefinition& definition = topology_.definitions[definition_index];
    const std::vector<Vector3> positions = whole_molecule(definition, first, has_geometry);
    const std::size_t type = molecule_type(definition_index, positions);
    // Atoms only: the places of virtual sites follow from them.
    std::vector<Vector3> reference;
    std::vector<Vector3> target;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      if (!definition.is_virtual(i)) {
        reference.push_back(system_.molecule_types[type].sites[i].reference);
        target.push_back(positions[i]);
      }
    }
    const Superposition fit = superpose(reference, target);
    if (!(fit.rmsd <= kLargestRmsdAngstrom)) refuse_geometry(definition, first, fit.rmsd);
    if (fit.rmsd > rmsd_of_rounding_angstrom) {
      Fitted& fitted = fitted_[type];
      ++fitted.count;
      fitted.largest_rmsd = std::max(fitted.largest_rmsd, fit.rmsd);
    }
    const Molecule* const stored = stored_molecule(first, type);
    system_.molecules.push_back(stored == nullptr
                                    ? Molecule{type, fit.centre, fit.orientation}
                                    : Molecule{type, stored->centre, stored->orientation});
    lines_.push_back(coordinates_.atoms[first].line);
  }

  void note_fitted() {
    for (const auto& [type, fitted] : fitted_) {
      system_.notes.push_back(fmt::format(
          "{}: {} molecules {} differ in geometry from their rigid model and were fitted to it; "
          "their atoms moved by at most {:.3f} A (root mean square; up to {:g} A is allowed)",
          coordinates_.path.string(), fitted.count, system_.molecule_types[type].name,
          fitted.largest_rmsd, kLargestRmsdAngstrom));
    }
  }

  /// Whether a definition is the only molecule of its kind and uncharged among charged ones, and no
  /// molecule is treated by quantum mechanics.
  bool may_be_forgotten_solute(std::size_t definition_index) const {
    bool others_charged = false;
    std::size_t count = 0;
    for (const MoleculeCount& entry : topology_.molecules) {
      const bool same = entry.definition == definition_index;
      count += same ? entry.count : 0;
      others_charged |=
          !same && entry.count > 0 && topology_.definitions[entry.definition].is_charged();
    }
    return qm_definition_ == no_definition && count == 1 && others_charged &&
           !topology_.definitions[definition_index].is_charged();
  }

  void warn_of_external(const MoleculeDefinition& definition) {
    if (definition.external_section.empty()) return;
    system_.warnings.push_back(fmt::format(
        "{}: molecule {} moves freely: its [ {} ] are ignored; leave them out (and the define that "
        "switches them on), or sample with another program",
        definition.external_place, definition.name, definition.external_section));
  }

  /// About the centre.
  std::vector<Vector3> reference_geometry(const MoleculeDefinition& definition,
                                          std::span<const Vector3> instance) const {
    if (const MoleculeType* const given = given_geometry(definition)) {
      // As it is, to the last bit: poses of both files are then of one geometry.
      std::vector<Vector3> reference;
      for (const Site& site : given->sites) reference.push_back(site.reference);
      return reference;
    }
    std::vector<Vector3> reference =
        defined_geometry(definition)
            .value_or(std::vector<Vector3>(instance.begin(), instance.end()));
    check_constraint_lengths(definition, reference);
    place_virtual_sites(definition, reference);
    centre_on_mass(definition, reference);
    return reference;
  }

  /// Index of the molecule type of a definition; made at its first instance.
  std::size_t molecule_type(std::size_t definition_index, std::span<const Vector3> instance) {
    if (const auto known = type_of_definition_.find(definition_index);
        known != type_of_definition_.end()) {
      return known->second;
    }
    const MoleculeDefinition& definition = topology_.definitions[definition_index];
    const MoleculeRole role{rigid_definitions_.contains(definition_index),
                            qm_definition_ == no_definition,
                            may_be_forgotten_solute(definition_index)};
    require_rigid(definition, instance, role, system_.notes, system_.warnings);
    warn_of_external(definition);
    const std::vector<Vector3> reference = reference_geometry(definition, instance);
    MoleculeType type{definition.name, {}};
    for (std::size_t i = 0; i < definition.atoms.size(); ++i) {
      const TopologyAtom& atom = definition.atoms[i];
      const std::size_t site_type = site_types_.index(atom);
      const AtomType& parameters = site_types_.type(site_type);
      const bool is_virtual = definition.is_virtual(i) || parameters.is_virtual;
      const Element* element = is_virtual ? nullptr
                                          : guess_element(parameters.atomic_number, atom.mass,
                                                          atom.name, definition.name);
      type.sites.push_back({atom.name, element ? std::string(element->symbol) : std::string(),
                            site_type, atom.charge, is_virtual ? 0 : atom.mass, reference[i]});
    }
    system_.molecule_types.push_back(std::move(type));
    const std::size_t index = system_.molecule_types.size() - 1;
    type_of_definition_.emplace(definition_index, index);
    return index;
  }

  /// The topology may leave out the QM molecule's charges, which nothing uses.
  void warn_of_charge(const MoleculeDefinition& definition) {
    if (!files_.qm_charge || !definition.is_charged()) return;
    double charge = 0;
    for (const TopologyAtom& atom : definition.atoms) charge += atom.charge;
    constexpr double rounding = 0.5;
    if (std::abs(charge - *files_.qm_charge) < rounding) return;
    system_.warnings.push_back(fmt::format(
        "{}: the charges of the QM molecule {} add up to {:+.4g} e in the topology, and qm.charge, "
        "which counts, is {:+d}: correct what is wrong",
        definition.place, definition.name, charge, *files_.qm_charge));
  }

  void read_solute(const MoleculeDefinition& definition, std::size_t first) {
    Solute solute;
    solute.name = definition.name;
    std::vector<const AtomType*> types;
    for (std::size_t i = 0; i < definition.atoms.size(); ++i) {
      const TopologyAtom& atom = definition.atoms[i];
      solute.types.push_back(site_types_.index(atom));
      types.push_back(&site_types_.type(solute.types.back()));
      if (definition.is_virtual(i) || types.back()->is_virtual) {
        throw InputError(atom.place, "an atom of the QM molecule is a virtual site", atom.name,
                         "leave it out: virtual sites cannot be part of the QM molecule");
      }
    }
    std::vector<std::vector<NamedAtom>> named(definition.atoms.size());
    if (solute_in_coordinates_) {
      solute.positions = whole_molecule(definition, first, !files_.solute.empty(), true);
      for (std::size_t i = 0; i < named.size(); ++i) {
        named[i].push_back(
            {coordinates_.atoms[first + i].atom_name, nullptr, line_place(first + i)});
      }
    }
    if (!files_.solute.empty()) {
      take_solute_file(files_.solute, system_.box, definition, solute, named, system_.warnings);
    }
    const std::vector<const Element*> elements =
        solute_elements(definition, types, named, files_.elements);
    for (const Element* element : elements) {
      solute.elements.emplace_back(element->symbol);
      solute.atomic_numbers.push_back(element->atomic_number);
    }
    std::vector<std::string> places;
    for (const std::vector<NamedAtom>& atom : named) places.push_back(atom.back().place);
    require_apart(solute.positions, [&](std::size_t atom) { return places[atom]; });
    if (auto warning = check_bonds(definition, elements, solute.positions, places)) {
      system_.warnings.push_back(*std::move(warning));
    }
    warn_of_charge(definition);
    if (!definition.bonded_section.empty()) {
      system_.notes.push_back(fmt::format(
          "the QM molecule {} stays as the coordinates have it: its [ {} ] ({}) are not used",
          definition.name, definition.bonded_section, definition.bonded_place));
    }
    molecules_before_solute_ = system_.molecules.size();
    solute_line_ = solute_in_coordinates_ ? line_place(first) : files_.solute.string();
    system_.solute = std::move(solute);
  }

  std::string molecule_name(std::size_t owner) const {
    if (owner == system_.molecules.size()) {
      return fmt::format("the QM molecule {} ({})", system_.solute->name, solute_line_);
    }
    return fmt::format("molecule {} ({})",
                       system_.molecule_types[system_.molecules[owner].type].name,
                       place_in_coordinates(sorted_lines_[owner]));
  }

  void check_overlaps() {
    for (const Overlap& overlap : overlaps(system_)) {
      errors_.attempt([&] {
        throw InputError(
            coordinates_.path.string(),
            fmt::format("{} overlaps with {}", molecule_name(overlap.a), molecule_name(overlap.b)),
            fmt::format("{:.3f} angstrom", overlap.distance_angstrom),
            "remove one of them, or make the system again ('starpmc solvate')");
      });
      if (errors_.all().size() == errors_before_ + most_overlaps_told) return;
    }
  }

  const SystemFiles& files_;
  InputErrors& errors_;
  std::size_t errors_before_;
  TopologyFile topology_;
  OrderedState ordered_;
  const GroFile& coordinates_;
  SiteTypes site_types_;
  System system_;
  std::size_t qm_definition_ = no_definition;
  std::set<std::size_t> rigid_definitions_;
  bool solute_in_coordinates_ = true;
  std::string solute_line_;
  std::size_t molecules_before_solute_ = 0;
  std::map<std::size_t, std::size_t> type_of_definition_;
  std::map<std::string, OtherNames> other_names_;
  std::map<std::size_t, Fitted> fitted_;   ///< by molecule type
  std::vector<std::size_t> lines_;         ///< first line of each molecule, in the file's order
  std::vector<std::size_t> sorted_lines_;  ///< and in the system's order
};

}  // namespace

System read_system(const SystemFiles& files, MoleculeOrder* order) {
  InputErrors errors(InputErrors::Mode::throw_first);
  std::optional<Box> box;
  return std::move(*read_system(files, errors, box, order));
}

std::optional<Box> check_system_files(const SystemFiles& files, InputErrors& errors) {
  std::optional<Box> box;
  SystemReader(files, errors).read_files(box);
  return box;
}

std::optional<System> read_system(const SystemFiles& files, InputErrors& errors,
                                  std::optional<Box>& box, MoleculeOrder* order) {
  return SystemReader(files, errors).read(box, order);
}

}  // namespace starpmc
