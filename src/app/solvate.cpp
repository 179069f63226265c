#include "app/solvate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <ostream>
#include <vector>

#include "error.hpp"
#include "system/atom_typing.hpp"
#include "system/data_folder.hpp"
#include "system/elements.hpp"
#include "system/gro_file.hpp"
#include "system/gromacs_data.hpp"
#include "system/read_system.hpp"
#include "system/rigid_geometry.hpp"
#include "system/solvation.hpp"
#include "system/superposition.hpp"
#include "system/text.hpp"
#include "system/topology.hpp"
#include "system/xyz_file.hpp"

namespace starpmc {
namespace {

namespace options = boost::program_options;

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

struct Request {
  std::filesystem::path solute;
  std::optional<long> waters;
  std::optional<double> edge_angstrom;
  std::string model;
  std::filesystem::path output;
  int charge = 0;
  std::uint64_t seed = 1;
  std::filesystem::path table;
  bool overwrite = false;
};

options::options_description describe_options() {
  options::options_description described("Options");
  auto add = described.add_options();
  add("solute", options::value<std::string>(),
      "solute, .xyz (angstrom) or .gro (nm); none: pure water");
  add("waters", options::value<long>(), "number of water molecules; sets the edge of the cube");
  add("box", options::value<double>(),
      "edge of the cube in angstrom, instead of --waters; as many waters as the liquid's density "
      "gives");
  add("model", options::value<std::string>()->default_value("tip3p"),
      "water model: tip3p, spc, spce or tip4p");
  add("output", options::value<std::string>(),
      "name of the files to write, without .gro and .top; the solute's name by default, or "
      "'water'");
  add("charge", options::value<int>()->default_value(0),
      "charge of the solute in elementary charges; noted in the files for the QM program");
  add("seed", options::value<std::uint64_t>()->default_value(1),
      "chooses the cut out of the equilibrated water");
  add("table", options::value<std::string>(),
      "rules for the solute's Lennard-Jones types; the built-in opls_types.txt by default");
  add("overwrite", "replace files that exist");
  add("help", "show this text");
  return described;
}

void print_help(const options::options_description& described, std::ostream& out) {
  out << "Usage: starpmc solvate [--solute FILE] --waters N [options]\n\n"
         "Puts a solute into a cube of equilibrated water at the liquid's density and writes\n"
         "NAME.gro and NAME.top. The water and the OPLS-AA parameters come from GROMACS's data\n"
         "(Debian: apt install gromacs-data).\n\n"
      << described
      << "\nExample: starpmc solvate --solute chorismate.xyz --waters 500 --charge -2\n";
}

options::variables_map parse(const options::options_description& described,
                             std::span<const std::string> arguments) {
  options::variables_map values;
  try {
    const std::vector<std::string> words(arguments.begin(), arguments.end());
    options::store(options::command_line_parser(words)
                       .options(described)
                       .positional(options::positional_options_description())
                       .style(options::command_line_style::default_style &
                              ~options::command_line_style::allow_guessing)
                       .run(),
                   values);
    options::notify(values);
  } catch (const options::unknown_option& error) {
    std::vector<std::string> known;
    for (const auto& option : described.options()) known.push_back("--" + option->long_name());
    throw InputError("starpmc solvate", "unknown option", error.get_option_name(),
                     suggest(error.get_option_name(), known, "see starpmc solvate --help"));
  } catch (const options::error& error) {
    throw InputError("starpmc solvate", error.what(), "", "see starpmc solvate --help");
  }
  return values;
}

Request make_request(const options::variables_map& values) {
  Request request;
  if (values.contains("solute")) request.solute = values["solute"].as<std::string>();
  if (values.contains("waters")) request.waters = values["waters"].as<long>();
  if (values.contains("box")) request.edge_angstrom = values["box"].as<double>();
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
  request.model = values["model"].as<std::string>();
  const std::string stem = request.solute.empty() ? "water" : request.solute.stem().string();
  request.output = values.contains("output") ? values["output"].as<std::string>() : stem;
  request.charge = values["charge"].as<int>();
  request.seed = values["seed"].as<std::uint64_t>();
  if (values.contains("table")) request.table = values["table"].as<std::string>();
  request.overwrite = values.contains("overwrite");
  return request;
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
std::string molecule_name(const Request& request) {
  std::string name = request.solute.stem().string();
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_') c = '_';
  }
  // "SOL" is the water's moleculetype in GROMACS's files.
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

std::string format_coordinates(const Request& request, const SolvatedBox& solvated,
                               const Geometry& solute, const MoleculeDefinition& water) {
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
  const std::string title = fmt::format(
      "{} in {} {} waters", solute.elements.empty() ? "nothing but water" : molecule_name(request),
      solvated.waters.size(), request.model);
  return format_gro(title, atoms, solvated.box, gro_decimals);
}

std::string format_topology(const Request& request, const WaterModel& model, const Geometry& solute,
                            const std::vector<std::string>& types, const MoleculeDefinition& water,
                            std::size_t waters) {
  std::string text = "; written by starpmc solvate\n#include \"oplsaa.ff/forcefield.itp\"\n";
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
                     types[i], residue_name(name), atom_name(solute, i), i + 1,
                     element_by_symbol(solute.elements[i])->mass);
    }
  }
  fmt::format_to(out, "\n#include \"{}\"\n\n[ system ]\n{} in {}\n\n[ molecules ]\n; name  count\n",
                 model.topology, solute.elements.empty() ? "water" : name, request.model);
  if (!solute.elements.empty()) fmt::format_to(out, "{}  1\n", name);
  fmt::format_to(out, "{}  {}\n", water.name, waters);
  return text;
}

void refuse_existing(const Request& request, std::span<const std::filesystem::path> files) {
  for (const std::filesystem::path& file : files) {
    if (!request.overwrite && std::filesystem::exists(file)) {
      throw InputError(file.string(), "the file exists already", "",
                       "choose another --output, or give --overwrite");
    }
  }
}

void write_checked(const std::filesystem::path& coordinates, std::string_view coordinate_text,
                   const std::filesystem::path& topology, std::string_view topology_text,
                   const std::string& qm_molecule) {
  write_file(topology, topology_text);
  write_file(coordinates, coordinate_text);
  // What is written must be readable: a table of the user's may name types that do not exist.
  try {
    read_system({coordinates, topology, {}, qm_molecule, {}, {}});
  } catch (const InputError&) {
    std::filesystem::remove(coordinates);
    std::filesystem::remove(topology);
    throw;
  }
}

void print_summary(const Request& request, const SolvatedBox& solvated, const Geometry& solute,
                   const std::filesystem::path& coordinates, const std::filesystem::path& topology,
                   std::ostream& out) {
  out << fmt::format(
      "{} {} waters{} in a cube of {:.3f} angstrom\nwrote {} and {}\n", solvated.waters.size(),
      request.model,
      solute.elements.empty()
          ? ""
          : fmt::format(" around {} atoms of {}", solute.elements.size(), molecule_name(request)),
      solvated.box.lengths.x, coordinates.string(), topology.string());
  out << fmt::format("\nFor the configuration:\n\n[system]\ncoordinates = {}\ntopology = {}\n",
                     coordinates.string(), topology.string());
  if (!solute.elements.empty()) {
    out << fmt::format("qm-molecule = {}\n\n[qm]\ncharge = {}\n", molecule_name(request),
                       request.charge);
  }
}

}  // namespace

int run_solvate(std::span<const std::string> arguments, std::ostream& out) {
  const options::options_description described = describe_options();
  const options::variables_map values = parse(described, arguments);
  if (values.contains("help")) {
    print_help(described, out);
    return 0;
  }
  const Request request = make_request(values);
  const WaterModel& model = find_model(request.model);
  std::filesystem::path coordinates = request.output;
  coordinates += ".gro";
  std::filesystem::path topology = request.output;
  topology += ".top";
  refuse_existing(request, std::array{coordinates, topology});

  Geometry solute;
  std::vector<std::string> types;
  if (!request.solute.empty()) {
    solute = read_geometry(request.solute);
    types = assign_atom_types(
        solute, request.table.empty() ? data_folder() / "opls_types.txt" : request.table);
  }
  const MoleculeDefinition water_definition = read_water_definition(model);
  const WaterBox water = read_water_box(model, water_definition);
  const std::size_t waters = request.waters ? static_cast<std::size_t>(*request.waters)
                                            : waters_in_cube(water, solute, *request.edge_angstrom);
  if (waters == 0) {
    throw InputError("--box", "the solute leaves no room for water",
                     fmt::format("{}", *request.edge_angstrom), "ask for a longer edge");
  }
  const double edge = request.edge_angstrom.value_or(cube_edge(water, solute, waters));
  const SolvatedBox solvated = solvate(water, solute, waters, edge, request.seed);
  write_checked(
      coordinates, format_coordinates(request, solvated, solute, water_definition), topology,
      format_topology(request, model, solute, types, water_definition, solvated.waters.size()),
      solute.elements.empty() ? "" : molecule_name(request));
  print_summary(request, solvated, solute, coordinates, topology, out);
  return 0;
}

}  // namespace starpmc
