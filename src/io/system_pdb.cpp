#include <fmt/format.h>

#include <cctype>
#include <iterator>

#include "base/byte_columns.hpp"
#include "base/checked_file.hpp"
#include "io/site_order.hpp"
#include "io/trajectory.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

std::string upper_case(std::string text) {
  for (char& letter : text)
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return text;
}

/// Columns 13 to 16: elements of one letter begin in the second of them.
std::string atom_name(const ParticleLabel& label) {
  const bool shifted = label.name.size() < 4 && label.element.size() < 2;
  return shifted ? " " + label.name : label.name;
}

bool fits(double coordinate) { return coordinate > -999.9995 && coordinate < 9999.9995; }

}  // namespace

void write_system_pdb(const std::filesystem::path& path, const System& system,
                      std::span<const Molecule> molecules) {
  const Vector3& edges = system.box.lengths;
  const auto labels = particle_labels(system);
  const auto positions = particle_positions(system, molecules);
  std::string text =
      fmt::format("TITLE     {}\nREMARK    by starpmc\n", first_bytes(system.title, 70));
  fmt::format_to(std::back_inserter(text),
                 "CRYST1{:9.3f}{:9.3f}{:9.3f}{:7.2f}{:7.2f}{:7.2f} P 1           1\n", edges.x,
                 edges.y, edges.z, 90.0, 90.0, 90.0);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const ParticleLabel& label = labels[i];
    const double* r = &positions[3 * i];
    if (!fits(r[0]) || !fits(r[1]) || !fits(r[2]))
      throw RunError(
          fmt::format("{}: atom {} at ({}, {}, {}) A does not fit the columns of a PDB file",
                      path.string(), i + 1, r[0], r[1], r[2]));
    // Serial and residue numbers wrap around, as readers of large systems expect.
    fmt::format_to(
        std::back_inserter(text),
        "HETATM{:5d} {} {}{}{:4d}    {:8.3f}{:8.3f}{:8.3f}{:6.2f}{:6.2f}"
        "          {}\n",
        (i + 1) % 100000, left_column(atom_name(label), 4), left_column(label.residue, 4),
        system.solute && label.residue_number == 1 ? 'A' : 'B', label.residue_number % 10000, r[0],
        r[1], r[2], 1.0, 0.0, right_column(upper_case(label.element), 2));
  }
  write_file_atomically(path, text + "END\n");
}

}  // namespace starpmc
