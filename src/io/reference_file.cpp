#include "io/reference_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>

#include "base/checked_file.hpp"
#include "base/nested_json.hpp"
#include "io/hdf5_handle.hpp"
#include "io/json_fields.hpp"
#include "io/sha256.hpp"
#include "io/table_error_fields.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

using hdf5::Handle;
using nlohmann::json;

constexpr const char* kFormat = "starpmc reference density";
constexpr int kVersion = 1;
constexpr std::uint64_t kMostNumbers = std::uint64_t{1} << 30;
constexpr double kSamePosition = 1e-6;  ///< angstrom

json vector_json(const Vector3& v) { return {v.x, v.y, v.z}; }
Vector3 vector_from(const json& v) { return {v.at(0), v.at(1), v.at(2)}; }

/// Those that are kept as they are.
template <class Identity, class Field>
void identity_fields(Identity& identity, const Field& field) {
  field("elements", identity.elements);
  field("charge", identity.charge);
  field("multiplicity", identity.multiplicity);
  field("engine", identity.engine);
  field("method", identity.method);
  field("basis", identity.basis);
  field("density_fitting", identity.density_fitting);
  field("coulomb", identity.coulomb);
  field("coulomb_cutoff_angstrom", identity.coulomb_cutoff_angstrom);
}

json identity_json(const ReferenceIdentity& identity) {
  json document{{"positions", json::array()},
                {"scf_grid", {identity.scf_grid_radial, identity.scf_grid_angular}},
                {"box_angstrom", vector_json(identity.box)}};
  identity_fields(identity, PutFields{document});
  for (const Vector3& r : identity.positions) document["positions"].push_back(vector_json(r));
  return document;
}

ReferenceIdentity identity_from(const json& document) {
  ReferenceIdentity identity;
  identity_fields(identity, TakeFields{document});
  for (const json& r : document.at("positions")) identity.positions.push_back(vector_from(r));
  document.at("scf_grid").at(0).get_to(identity.scf_grid_radial);
  document.at("scf_grid").at(1).get_to(identity.scf_grid_angular);
  identity.box = vector_from(document.at("box_angstrom"));
  return identity;
}

template <class Reference, class Field>
void reference_fields(Reference& reference, const Field& field) {
  field("solute_energy_kj_per_mol", reference.solute_energy_kj_per_mol);
  field("components", reference.components);
  field("dipole_debye", reference.dipole_debye);
  field("configurations", reference.configurations);
  field("worker_memory_mb", reference.memory_mb);
  field("seconds", reference.seconds);
  field("isolated_energy_kj_per_mol", reference.isolated_energy_kj_per_mol);
  field("isolated_dipole_debye", reference.isolated_dipole_debye);
}

json lattice_json(const PotentialLattice& lattice) {
  json levels = json::array();
  for (int i = 0; i < lattice.levels; ++i) {
    const LatticeLevel& level = lattice.level[i];
    levels.push_back({{"origin_angstrom", level.origin},
                      {"inverse_spacing", level.inverse_spacing},
                      {"nodes", level.nodes},
                      {"first", level.first}});
  }
  return {{"components", lattice.components},
          {"centre_angstrom", lattice.centre},
          {"box_angstrom", lattice.box},
          {"inverse_box", lattice.inverse_box},
          {"levels", levels}};
}

template <class Number>
void take_three(const json& document, const char* name, Number (&values)[3]) {
  const auto found = document.at(name).get<std::array<Number, 3>>();
  std::ranges::copy(found, values);
}

LatticeLevel level_from(const json& document) {
  LatticeLevel level{};
  take_three(document, "origin_angstrom", level.origin);
  document.at("inverse_spacing").get_to(level.inverse_spacing);
  take_three(document, "nodes", level.nodes);
  document.at("first").get_to(level.first);
  constexpr int kFewestNodes = 4;
  constexpr int kMostNodes = 4096;
  for (const int nodes : level.nodes) {
    if (nodes < kFewestNodes || nodes > kMostNodes) {
      throw RunError(fmt::format("one of its lattices has {} nodes along an axis", nodes));
    }
  }
  return level;
}

/// @throws json::exception, RunError where sizes do not fit together
PotentialLattice lattice_from(const json& document, std::size_t values) {
  PotentialLattice lattice{};
  document.at("components").get_to(lattice.components);
  take_three(document, "centre_angstrom", lattice.centre);
  take_three(document, "box_angstrom", lattice.box);
  take_three(document, "inverse_box", lattice.inverse_box);
  const json& levels = document.at("levels");
  constexpr int kMostComponents = 4096;
  if (levels.size() > std::size(lattice.level) || lattice.components < 0 ||
      lattice.components > kMostComponents) {
    throw RunError("its lattices do not form a table");
  }
  lattice.levels = static_cast<int>(levels.size());
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const LatticeLevel& level = lattice.level[i] = level_from(levels[i]);
    if (level.first < 0 || static_cast<std::uint64_t>(level.first) != end) {
      throw RunError("its lattices do not follow one another");
    }
    std::uint64_t size = static_cast<std::uint64_t>(lattice.components);
    for (const int nodes : level.nodes) size *= static_cast<std::uint64_t>(nodes);
    end += size;
  }
  if (end != values) {
    throw RunError(fmt::format("its lattices need {} values, it has {}", end, values));
  }
  return lattice;
}

/// All but the arrays.
json header_json(const SoluteReference& reference) {
  json widths = json::array();
  for (const ResponseWidth& width : reference.widths) {
    widths.push_back({width.components, width.mean, width.width});
  }
  json header{{"identity", identity_json(reference.identity)},
              {"potential", lattice_json(reference.potential.lattice)},
              {"response", lattice_json(reference.response.lattice)},
              {"widths", widths}};
  reference_fields(reference, PutFields{header});
  table_error_fields(reference.table_error, PutFields{header["table_error"]});
  table_error_fields(reference.response_error, PutFields{header["response_error"]});
  return header;
}

/// Into a reference that has its arrays.
void take_header(const json& header, SoluteReference& reference) {
  reference.identity = identity_from(header.at("identity"));
  reference.potential.lattice =
      lattice_from(header.at("potential"), reference.potential.values.size());
  reference.response.lattice =
      lattice_from(header.at("response"), reference.response.values.size());
  for (const json& width : header.at("widths")) {
    reference.widths.push_back({width.at(0), width.at(1), width.at(2)});
  }
  reference_fields(reference, TakeFields{header});
  for (const auto& [name, error] : {std::pair("table_error", &reference.table_error),
                                    std::pair("response_error", &reference.response_error)}) {
    if (header.contains(name)) table_error_fields(*error, TakeFields{header.at(name)});
  }
  if (reference.components < 0 ||
      reference.mean_response.size() != static_cast<std::size_t>(reference.components) ||
      reference.response.lattice.components < reference.components) {
    throw RunError("its response and its table differ in the number of components");
  }
  if (reference.response.lattice.components % STARPMC_COMPONENT_GRAIN != 0) {
    throw RunError(
        fmt::format("the table of its response has {} components, no multiple of the {} "
                    "that this program's kernels take at a time",
                    reference.response.lattice.components, STARPMC_COMPONENT_GRAIN));
  }
  if (reference.potential.lattice.components != 1 || reference.potential.lattice.levels == 0) {
    throw RunError(fmt::format("the table of its potential has {} components, not one",
                               reference.potential.lattice.components));
  }
}

std::string checksum(const std::string& header, const SoluteReference& reference) {
  Sha256 hash;
  hash.add(header);
  hash.add(std::span<const double>(reference.worker_state));
  hash.add(std::span<const double>(reference.mean_response));
  hash.add(std::as_bytes(std::span(reference.potential.values)));
  hash.add(std::as_bytes(std::span(reference.response.values)));
  return hash.hexadecimal_digest();
}

void write_list(hid_t file, const std::string& name, hid_t file_type, hid_t memory_type,
                const auto& values) {
  const hsize_t size = values.size();
  hdf5::write_dataset(file, name, file_type, memory_type, values.data(), {&size, 1});
}

void write_floats(hid_t file, const std::string& name, const std::vector<float>& values) {
  write_list(file, name, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, values);
}

void write_doubles(hid_t file, const std::string& name, const std::vector<double>& values) {
  write_list(file, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values);
}

void write_bytes(hid_t file, const std::string& name, const std::string& text) {
  write_list(file, name, H5T_STD_U8LE, H5T_NATIVE_UINT8, text);
}

template <class List>
List read_list(hid_t file, const std::string& name, hid_t memory_type, hsize_t most) {
  const Handle dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), name);
  const std::vector<hsize_t> shape = hdf5::shape_of(dataset.get());
  if (shape.size() != 1 || shape[0] > most) throw RunError(name + " has an absurd size");
  List values;
  values.resize(shape[0]);
  if (values.empty()) return values;
  hdf5::check(H5Dread(dataset.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
              name);
  return values;
}

template <class Number>
std::vector<Number> read_numbers(hid_t file, const std::string& name, hid_t memory_type) {
  auto values = read_list<std::vector<Number>>(file, name, memory_type, kMostNumbers);
  if (!std::ranges::all_of(values, [](Number value) { return std::isfinite(value); })) {
    throw RunError(name + " has values that are not finite");
  }
  return values;
}

std::string read_bytes(hid_t file, const std::string& name) {
  return read_list<std::string>(file, name, H5T_NATIVE_UINT8, hsize_t{1} << 26);
}

SoluteReference read_open(const std::filesystem::path& path) {
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "opening");
  if (read_bytes(file.get(), "format") != kFormat) throw RunError("it holds something else");
  const std::string version = read_bytes(file.get(), "version");
  if (version != std::to_string(kVersion)) {
    throw RunError(fmt::format("it is of version {} of the format, this program reads version {}",
                               version, kVersion));
  }
  SoluteReference reference;
  const std::string header = read_bytes(file.get(), "header");
  reference.worker_state = read_numbers<double>(file.get(), "worker_state", H5T_NATIVE_DOUBLE);
  reference.mean_response = read_numbers<double>(file.get(), "mean_response", H5T_NATIVE_DOUBLE);
  reference.potential.values = read_numbers<float>(file.get(), "potential", H5T_NATIVE_FLOAT);
  reference.response.values = read_numbers<float>(file.get(), "response", H5T_NATIVE_FLOAT);
  if (read_bytes(file.get(), "sha256") != checksum(header, reference)) {
    throw RunError("its contents do not match its checksum");
  }
  take_header(parse_json(header), reference);
  return reference;
}

/// After a failure nothing more is written, however HDF5 closes the file.
void write_into(Handle& file, const SoluteReference& reference) {
  try {
    const std::string header = header_json(reference).dump();
    write_bytes(file.get(), "format", kFormat);
    write_bytes(file.get(), "version", std::to_string(kVersion));
    write_bytes(file.get(), "sha256", checksum(header, reference));
    write_bytes(file.get(), "header", header);
    write_doubles(file.get(), "worker_state", reference.worker_state);
    write_doubles(file.get(), "mean_response", reference.mean_response);
    write_floats(file.get(), "potential", reference.potential.values);
    write_floats(file.get(), "response", reference.response.values);
    hdf5::synchronise_file(file.get());
    file.close("closing");
  } catch (const RunError&) {
    hdf5::abandon_file(file.get());
    throw;
  }
}

}  // namespace

void write_reference(const std::filesystem::path& path, const SoluteReference& reference) {
  const std::lock_guard lock(hdf5::library_mutex());
  const hdf5::QuietErrors quiet;
  const std::filesystem::path temporary = temporary_path(path);
  try {
    Handle file(H5Fcreate(temporary.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "creating");
    write_into(file, reference);
    rename_durably(temporary, path);
  } catch (const RunError& error) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw RunError(fmt::format("{}: the reference density cannot be written: {}", path.string(),
                               error.what()));
  }
}

SoluteReference read_reference(const std::filesystem::path& path, const std::string& place,
                               const std::string& remedy) {
  if (!std::filesystem::exists(path)) {
    throw InputError(place, "there is no such file", path.string(), remedy);
  }
  const std::lock_guard lock(hdf5::library_mutex());
  const hdf5::QuietErrors quiet;
  try {
    return read_open(path);
  } catch (const RunError& error) {
    throw InputError(place, fmt::format("not a complete reference density: {}", error.what()),
                     path.string(), remedy);
  } catch (const json::exception& error) {
    throw InputError(place, fmt::format("not a complete reference density: {}", error.what()),
                     path.string(), remedy);
  }
}

std::string difference(const ReferenceIdentity& found, const ReferenceIdentity& expected) {
  const auto differs = [](const char* what, const auto& one, const auto& other) {
    return one == other ? std::string()
                        : fmt::format("its {} is {}, here it is {}", what, one, other);
  };
  if (found.elements != expected.elements) {
    return fmt::format("it is of {}, the solute here is {}", fmt::join(found.elements, " "),
                       fmt::join(expected.elements, " "));
  }
  for (std::size_t i = 0; i < expected.positions.size(); ++i) {
    const Vector3 there = i < found.positions.size() ? found.positions[i] : Vector3{};
    const double distance = norm(there - expected.positions[i]);
    if (distance <= kSamePosition) continue;
    return fmt::format("its atom {} lies {:.3g} A from where it is here", i + 1, distance);
  }
  for (const std::string& text :
       {differs("charge", found.charge, expected.charge),
        differs("multiplicity", found.multiplicity, expected.multiplicity),
        differs("engine", found.engine, expected.engine),
        differs("method", found.method, expected.method),
        differs("basis", found.basis, expected.basis),
        differs("density fitting", found.density_fitting, expected.density_fitting),
        differs("number of radial shells of the SCF's grid", found.scf_grid_radial,
                expected.scf_grid_radial),
        differs("number of angular points of the SCF's grid", found.scf_grid_angular,
                expected.scf_grid_angular),
        differs("Coulomb function", found.coulomb, expected.coulomb),
        differs("Coulomb cutoff (A)", found.coulomb_cutoff_angstrom,
                expected.coulomb_cutoff_angstrom),
        differs("box's edge x (A)", found.box.x, expected.box.x),
        differs("box's edge y (A)", found.box.y, expected.box.y),
        differs("box's edge z (A)", found.box.z, expected.box.z)}) {
    if (!text.empty()) return text;
  }
  return {};
}

std::string digest(const SoluteReference& reference) {
  SoluteReference sampled = reference;
  sampled.seconds = 0;
  sampled.memory_mb = 0;
  return checksum(header_json(sampled).dump(), sampled);
}

}  // namespace starpmc
