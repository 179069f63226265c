#include "system/solvated_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/input_file.hpp"
#include "kernels/base/error.hpp"
#include "system/atom_typing.hpp"
#include "system/close_atoms.hpp"
#include "system/data_folder.hpp"
#include "system/elements.hpp"
#include "system/gro_file.hpp"
#include "system/gromacs_data.hpp"
#include "system/read_system.hpp"
#include "system/readable_pair.hpp"
#include "system/rigid_geometry.hpp"
#include "system/solvation.hpp"
#include "system/superposition.hpp"
#include "system/text.hpp"
#include "system/topology.hpp"
#include "system/xyz_file.hpp"

namespace starpmc {
namespace {

constexpr std::string_view force_field = "oplsaa.ff/forcefield.itp";
constexpr std::string_view ion_topology = "oplsaa.ff/ions.itp";
constexpr int gro_decimals = 7;  // 1e-6 angstrom

/// A rigid water model and where GROMACS keeps it.
struct WaterModel {
  std::string_view name;
  std::string_view topology;     ///< the model itself
  std::string_view coordinates;  ///< an equilibrated box with as many sites a molecule
};

constexpr std::array<WaterModel, 4> water_models{{
    {"tip3p", "oplsaa.ff/tip3p.itp", "spc216.gro"},
    {"spc", "oplsaa.ff/spc.itp", "spc216.gro"},
    {"spce", "oplsaa.ff/spce.itp", "spc216.gro"},
    {"tip4p", "oplsaa.ff/tip4p.itp", "tip4p.gro"},
}};

void check_numbers(const SolvateRequest& request) {
  if (request.waters.has_value() == request.edge_angstrom.has_value()) {
    throw InputError("starpmc solvate", "the size of the box is not given, or given twice", "",
                     "give either --waters NUMBER or --box ANGSTROM");
  }
  if (request.waters && (*request.waters < 1 || *request.waters > 1000000)) {
    throw InputError("--waters", "the number of waters is out of range",
                     std::to_string(*request.waters), "ask for 1 to 1000000");
  }
  // Written so that NaN fails as well.
  if (request.edge_angstrom && !(*request.edge_angstrom >= 5 && *request.edge_angstrom <= 300)) {
    throw InputError("--box", "the edge is out of range", fmt::format("{}", *request.edge_angstrom),
                     "ask for 5 to 300 angstrom");
  }
  constexpr int most_charge = 1000;  // as qm.charge
  if (request.charge < -most_charge || request.charge > most_charge) {
    throw InputError("--charge", "the charge is out of range", std::to_string(request.charge),
                     "give the solute's charge, -1000 to 1000 elementary charges");
  }
  const double distance = request.ion_distance_angstrom;
  if (!(distance >= 2 && distance <= 100)) {
    throw InputError("--ion-distance", "the distance is out of range", fmt::format("{}", distance),
                     "ask for 2 to 100 angstrom");
  }
}

const WaterModel& find_model(const std::string& name) {
  std::vector<std::string> known;
  for (const WaterModel& model : water_models) {
    if (equal_ignoring_case(model.name, name)) return model;
    known.emplace_back(model.name);
  }
  throw InputError("--model", "unknown water model", name,
                   suggest(name, known, "choose tip3p, spc, spce or tip4p"));
}

MoleculeDefinition read_water_definition(const WaterModel& model) {
  const std::filesystem::path file = find_gromacs_file(model.topology);
  const std::vector<MoleculeDefinition> definitions = read_molecule_definitions(file);
  if (definitions.size() != 1) {
    throw InputError(file.string(), "does not hold exactly one water model",
                     std::to_string(definitions.size()), gromacs_data_remedy);
  }
  return definitions.front();
}

/// Lays the model's rigid geometry onto the molecules of GROMACS's equilibrated box.
WaterBox read_water_box(const WaterModel& model, const MoleculeDefinition& definition) {
  const std::filesystem::path file = find_gromacs_file(model.coordinates);
  const GroFile gro = read_gro(file);
  const auto geometry = defined_geometry(definition);
  const std::size_t sites = definition.atoms.size();
  if (!geometry || gro.atoms.size() % sites != 0) {
    throw InputError(file.string(), "does not hold molecules of the water model", model.name,
                     gromacs_data_remedy);
  }
  WaterBox water{gro.box, {}, *geometry, {}, {}};
  centre_on_mass(definition, water.reference);
  std::vector<Vector3> reference;
  for (std::size_t s = 0; s < sites; ++s) {
    const Element* element = definition.is_virtual(s)
                                 ? nullptr
                                 : guess_element(0, 0, definition.atoms[s].name.substr(0, 1));
    water.elements.emplace_back(element ? element->symbol : "");
    if (element) reference.push_back(water.reference[s]);
  }
  for (std::size_t first = 0; first < gro.atoms.size(); first += sites) {
    std::vector<Vector3> atoms;
    for (std::size_t s = 0; s < sites; ++s) {
      if (!water.elements[s].empty()) atoms.push_back(gro.atoms[first + s].position);
    }
    make_whole(gro.box, atoms);
    const Superposition fit = superpose(reference, atoms);
    const Vector3& edges = gro.box.lengths;
    const Vector3 wrapped = gro.box.minimum_image(fit.centre - 0.5 * edges) + 0.5 * edges;
    water.centres.push_back(wrapped);
    water.orientations.push_back(fit.orientation);
  }
  return water;
}

/// The solute's name, in letters a topology accepts.
std::string molecule_name(const SolvateRequest& request) {
  std::string name = request.solute.stem().string();
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_') c = '_';
  }
  // "SOL" is the water's moleculetype in GROMACS's files, and "CL" an ion's.
  constexpr std::size_t longest_of_ion = 2;
  if (!request.ions.empty() && name.size() <= longest_of_ion) return "solute";
  return name.empty() || equal_ignoring_case(name, "SOL") ? "solute" : name;
}

std::string residue_name(const std::string& molecule) {
  std::string name;
  for (char c : molecule.substr(0, 5)) {
    name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

std::string atom_name(const Geometry& solute, std::size_t atom) {
  return fmt::format("{}{}", solute.elements[atom], atom + 1).substr(0, 5);
}

std::string format_coordinates(const SolvateRequest& request, const SolvatedBox& solvated,
                               const Geometry& solute, const MoleculeDefinition& water,
                               std::span<const Ions> ions) {
  std::vector<GroAtom> atoms;
  int residue = 1;
  if (!solute.elements.empty()) {
    const std::string name = residue_name(molecule_name(request));
    for (std::size_t i = 0; i < solute.elements.size(); ++i) {
      atoms.push_back({residue, name, atom_name(solute, i), solvated.solute[i]});
    }
    ++residue;
  }
  for (const std::vector<Vector3>& sites : solvated.waters) {
    for (std::size_t s = 0; s < sites.size(); ++s) {
      atoms.push_back({residue, water.name, water.atoms[s].name, sites[s]});
    }
    ++residue;
  }
  std::size_t next = 0;
  for (const Ions& kind : ions) {
    for (std::size_t i = 0; i < kind.count; ++i) {
      atoms.push_back({residue++, kind.molecule, kind.atom, solvated.ions[next++]});
    }
  }
  const std::string title = fmt::format(
      "{} in {} {} waters", solute.elements.empty() ? "nothing but water" : molecule_name(request),
      solvated.waters.size(), request.model);
  return format_gro(title, atoms, solvated.box, gro_decimals);
}

/// The solute's types as the topology names them, and [ atomtypes ] for those the force field has
/// for another element: a topology must not contradict its atoms' elements.
struct SoluteTypes {
  std::vector<std::string> names;
  std::string definitions;
};

SoluteTypes types_of_elements(const Geometry& solute, std::span<const AssignedType> assigned) {
  const auto known = read_atom_types(find_gromacs_file(force_field));
  SoluteTypes types;
  for (const AssignedType& type : assigned) types.names.push_back(type.name);
  std::set<std::string> written;
  for (std::size_t i = 0; i < types.names.size(); ++i) {
    const auto found = known.find(types.names[i]);
    const Element& element = *element_by_symbol(solute.elements[i]);
    if (found == known.end() || found->second.atomic_number == 0 ||
        found->second.atomic_number == element.atomic_number) {
      continue;  // one that the force field does not have is explained where the files are read
    }
    const AtomType& from = found->second;
    types.names[i] = fmt::format("{}_{}", from.name, element.symbol);
    if (!written.insert(types.names[i]).second) continue;
    types.definitions += fmt::format(
        "; {} with the Lennard-Jones parameters of {}\n{}  {}  {:.4f}  0.0  A  {}  {}\n",
        element.symbol, from.name, types.names[i], element.atomic_number, element.mass,
        from.vdw.first, from.vdw.second);
  }
  if (!types.definitions.empty()) {
    types.definitions =
        "\n[ atomtypes ]\n; name  at.num  mass  charge  ptype  sigma (nm)  epsilon (kJ/mol)\n" +
        types.definitions;
  }
  return types;
}

std::string format_topology(const SolvateRequest& request, const WaterModel& model,
                            const Geometry& solute, const SoluteTypes& types,
                            const MoleculeDefinition& water, const SolvatedFiles& made) {
  std::string text = fmt::format("; written by starpmc solvate\n#include \"{}\"\n{}", force_field,
                                 types.definitions);
  const std::string name = molecule_name(request);
  auto out = std::back_inserter(text);
  if (!solute.elements.empty()) {
    fmt::format_to(out,
                   "\n; The QM molecule, total charge {:+d}. Only its Lennard-Jones types matter:\n"
                   "; its charges are those of the electron density.\n"
                   "[ moleculetype ]\n; name  nrexcl\n{}  3\n\n[ atoms ]\n"
                   "; nr  type      resnr  residue  atom   cgnr  charge  mass\n",
                   request.charge, name);
    for (std::size_t i = 0; i < solute.elements.size(); ++i) {
      fmt::format_to(out, "{:5d}  {:<9s} 1      {:<7s}  {:<5s} {:5d}   0.000  {:.4f}\n", i + 1,
                     types.names[i], residue_name(name), atom_name(solute, i), i + 1,
                     element_by_symbol(solute.elements[i])->mass);
    }
  }
  fmt::format_to(out, "\n#include \"{}\"\n", model.topology);
  if (!made.ions.empty()) fmt::format_to(out, "#include \"{}\"\n", ion_topology);
  fmt::format_to(out, "\n[ system ]\n{} in {}\n\n[ molecules ]\n; name  count\n",
                 solute.elements.empty() ? "water" : name, request.model);
  if (!solute.elements.empty()) fmt::format_to(out, "{}  1\n", name);
  fmt::format_to(out, "{}  {}\n", water.name, made.waters);
  for (const Ions& kind : made.ions) {
    fmt::format_to(out, "{}  {}\n", kind.molecule, kind.count);
  }
  return text;
}

void refuse_existing(const SolvateRequest& request, std::span<const std::filesystem::path> files) {
  const std::filesystem::path folder = request.output.parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder)) {
    throw InputError("--output", "there is no such folder", folder.string(),
                     "make it first, or choose another");
  }
  const std::filesystem::path place = folder.empty() ? std::filesystem::path(".") : folder;
  if (access(place.c_str(), W_OK | X_OK) != 0) {
    throw InputError("--output", "the folder cannot be written to", place.string(),
                     "choose another, or make this one a folder that you may write to");
  }
  for (const std::filesystem::path& file : files) {
    for (const auto& [option, input] :
         {std::pair("--solute", request.solute), std::pair("--table", request.table)}) {
      if (input.empty() || !is_found_by(input, file)) continue;
      throw InputError(option, "is the file that would be written", file.string(),
                       "choose another --output");
    }
    if (const std::string kind = kind_of_other_file(file); !kind.empty()) {
      throw InputError(file.string(), "is not a regular file, and is not replaced", kind,
                       "choose another --output, or move it away");
    }
    if (!request.overwrite && std::filesystem::exists(std::filesystem::symlink_status(file))) {
      throw InputError(file.string(), "the file exists already", "",
                       "choose another --output, or give --overwrite");
    }
  }
}

std::optional<Salt> read_salt(const SolvateRequest& request) {
  if (request.ions.empty()) return std::nullopt;
  return parse_salt(request.ions, read_molecule_definitions(find_gromacs_file(ion_topology)));
}

/// Puts ions in the place of waters.
/// @return the kinds there are any of
std::vector<Ions> add_ions(const SolvateRequest& request, const Salt& salt, SolvatedBox& solvated) {
  std::vector<Ions> ions = count_ions(salt, solvated.box.volume(), request.charge);
  const std::vector<std::size_t> replaced =
      choose_waters(solvated.box, solvated.solute, solvated.waters, ions[0].count + ions[1].count,
                    request.ion_distance_angstrom, request.seed);
  for (const std::size_t water : replaced) {
    solvated.ions.push_back(solvated.waters[water].front());
    solvated.waters[water].clear();
  }
  std::erase_if(solvated.waters, [](const auto& sites) { return sites.empty(); });
  std::erase_if(ions, [](const Ions& kind) { return kind.count == 0; });
  return ions;
}

void write_checked(const SolvatedFiles& files, const Geometry& solute, std::string_view coordinates,
                   std::string_view topology) {
  // What is written must be readable: a table of the user's may name types that do not exist.
  const auto read = [&](const FilePair& written) {
    const System system =
        read_system({written.coordinates, written.topology, {}, files.qm_molecule, {}, {}});
    if (system.solute && system.solute->elements != solute.elements) {
      throw InputError(written.topology.string(),
                       "reads back with other elements than the solute's",
                       fmt::format("{}", fmt::join(system.solute->elements, " ")),
                       "check the types that --table gives");
    }
  };
  write_readable_pair({files.coordinates, files.topology}, coordinates, topology, read);
}

}  // namespace

SolvatedFiles write_solvated_files(const SolvateRequest& request) {
  check_numbers(request);
  const std::optional<Salt> salt = read_salt(request);
  const WaterModel& model = find_model(request.model);
  SolvatedFiles files;
  files.coordinates = request.output.string() + ".gro";
  files.topology = request.output.string() + ".top";
  refuse_existing(request, std::array{files.coordinates, files.topology});

  Geometry solute;
  SoluteTypes types;
  if (!request.solute.empty()) {
    solute = read_geometry(request.solute);
    constexpr std::size_t first_line = 3;  // of a .gro and of an .xyz file
    require_apart(solute.positions,
                  [&](std::size_t atom) { return place_of(request.solute, atom + first_line); });
    const std::vector<AssignedType> assigned = assign_atom_types(
        solute, request.table.empty() ? data_folder() / "opls_types.txt" : request.table);
    types = types_of_elements(solute, assigned);
    for (std::size_t i = 0; i < assigned.size(); ++i) {
      files.solute_types.push_back(
          {atom_name(solute, i), types.names[i], assigned[i].is_guess, assigned[i].comment});
    }
    files.qm_molecule = molecule_name(request);
    files.solute_atoms = solute.elements.size();
    files.solute_electrons = -request.charge;
    for (const std::string& element : solute.elements) {
      files.solute_electrons += element_by_symbol(element)->atomic_number;
    }
    if (files.solute_electrons < 1) {
      throw InputError("--charge",
                       fmt::format("leaves the solute {} electrons", files.solute_electrons),
                       std::to_string(request.charge), "correct the charge or the solute");
    }
  }
  const MoleculeDefinition definition = read_water_definition(model);
  const WaterBox water = read_water_box(model, definition);
  files.waters = request.waters ? static_cast<std::size_t>(*request.waters)
                                : waters_in_cube(water, solute, *request.edge_angstrom);
  if (files.waters == 0) {
    throw InputError("--box", "the solute leaves no room for water",
                     fmt::format("{}", *request.edge_angstrom), "ask for a longer edge");
  }
  files.edge_angstrom = request.edge_angstrom.value_or(cube_edge(water, solute, files.waters));
  SolvatedBox solvated = solvate(water, solute, files.waters, files.edge_angstrom, request.seed);
  if (salt) files.ions = add_ions(request, *salt, solvated);
  files.waters = solvated.waters.size();
  write_checked(files, solute,
                format_coordinates(request, solvated, solute, definition, files.ions),
                format_topology(request, model, solute, types, definition, files));
  return files;
}

}  // namespace starpmc
