#include "kernels/all_precisions.hpp"
#include "kernels/operations.hpp"
#include "kernels/scalar/pair_functions.hpp"
#include "kernels/scalar/user_terms.hpp"

namespace starpmc::scalar {
namespace {

double squared_distance(const Window& window, int candidate, int site,
                        const double* nucleus_position) {
  double position[3];
  for (int k = 0; k < 3; ++k) {
    position[k] =
        window.field(POSE_X + k, candidate) + window.field(POSE_FIELDS + 3 * site + k, candidate);
  }
  const auto relative = Relative<double>::from(position, nucleus_position, window.interaction);
  return distance_squared(relative, Relative<double>{0, 0, 0}, window.interaction);
}

/// The pair terms of built-in energies; the Coulomb constant is a factor of charges or of sums.
struct BuiltInTerms {
  static constexpr double kOfCharge = 1;
  static constexpr double kOfSum = STARPMC_COULOMB_CONSTANT;
  const Topology& topology;
  CoulombShiftedForce<double> of_unit_charges;
  double vdw_cutoff_squared;

  double coulomb(double r2, double charge) const { return charge * of_unit_charges(r2); }
  double vdw(double r2, int a, int b) const {
    return lennard_jones(r2, vdw_cutoff_squared, topology.qmmm_pair(a, b));
  }
};
/// And of the user's.
struct UserNucleusTerms {
  static constexpr double kOfCharge = STARPMC_COULOMB_CONSTANT;
  static constexpr double kOfSum = 1;
  UserTerms<Arithmetic::plain> terms;

  double coulomb(double r2, double charge) const {
    return charge == 0 ? 0 : limited_user_energy(terms.coulomb(r2, charge));
  }
  double vdw(double r2, int a, int b) const {
    return limited_user_energy(terms.qmmm_vdw(r2, a, b));
  }
};

template <class Real, class Terms>
void add_pairs(const NucleiVdwArguments<Real>& a, const Terms& terms) {
  const Window& window = a.window;
  const auto nuclei = static_cast<std::size_t>(a.nuclei);
  for (int candidate = 0; candidate < window.candidates(); ++candidate) {
    const int type = window.topology.type_of(window.molecule_of_candidate(candidate));
    double coulomb_sum = 0;
    double vdw_sum = 0;
    for (int site = 0; site < window.topology.site_count(type); ++site) {
      const double charge = Terms::kOfCharge * window.topology.site(type, site)[3];
      for (std::size_t nucleus = 0; nucleus < nuclei; ++nucleus) {
        const double position[3] = {a.solute[nucleus], a.solute[nuclei + nucleus],
                                    a.solute[2 * nuclei + nucleus]};
        const double r2 = squared_distance(window, candidate, site, position);
        coulomb_sum += terms.coulomb(r2, charge * a.solute[3 * nuclei + nucleus]);
        const int nucleus_type = static_cast<int>(a.solute[4 * nuclei + nucleus]);
        vdw_sum += terms.vdw(r2, window.topology.site_type(type, site), nucleus_type);
      }
    }
    a.energy(FIELD_QMMM_NUCLEI, candidate) = Terms::kOfSum * coulomb_sum;
    a.energy(FIELD_QMMM_VDW, candidate) = vdw_sum;
  }
}

}  // namespace

// In fp64 whatever the precision (STARPMC_NEAR_DISTANCE says why).
template <class Precision>
void qmmm_nuclei_vdw(const NucleiVdwArguments<Precision>& a) {
  const Topology& topology = a.window.topology;
  const Interaction& interaction = a.window.interaction;
  if (const auto* const potential = potential_of(a.window.potential, &Potential::in_nuclei)) {
    add_pairs(a, UserNucleusTerms{{*potential, topology, interaction}});
  } else {
    add_pairs(a, BuiltInTerms{topology, CoulombShiftedForce<double>(interaction.coulomb_cutoff),
                              interaction.vdw_cutoff * interaction.vdw_cutoff});
  }
}

STARPMC_FOR_ALL_PRECISIONS(qmmm_nuclei_vdw)

}  // namespace starpmc::scalar
