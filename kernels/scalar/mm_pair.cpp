#include <cstdint>
#include <optional>
#include <type_traits>

#include "kernels/all_precisions.hpp"
#include "kernels/molecule_reach.hpp"
#include "kernels/operations.hpp"
#include "kernels/scalar/pair_functions.hpp"
#include "kernels/scalar/user_terms.hpp"
#include "kernels/whole_units.hpp"

namespace starpmc::scalar {
namespace {

struct PairEnergy {
  double coulomb = 0;
  double vdw = 0;
};

/// An energy of two molecules as the table and the sums have it.
template <class Real>
PairReal<Real> table_energy(double energy) {
  const auto stored = static_cast<PairReal<Real>>(energy);
  return static_cast<PairReal<Real>>(whole_units(stored, kPairUnit<Real>));
}

/// A site's position in fixed precision.
struct FixedPosition {
  FixedCoordinate x;
  FixedCoordinate y;
  FixedCoordinate z;
};

/// Displacement of two coordinates; the subtraction wraps it to the nearest image.
template <class T>
T displacement(FixedCoordinate a, FixedCoordinate b, double edge) {
  const auto units = static_cast<std::int32_t>(static_cast<std::uint32_t>(a.value) -
                                               static_cast<std::uint32_t>(b.value));
  return static_cast<T>(units) * static_cast<T>(fixed_unit(edge));
}

/// Energy of two molecules; b's displacement from a's centre is wrapped in fp64, the site pairs are
/// computed in PairReal, or in fp64 where the molecules are near or the user's functions need it
/// (Potential::mm_as_pairs).
template <class Real>
class MoleculePair {
 public:
  explicit MoleculePair(const Window& window)
      : topology_(window.topology),
        interaction_(window.interaction),
        reach_(topology_, interaction_) {
    if (const auto* const potential = potential_of(window.potential, &Potential::in_mm)) {
      user_.emplace(*potential, topology_, interaction_);
      if (potential->mm_as_pairs) far_user_.emplace(*potential, topology_, interaction_);
    }
  }

  /// site_a(k) and site_b(k): a site's displacement from its centre (Relative), or its position
  /// (FixedPosition).
  template <class SiteA, class SiteB>
  PairEnergy operator()(int type_a, const double* centre_a, SiteA site_a, int type_b,
                        const double* centre_b, SiteB site_b) const {
    const auto offset = Relative<double>::from(centre_b, centre_a, interaction_);
    const double distance_squared = offset.x * offset.x + offset.y * offset.y + offset.z * offset.z;
    const double reach = reach_(type_a, type_b);
    if (distance_squared > reach * reach) return {};
    const bool near = distance_squared < STARPMC_NEAR_DISTANCE * STARPMC_NEAR_DISTANCE;
    if (user_ && (near || !far_user_)) {
      return user_sum(*user_, type_a, site_a, type_b, site_b, offset);
    }
    if (user_) return user_sum(*far_user_, type_a, site_a, type_b, site_b, offset);
    if (near) {
      return sum<double>(type_a, site_a, type_b, site_b, offset);
    }
    return sum<PairReal<Real>>(type_a, site_a, type_b, site_b, offset);
  }

 private:
  template <class T, class SiteA, class SiteB>
  PairEnergy sum(int type_a, SiteA site_a, int type_b, SiteB site_b,
                 const Relative<double>& offset) const {
    const CoulombShiftedForce<T> coulomb(interaction_.coulomb_cutoff);
    const T vdw_cutoff_squared = static_cast<T>(interaction_.vdw_cutoff * interaction_.vdw_cutoff);
    PairEnergy energy;
    for (int i = 0; i < topology_.site_count(type_a); ++i) {
      const double charge_a = topology_.site(type_a, i)[3];
      for (int j = 0; j < topology_.site_count(type_b); ++j) {
        const T r2 = squared<T>(site_a(i), site_b(j), offset);
        const double charge_b = topology_.site(type_b, j)[3];
        energy.coulomb += STARPMC_COULOMB_CONSTANT * charge_a * charge_b * coulomb(r2);
        energy.vdw += lennard_jones(
            r2, vdw_cutoff_squared,
            topology_.pair(topology_.site_type(type_a, i), topology_.site_type(type_b, j)));
      }
    }
    return {limited_pair_energy(energy.coulomb), limited_pair_energy(energy.vdw)};
  }

  template <class T, class SiteA, class SiteB>
  PairEnergy user_sum(const UserTerms<Arithmetic::plain, T>& user, int type_a, SiteA site_a,
                      int type_b, SiteB site_b, const Relative<double>& offset) const {
    PairEnergy energy;
    for (int i = 0; i < topology_.site_count(type_a); ++i) {
      const double factor = STARPMC_COULOMB_CONSTANT * topology_.site(type_a, i)[3];
      for (int j = 0; j < topology_.site_count(type_b); ++j) {
        const T r2 = squared<T>(site_a(i), site_b(j), offset);
        const double charge = factor * topology_.site(type_b, j)[3];
        if (charge != 0) energy.coulomb += user.coulomb(r2, charge);
        energy.vdw +=
            user.mm_vdw(r2, topology_.site_type(type_a, i), topology_.site_type(type_b, j));
      }
    }
    return {limited_user_energy(energy.coulomb), limited_user_energy(energy.vdw)};
  }

  /// Squared distance of two sites; offset: of their centres.
  template <class T, class SiteA, class SiteB>
  T squared(const SiteA& site_a, const SiteB& site_b, const Relative<double>& offset) const {
    const auto a = converted<T>(site_a);
    const auto b = converted<T>(site_b);
    const auto o = converted<T>(offset);
    return scalar::distance_squared(a, Relative<T>{o.x + b.x, o.y + b.y, o.z + b.z}, interaction_);
  }
  template <class T>
  T squared(const FixedPosition& a, const FixedPosition& b, const Relative<double>&) const {
    const T dx = displacement<T>(a.x, b.x, interaction_.box[0]);
    const T dy = displacement<T>(a.y, b.y, interaction_.box[1]);
    const T dz = displacement<T>(a.z, b.z, interaction_.box[2]);
    return std::max(dx * dx + dy * dy + dz * dz, static_cast<T>(STARPMC_MINIMUM_DISTANCE_SQUARED));
  }

  template <class T, class From>
  static Relative<T> converted(const From& r) {
    return {static_cast<T>(r.x), static_cast<T>(r.y), static_cast<T>(r.z)};
  }

  const Topology& topology_;
  const Interaction& interaction_;
  MoleculeReach reach_;
  std::optional<UserTerms<Arithmetic::plain>> user_;
  std::optional<UserTerms<Arithmetic::plain, PairReal<Real>>> far_user_;
};

/// An entry's sites.
/// @tparam T what displacements are rounded to: as the lattice has them where a molecule is met
template <class Real, class T>
auto entry_sites(const Window& window, int entry) {
  return [&window, entry](int site) {
    const auto field = [&](int k) { return window.field(POSE_FIELDS + 3 * site + k, entry); };
    if constexpr (kPrecisionOf<Real> == Precision::fixed) {
      const auto position = [&](int k) {
        return stored_site<Real>(window.field(POSE_X + k, entry), field(k),
                                 window.interaction.box[k]);
      };
      return FixedPosition{position(0), position(1), position(2)};
    } else {
      return Relative<T>{static_cast<T>(field(0)), static_cast<T>(field(1)),
                         static_cast<T>(field(2))};
    }
  };
}

/// The sites of a molecule of the lattice.
template <class Real>
auto lattice_sites(const MmPairArguments<Real>& a, std::size_t molecule) {
  using Site =
      std::conditional_t<kPrecisionOf<Real> == Precision::fixed, FixedPosition, Relative<Real>>;
  const auto stride = static_cast<std::size_t>(a.window.layout.molecules);
  return [&a, stride, molecule](int site) {
    const auto first = static_cast<std::size_t>(3 * site) * stride + molecule;
    return Site{a.lattice_sites[first], a.lattice_sites[first + stride],
                a.lattice_sites[first + 2 * stride]};
  };
}

}  // namespace

template <class Real>
void mm_pair(const MmPairArguments<Real>& a) {
  const Window& window = a.window;
  const MoleculePair<Real> pair(window);
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
      const PairEnergy energy =
          pair(type, centre, entry_sites<Real, double>(window, entry),
               window.topology.type_of(other), other_centre, lattice_sites(a, molecule));
      sum.coulomb += table_energy<Real>(energy.coulomb);
      sum.vdw += table_energy<Real>(energy.vdw);
    }
    const auto put = [&](int term, double energy) {
      a.energies[static_cast<std::size_t>(term * entry_capacity(window.layout) + entry)] = energy;
    };
    put(TERM_MM_COULOMB, sum.coulomb);
    put(TERM_MM_VDW, sum.vdw);
  });
}

/// Every pair twice, by which of them moves.
template <class Real>
void mm_pair_table(const MmPairTableArguments<Real>& a) {
  const Window& window = a.window;
  const MoleculePair<Real> pair(window);
  for_each_entry(window, [&](int i) {
    const int molecule_i = window.molecule_of_entry(i);
    const double centre_i[3] = {window.field(POSE_X, i), window.field(POSE_Y, i),
                                window.field(POSE_Z, i)};
    for_each_entry(window, [&](int j) {
      const int molecule_j = window.molecule_of_entry(j);
      PairEnergy energy;
      if (molecule_i != molecule_j) {
        const double centre_j[3] = {window.field(POSE_X, j), window.field(POSE_Y, j),
                                    window.field(POSE_Z, j)};
        energy = pair(window.topology.type_of(molecule_i), centre_i,
                      entry_sites<Real, double>(window, i), window.topology.type_of(molecule_j),
                      centre_j, entry_sites<Real, Real>(window, j));
      }
      const auto moved = static_cast<std::size_t>(i);
      const auto met = static_cast<std::size_t>(j);
      a.put(TERM_MM_COULOMB, moved, met, table_energy<Real>(energy.coulomb));
      a.put(TERM_MM_VDW, moved, met, table_energy<Real>(energy.vdw));
    });
  });
}

template <class Real>
void mm_pair_reduce(const MmPairReduceArguments<Real>& a) {
  const Window& window = a.window;
  const auto rows = static_cast<std::size_t>(entry_capacity(window.layout));
  for (std::size_t term = 0; term < MM_TERMS; ++term) {
    for_each_entry(window, [&](int entry) {
      const std::size_t index = term * rows + static_cast<std::size_t>(entry);
      double sum = 0;
      for (const auto& partial : a.partials) sum += partial[index];
      // Entries of one molecule have a table energy of 0 with each other.
      for (int slot = 0; slot < window.starts(); ++slot) {
        const auto start = static_cast<std::size_t>(start_entry(window.layout, slot));
        sum += a.table[(term * rows + start) * rows + static_cast<std::size_t>(entry)];
      }
      a.energies[index] = sum;
    });
  }
}

STARPMC_FOR_ALL_PRECISIONS(mm_pair)
STARPMC_FOR_ALL_PRECISIONS(mm_pair_table)
STARPMC_FOR_ALL_PRECISIONS(mm_pair_reduce)

}  // namespace starpmc::scalar
