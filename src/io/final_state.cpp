#include "io/final_state.hpp"

#include <string_view>
#include <vector>

#include "io/site_order.hpp"
#include "system/gro_file.hpp"

namespace starpmc {
namespace {

constexpr int kDecimals = 7;  // 1e-6 angstrom

/// The first particle of every molecule in the order of particle_labels(), and their number.
std::vector<std::size_t> first_particles(const System& system) {
  std::vector<std::size_t> first;
  std::size_t next = system.solute ? system.solute->atom_count() : 0;
  for (const Molecule& molecule : system.molecules) {
    first.push_back(next);
    next += system.molecule_types[molecule.type].sites.size();
  }
  first.push_back(next);
  return first;
}

}  // namespace

std::string gro_text(const System& system, std::span<const Molecule> molecules,
                     const MoleculeOrder& order) {
  const std::vector<ParticleLabel> labels = particle_labels(system);
  const std::vector<double> positions = particle_positions(system, molecules);
  const std::vector<std::size_t> first = first_particles(system);
  std::vector<GroAtom> atoms;
  int residue = 0;
  for (const std::size_t place : order) {
    ++residue;
    const bool is_solute = place == kSolutePlace;
    const std::size_t begin = is_solute ? 0 : first[place];
    const std::size_t end = is_solute ? system.solute->atom_count() : first[place + 1];
    for (std::size_t i = begin; i < end; ++i) {
      const double* const r = &positions[3 * i];
      atoms.push_back({residue, labels[i].residue, labels[i].name, {r[0], r[1], r[2]}});
    }
  }
  const std::string_view mark = ", by starpmc";  // by which it is known as a run's
  const std::string title =
      system.title.ends_with(mark) ? system.title : system.title + std::string(mark);
  return format_gro(title, atoms, system.box, kDecimals);
}

}  // namespace starpmc
