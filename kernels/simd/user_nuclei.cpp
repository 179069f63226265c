#include "kernels/simd/user_nuclei.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/prepared_potential.hpp"

namespace starpmc::simd {
namespace {

/// The pairs of one site of each candidate of a molecule type with one nucleus are evaluated
/// together: they have the same coefficients. To MoleculePairs the nucleus and the sites are
/// molecules of one site each, for the energy of each pair is limited.
class UserNuclei {
 public:
  UserNuclei(const NucleiVdwArguments<double>& a, const Potential& potential)
      : a_(a), function_(potential, PairsWith::nuclei) {
    const Interaction& interaction = a.window.interaction;
    pairs_.target_count = pairs_.source_count = 1;
    pairs_.box = interaction.box;
    pairs_.squared_cutoffs[0] = std::pow(interaction.coulomb_cutoff, 2);
    pairs_.squared_cutoffs[1] = std::pow(interaction.vdw_cutoff, 2);
  }

  void run() {
    const Window& window = a_.window;
    for (const int field : kFields) std::fill_n(&a_.energy(field, 0), window.candidates(), 0.0);
    for (int type = 0; type < window.topology.shape.molecule_types; ++type) {
      members_.clear();
      for (int i = 0; i < window.candidates(); ++i) {
        if (window.topology.type_of(window.molecule_of_candidate(i)) == type) members_.push_back(i);
      }
      if (members_.empty()) continue;
      for (int site = 0; site < window.topology.site_count(type); ++site) {
        place(site);
        for (int nucleus = 0; nucleus < a_.nuclei; ++nucleus) add(type, site, nucleus);
      }
    }
  }

 private:
  double solute(int field, int nucleus) const {
    return a_.solute[static_cast<std::size_t>(field * a_.nuclei + nucleus)];
  }

  /// Positions of a site of the members, and room for their energies.
  void place(int site) {
    const std::size_t count = whole_grains<double>(members_.size());
    sources_.resize(3 * count);
    for (std::size_t k = 0; k < 3; ++k) {
      const int axis = static_cast<int>(k);
      for (std::size_t i = 0; i < members_.size(); ++i) {
        sources_[k * count + i] = a_.window.field(POSE_X + axis, members_[i]) +
                                  a_.window.field(POSE_FIELDS + 3 * site + axis, members_[i]);
      }
    }
    pairs_.count = pairs_.stride = count;
    pairs_.sources = sources_.data();
    for (std::size_t k = 0; k < 2; ++k) {
      energies_[k].resize(count);
      pairs_.energies[k] = energies_[k].data();
    }
  }

  void add(int type, int site, int nucleus) {
    const Topology& topology = a_.window.topology;
    const int site_type = topology.site_type(type, site);
    const int nucleus_type = static_cast<int>(solute(4, nucleus));
    SitePairTerms<double> pair;
    pair.add(function_.terms(), a_.window.interaction.coulomb_cutoff,
             STARPMC_COULOMB_CONSTANT * topology.site(type, site)[3] * solute(3, nucleus),
             topology.qmmm_pair(site_type, nucleus_type),
             topology.pair(site_type, nucleus_type) + topology.shape.pairs.qmmm_function);
    const double place[] = {solute(0, nucleus), solute(1, nucleus), solute(2, nucleus)};
    pairs_.present = pair.present.data();
    pairs_.coefficients = pair.coefficients.data();
    pairs_.targets = place;
    function_(pairs_);
    pairs_.present = {};
    pairs_.coefficients = {};
    pairs_.targets = {};
    for (std::size_t i = 0; i < members_.size(); ++i) {
      for (std::size_t k = 0; k < 2; ++k) {
        a_.energy(kFields[k], members_[i]) += limited_user_energy(energies_[k][i]);
      }
    }
  }

  static constexpr int kFields[2] = {FIELD_QMMM_NUCLEI, FIELD_QMMM_VDW};  ///< by MoleculeEnergy
  const NucleiVdwArguments<double>& a_;
  MoleculePairs<double> function_;
  MoleculePairArguments<double> pairs_;
  std::vector<int> members_;  ///< candidates of one molecule type
  std::vector<double> sources_;
  std::vector<double> energies_[2];
};

}  // namespace

void user_nuclei_vdw(const NucleiVdwArguments<double>& arguments, const Potential& potential) {
  UserNuclei(arguments, potential).run();
}

}  // namespace starpmc::simd
