#include "kernels/operations.hpp"
#include "kernels/scalar/pair_functions.hpp"

namespace starpmc::scalar {
namespace {

struct PairEnergy {
  double coulomb = 0;
  double vdw = 0;
};

/// Energy of two molecules; b's displacement from a's centre is wrapped in fp64, the site pairs are
/// computed in Real, or in fp64 where the molecules are near.
template <class Real>
class MoleculePair {
 public:
  MoleculePair(const Topology& topology, const Interaction& interaction)
      : topology_(topology), interaction_(interaction) {}

  /// site_a(k) and site_b(k): displacement of a site from its centre, of type Relative<Real>.
  template <class SiteA, class SiteB>
  PairEnergy operator()(int type_a, const double* centre_a, SiteA site_a, int type_b,
                        const double* centre_b, SiteB site_b) const {
    const auto offset = Relative<double>::from(centre_b, centre_a, interaction_);
    const double distance_squared = offset.x * offset.x + offset.y * offset.y + offset.z * offset.z;
    if (distance_squared < STARPMC_NEAR_DISTANCE * STARPMC_NEAR_DISTANCE) {
      return sum<double>(type_a, site_a, type_b, site_b, offset);
    }
    return sum<Real>(
        type_a, site_a, type_b, site_b,
        {static_cast<Real>(offset.x), static_cast<Real>(offset.y), static_cast<Real>(offset.z)});
  }

 private:
  template <class T, class SiteA, class SiteB>
  PairEnergy sum(int type_a, SiteA site_a, int type_b, SiteB site_b,
                 const Relative<T>& offset) const {
    const CoulombShiftedForce<T> coulomb(interaction_.coulomb_cutoff);
    const T vdw_cutoff_squared = static_cast<T>(interaction_.vdw_cutoff * interaction_.vdw_cutoff);
    PairEnergy energy;
    for (int i = 0; i < topology_.site_count(type_a); ++i) {
      const Relative<T> a = converted<T>(site_a(i));
      const double charge_a = topology_.site(type_a, i)[3];
      for (int j = 0; j < topology_.site_count(type_b); ++j) {
        const Relative<T> displacement = converted<T>(site_b(j));
        const Relative<T> b{offset.x + displacement.x, offset.y + displacement.y,
                            offset.z + displacement.z};
        const T r2 = scalar::distance_squared(a, b, interaction_);
        const double charge_b = topology_.site(type_b, j)[3];
        energy.coulomb += STARPMC_COULOMB_CONSTANT * charge_a * charge_b * coulomb(r2);
        energy.vdw += lennard_jones(
            r2, vdw_cutoff_squared,
            topology_.pair(topology_.site_type(type_a, i), topology_.site_type(type_b, j)));
      }
    }
    return {limited_pair_energy(energy.coulomb), limited_pair_energy(energy.vdw)};
  }

  template <class T, class From>
  static Relative<T> converted(const From& r) {
    return {static_cast<T>(r.x), static_cast<T>(r.y), static_cast<T>(r.z)};
  }

  const Topology& topology_;
  const Interaction& interaction_;
};

/// Displacements of an entry's sites.
auto entry_sites(const Window& window, int entry) {
  return [&window, entry](int site) {
    return Relative<double>{window.field(POSE_FIELDS + 3 * site, entry),
                            window.field(POSE_FIELDS + 3 * site + 1, entry),
                            window.field(POSE_FIELDS + 3 * site + 2, entry)};
  };
}

}  // namespace

template <class Real>
void mm_pair(const MmPairArguments<Real>& a) {
  const Window& window = a.window;
  const MoleculePair<Real> pair(window.topology, window.interaction);
  const auto stride = static_cast<std::size_t>(window.layout.molecules);
  for_each_entry(window, [&](int entry) {
    const int type = window.topology.type_of(window.molecule_of_entry(entry));
    const double centre[3] = {window.field(POSE_X, entry), window.field(POSE_Y, entry),
                              window.field(POSE_Z, entry)};
    PairEnergy sum;
    for (int other = a.first_molecule; other < a.last_molecule; ++other) {
      const auto molecule = static_cast<std::size_t>(other);
      if (a.outside[molecule] == 0) continue;
      const double other_centre[3] = {a.lattice[molecule], a.lattice[stride + molecule],
                                      a.lattice[2 * stride + molecule]};
      const auto other_sites = [&](int site) {
        const auto first = static_cast<std::size_t>(3 * site) * stride + molecule;
        return Relative<Real>{a.lattice_sites[first], a.lattice_sites[first + stride],
                              a.lattice_sites[first + 2 * stride]};
      };
      const PairEnergy energy = pair(type, centre, entry_sites(window, entry),
                                     window.topology.type_of(other), other_centre, other_sites);
      sum.coulomb += energy.coulomb;
      sum.vdw += energy.vdw;
    }
    a.energies[static_cast<std::size_t>(entry)] = sum.coulomb;
    a.energies[static_cast<std::size_t>(entry_capacity(window.layout) + entry)] = sum.vdw;
  });
}

template <class Real>
void mm_pair_table(const MmPairTableArguments<Real>& a) {
  const Window& window = a.window;
  const MoleculePair<Real> pair(window.topology, window.interaction);
  const auto rows = static_cast<std::size_t>(entry_capacity(window.layout));
  for_each_entry(window, [&](int i) {
    const int molecule_i = window.molecule_of_entry(i);
    const double centre_i[3] = {window.field(POSE_X, i), window.field(POSE_Y, i),
                                window.field(POSE_Z, i)};
    for_each_entry(window, [&](int j) {
      if (j > i) return;
      const int molecule_j = window.molecule_of_entry(j);
      PairEnergy energy;
      if (molecule_i != molecule_j) {
        const double centre_j[3] = {window.field(POSE_X, j), window.field(POSE_Y, j),
                                    window.field(POSE_Z, j)};
        energy = pair(window.topology.type_of(molecule_i), centre_i, entry_sites(window, i),
                      window.topology.type_of(molecule_j), centre_j, entry_sites(window, j));
      }
      const auto row = static_cast<std::size_t>(i);
      const auto column = static_cast<std::size_t>(j);
      a.table[row * rows + column] = a.table[column * rows + row] =
          static_cast<Real>(energy.coulomb);
      a.table[(rows + row) * rows + column] = a.table[(rows + column) * rows + row] =
          static_cast<Real>(energy.vdw);
    });
  });
}

template <class Real>
void mm_pair_reduce(const MmPairReduceArguments<Real>& a) {
  const Window& window = a.window;
  const auto rows = static_cast<std::size_t>(entry_capacity(window.layout));
  for (std::size_t term = 0; term < 2; ++term) {
    for_each_entry(window, [&](int entry) {
      const std::size_t index = term * rows + static_cast<std::size_t>(entry);
      double sum = 0;
      for (const auto& partial : a.partials) sum += partial[index];
      // Entries of one molecule have a table energy of 0 with each other.
      for (int slot = 0; slot < window.starts(); ++slot) {
        sum += a.table[index * rows + static_cast<std::size_t>(start_entry(window.layout, slot))];
      }
      a.energies[index] = sum;
    });
  }
}

template void mm_pair(const MmPairArguments<double>&);
template void mm_pair(const MmPairArguments<float>&);
template void mm_pair_table(const MmPairTableArguments<double>&);
template void mm_pair_table(const MmPairTableArguments<float>&);
template void mm_pair_reduce(const MmPairReduceArguments<double>&);
template void mm_pair_reduce(const MmPairReduceArguments<float>&);

}  // namespace starpmc::scalar
