#include "kernels/exact_energies.hpp"

#include <algorithm>

#include "kernels/exact_blocks.hpp"
#include "kernels/scalar/moves.hpp"

namespace starpmc {
namespace {

double squared(double x) { return x * x; }

}  // namespace

ExactEnergies::ExactEnergies(const Window& window, const Certification& certification,
                             std::span<const double> lattice, ExactGridSum grid_sum)
    : window_(window),
      certification_(certification),
      lattice_(lattice),
      grid_sum_(grid_sum),
      reach_(window.topology, window.interaction) {
  const Potential* const potential = window.potential;
  if (potential != nullptr) user_.emplace(*potential, window.topology, window.interaction);
  user_mm_ = potential_of(potential, &Potential::in_mm) != nullptr;
  user_nuclei_ = potential_of(potential, &Potential::in_nuclei) != nullptr;
  for (int k = 0; k < 3; ++k) inverse_box_[k] = 1 / window.interaction.box[k];
}

std::uint64_t ExactEnergies::change_of_others(int slot, int from, int to,
                                              const Occupied& occupied) {
  const Placed before = place_entry(from);
  const Placed after = place_entry(to);
  std::uint64_t units = with_nuclei(after) - with_nuclei(before);
  const int self = window_.plan[plan_start_molecule(window_.layout) + slot];
  const auto stride = static_cast<std::size_t>(window_.layout.molecules);
  for (int molecule = 0; molecule < window_.topology.shape.molecules; ++molecule) {
    if (molecule == self) continue;
    const auto m = static_cast<std::size_t>(molecule);
    const int other_slot = slot_of(molecule);
    const int entry = other_slot < 0 ? -1 : occupied(other_slot);
    const double centre[3] = {entry < 0 ? lattice_[m] : window_.field(POSE_X, entry),
                              entry < 0 ? lattice_[stride + m] : window_.field(POSE_Y, entry),
                              entry < 0 ? lattice_[2 * stride + m] : window_.field(POSE_Z, entry)};
    const int type = window_.topology.type_of(molecule);
    const bool near_before = in_reach(before, type, centre);
    const bool near_after = in_reach(after, type, centre);
    if (!near_before && !near_after) continue;
    const Placed other = entry < 0 ? place_lattice(molecule) : place_entry(entry);
    if (near_after) units += with_molecule(after, other);
    if (near_before) units -= with_molecule(before, other);
  }
  return units;
}

std::uint64_t ExactEnergies::change_of_grid(int from, int to) const {
  if (certification_.exact_blocks.empty()) return 0;
  return with_grid(place_entry(to)) - with_grid(place_entry(from));
}

ExactEnergies::Placed ExactEnergies::place_entry(int entry) const {
  Placed placed{window_.topology.type_of(window_.molecule_of_entry(entry)), {}, {}};
  std::vector<double> displacements(static_cast<std::size_t>(3 * window_.layout.sites));
  for (int k = 0; k < 3; ++k) placed.centre[k] = window_.field(POSE_X + k, entry);
  for (std::size_t k = 0; k < displacements.size(); ++k) {
    displacements[k] = window_.field(POSE_FIELDS + static_cast<int>(k), entry);
  }
  place_sites(displacements.data(), placed);
  return placed;
}

ExactEnergies::Placed ExactEnergies::place_lattice(int molecule) const {
  const Topology& topology = window_.topology;
  Placed placed{topology.type_of(molecule), {}, {}};
  double pose[POSE_FIELDS];
  for (std::size_t field = 0; field < POSE_FIELDS; ++field) {
    pose[field] = lattice_[field * static_cast<std::size_t>(window_.layout.molecules) +
                           static_cast<std::size_t>(molecule)];
  }
  std::copy_n(pose, 3, placed.centre);
  std::vector<double> displacements(static_cast<std::size_t>(3 * window_.layout.sites));
  for (int site = 0; site < topology.site_count(placed.type); ++site) {
    scalar::rotate_site(pose, topology.site(placed.type, site), &displacements[3 * site]);
  }
  place_sites(displacements.data(), placed);
  return placed;
}

void ExactEnergies::place_sites(const double* displacements, Placed& placed) const {
  const auto values = static_cast<std::size_t>(3 * window_.topology.site_count(placed.type));
  placed.sites.resize(values);
  for (std::size_t k = 0; k < values; ++k) {
    placed.sites[k] = placed.centre[k % 3] + displacements[k];
  }
}

bool ExactEnergies::in_reach(const Placed& placed, int type, const double* centre) const {
  double r2 = 0;
  for (int k = 0; k < 3; ++k) {
    r2 += squared(scalar::exact_image(placed.centre[k] - centre[k], window_.interaction.box[k],
                                      inverse_box_[k]));
  }
  return r2 < squared(reach_(placed.type, type));
}

std::uint64_t ExactEnergies::with_molecule(const Placed& a, const Placed& b) const {
  const Topology& topology = window_.topology;
  const Interaction& interaction = window_.interaction;
  const double coulomb2 = squared(interaction.coulomb_cutoff);
  const double vdw2 = squared(interaction.vdw_cutoff);
  double coulomb = 0;
  double vdw = 0;
  for (int i = 0; i < topology.site_count(a.type); ++i) {
    for (int j = 0; j < topology.site_count(b.type); ++j) {
      double d[3];
      for (int k = 0; k < 3; ++k) {
        d[k] = scalar::exact_image(a.sites[static_cast<std::size_t>(3 * i + k)] -
                                       b.sites[static_cast<std::size_t>(3 * j + k)],
                                   interaction.box[k], inverse_box_[k]);
      }
      const double r2 = scalar::exact_distance_squared(d[0], d[1], d[2]);
      const double charge =
          STARPMC_COULOMB_CONSTANT * (topology.site(a.type, i)[3] * topology.site(b.type, j)[3]);
      const double* const c =
          topology.pair(topology.site_type(a.type, i), topology.site_type(b.type, j));
      if (user_mm_) {
        if (charge != 0) coulomb += user_->coulomb(r2, charge);
        vdw += user_->mm_vdw(r2, topology.site_type(a.type, i), topology.site_type(b.type, j));
        continue;
      }
      coulomb += scalar::exact_coulomb(r2, charge, coulomb2, 1 / interaction.coulomb_cutoff);
      vdw += scalar::exact_lennard_jones(r2, c[0], c[1], c[2], c[3], vdw2);
    }
  }
  if (user_mm_) {
    return scalar::exact_units(limited_user_energy(coulomb)) +
           scalar::exact_units(limited_user_energy(vdw));
  }
  return scalar::exact_units(limited_pair_energy(coulomb)) +
         scalar::exact_units(limited_pair_energy(vdw));
}

std::uint64_t ExactEnergies::with_grid(const Placed& placed) const {
  std::vector<double> sites;
  for (int site = 0; site < window_.topology.site_count(placed.type); ++site) {
    const double charge = window_.topology.site(placed.type, site)[3];
    if (charge == 0) continue;
    const double* const position = &placed.sites[static_cast<std::size_t>(3 * site)];
    sites.insert(sites.end(), {position[0], position[1], position[2], charge});
  }
  return grid_sum_({window_.interaction, certification_.exact_blocks, certification_.exact_points,
                    sites, window_.potential});
}

std::uint64_t ExactEnergies::with_nuclei(const Placed& placed) const {
  const Topology& topology = window_.topology;
  const Interaction& interaction = window_.interaction;
  const auto nuclei = static_cast<std::size_t>(certification_.nuclei);
  const std::span<const double> solute = certification_.solute;
  std::uint64_t units = 0;
  for (int site = 0; site < topology.site_count(placed.type); ++site) {
    const double charge = STARPMC_COULOMB_CONSTANT * topology.site(placed.type, site)[3];
    for (std::size_t nucleus = 0; nucleus < nuclei; ++nucleus) {
      double d[3];
      for (std::size_t k = 0; k < 3; ++k) {
        d[k] = scalar::exact_image(
            placed.sites[3 * static_cast<std::size_t>(site) + k] - solute[k * nuclei + nucleus],
            interaction.box[k], inverse_box_[k]);
      }
      const double r2 = scalar::exact_distance_squared(d[0], d[1], d[2]);
      const double charges = charge * solute[3 * nuclei + nucleus];
      const int type = topology.site_type(placed.type, site);
      const int nucleus_type = static_cast<int>(solute[4 * nuclei + nucleus]);
      if (user_nuclei_) {
        units += user_with_nucleus(r2, charges, type, nucleus_type);
        continue;
      }
      const double* const c = topology.qmmm_pair(type, nucleus_type);
      units += scalar::exact_units(scalar::exact_coulomb(
          r2, charges, squared(interaction.coulomb_cutoff), 1 / interaction.coulomb_cutoff));
      units += scalar::exact_units(
          scalar::exact_lennard_jones(r2, c[0], c[1], c[2], c[3], squared(interaction.vdw_cutoff)));
    }
  }
  return units;
}

std::uint64_t ExactEnergies::user_with_nucleus(double r2, double charges, int type,
                                               int nucleus_type) const {
  const double coulomb = charges == 0 ? 0 : user_->coulomb(r2, charges);
  return scalar::exact_units(limited_user_energy(coulomb)) +
         scalar::exact_units(limited_user_energy(user_->qmmm_vdw(r2, type, nucleus_type)));
}

int ExactEnergies::slot_of(int molecule) {
  if (slot_of_molecule_.empty()) {
    slot_of_molecule_.assign(static_cast<std::size_t>(window_.topology.shape.molecules), -1);
    for (int slot = 0; slot < window_.starts(); ++slot) {
      const int started = window_.plan[plan_start_molecule(window_.layout) + slot];
      slot_of_molecule_[static_cast<std::size_t>(started)] = slot;
    }
  }
  return slot_of_molecule_[static_cast<std::size_t>(molecule)];
}

}  // namespace starpmc
