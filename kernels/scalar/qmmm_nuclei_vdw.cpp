#include "kernels/operations.hpp"
#include "kernels/scalar/pair_functions.hpp"

namespace starpmc::scalar {

// In fp64 whatever the precision (STARPMC_NEAR_DISTANCE says why).
template <class Precision>
void qmmm_nuclei_vdw(const NucleiVdwArguments<Precision>& a) {
  using Real = double;
  const Window& window = a.window;
  const Interaction& interaction = window.interaction;
  const CoulombShiftedForce<Real> coulomb(interaction.coulomb_cutoff);
  const Real vdw_cutoff_squared =
      static_cast<Real>(interaction.vdw_cutoff * interaction.vdw_cutoff);
  const auto nuclei = static_cast<std::size_t>(a.nuclei);
  const auto candidates = static_cast<std::size_t>(window.layout.candidates);
  for (int candidate = 0; candidate < window.candidates(); ++candidate) {
    const int type = window.topology.type_of(window.molecule_of_candidate(candidate));
    double coulomb_sum = 0;
    double vdw_sum = 0;
    for (int site = 0; site < window.topology.site_count(type); ++site) {
      const double charge = window.topology.site(type, site)[3];
      double position[3];
      for (int k = 0; k < 3; ++k) {
        position[k] = window.field(POSE_X + k, candidate) +
                      window.field(POSE_FIELDS + 3 * site + k, candidate);
      }
      for (std::size_t nucleus = 0; nucleus < nuclei; ++nucleus) {
        const double nucleus_position[3] = {a.solute[nucleus], a.solute[nuclei + nucleus],
                                            a.solute[2 * nuclei + nucleus]};
        const auto relative = Relative<Real>::from(position, nucleus_position, interaction);
        const Real r2 = distance_squared(relative, Relative<Real>{0, 0, 0}, interaction);
        coulomb_sum += charge * a.solute[3 * nuclei + nucleus] * coulomb(r2);
        const int nucleus_type = static_cast<int>(a.solute[4 * nuclei + nucleus]);
        vdw_sum += lennard_jones(
            r2, vdw_cutoff_squared,
            window.topology.pair(window.topology.site_type(type, site), nucleus_type));
      }
    }
    a.energies[static_cast<std::size_t>(candidate)] = STARPMC_COULOMB_CONSTANT * coulomb_sum;
    a.energies[candidates + static_cast<std::size_t>(candidate)] = vdw_sum;
  }
}

template void qmmm_nuclei_vdw(const NucleiVdwArguments<double>&);
template void qmmm_nuclei_vdw(const NucleiVdwArguments<float>&);
template void qmmm_nuclei_vdw(const NucleiVdwArguments<FixedCoordinate>&);

}  // namespace starpmc::scalar
