#include "kernels/simd/user_nuclei.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "kernels/prepared_potential.hpp"
#include "kernels/scalar/pair_functions.hpp"

namespace starpmc::simd {
namespace {

/// The pairs of one site of each candidate of a molecule type with one nucleus are evaluated
/// together: they have the same coefficients.
class UserNuclei {
 public:
  UserNuclei(const NucleiVdwArguments<double>& a, const Potential& potential)
      : a_(a),
        shifted_force_(a.window.interaction.coulomb_cutoff),
        coulomb_squared_(std::pow(a.window.interaction.coulomb_cutoff, 2)),
        vdw_squared_(std::pow(a.window.interaction.vdw_cutoff, 2)) {
    if (Potential::exists(potential.coulomb)) coulomb_ = nuclei_coulomb_row(potential);
    if (Potential::exists(potential.qmmm)) vdw_ = nuclei_vdw_row(potential);
  }

  void run() {
    const Window& window = a_.window;
    std::fill_n(&a_.energy(FIELD_QMMM_NUCLEI, 0), window.candidates(), 0.0);
    std::fill_n(&a_.energy(FIELD_QMMM_VDW, 0), window.candidates(), 0.0);
    for (int type = 0; type < window.topology.shape.molecule_types; ++type) {
      members_.clear();
      for (int i = 0; i < window.candidates(); ++i) {
        if (window.topology.type_of(window.molecule_of_candidate(i)) == type) members_.push_back(i);
      }
      if (members_.empty()) continue;
      squared_.resize(members_.size());
      values_.resize(members_.size());
      for (int site = 0; site < window.topology.site_count(type); ++site) {
        place(site);
        for (int nucleus = 0; nucleus < a_.nuclei; ++nucleus) {
          measure(nucleus);
          const double charge =
              STARPMC_COULOMB_CONSTANT * window.topology.site(type, site)[3] * solute(3, nucleus);
          if (charge != 0) add_coulomb(charge);
          add_vdw(window.topology.site_type(type, site), static_cast<int>(solute(4, nucleus)));
        }
      }
    }
  }

 private:
  double solute(int field, int nucleus) const {
    return a_.solute[static_cast<std::size_t>(field * a_.nuclei + nucleus)];
  }

  /// Positions of a site of the members.
  void place(int site) {
    for (std::size_t k = 0; k < 3; ++k) {
      positions_[k].resize(members_.size());
      const int axis = static_cast<int>(k);
      for (std::size_t i = 0; i < members_.size(); ++i) {
        positions_[k][i] = a_.window.field(POSE_X + axis, members_[i]) +
                           a_.window.field(POSE_FIELDS + 3 * site + axis, members_[i]);
      }
    }
  }

  /// Where they are from a nucleus, and their squared distances.
  void measure(int nucleus) {
    std::ranges::fill(squared_, 0.0);
    for (std::size_t k = 0; k < 3; ++k) {
      displacements_[k].resize(members_.size());
      const double edge = a_.window.interaction.box[k];
      const double origin = solute(static_cast<int>(k), nucleus);
      for (std::size_t i = 0; i < squared_.size(); ++i) {
        const double d = scalar::minimum_image(positions_[k][i] - origin, edge);
        displacements_[k][i] = d;
        squared_[i] += d * d;
      }
    }
    for (double& r2 : squared_) r2 = std::max(r2, STARPMC_MINIMUM_DISTANCE_SQUARED);
  }

  void evaluate(PairRow<double>& row, const double* coefficients, double squared_cutoff) {
    std::ranges::fill(values_, 0.0);
    const double origin[3] = {};
    double* const values = values_.data();
    row({.source = {displacements_[0].data(), displacements_[1].data(), displacements_[2].data()},
         .count = members_.size(),
         .targets = origin,
         .uniform = coefficients,
         .squared_cutoffs = &squared_cutoff,
         .per_source = &values});
  }

  void add_coulomb(double charge) {
    if (coulomb_) evaluate(*coulomb_, nullptr, coulomb_squared_);
    for (std::size_t i = 0; i < squared_.size(); ++i) {
      const double r2 = squared_[i];
      if (!(r2 < coulomb_squared_)) continue;
      a_.energy(FIELD_QMMM_NUCLEI, members_[i]) +=
          limited_user_energy(charge * (coulomb_ ? values_[i] : shifted_force_(r2)));
    }
  }

  void add_vdw(int type, int nucleus_type) {
    const Topology& topology = a_.window.topology;
    const double* const c = topology.qmmm_pair(type, nucleus_type);
    const double* const function =
        topology.pair(type, nucleus_type) + topology.shape.pairs.qmmm_function;
    const bool asked = vdw_ && function[0] != 0;
    if (asked) evaluate(*vdw_, function + 1, vdw_squared_);
    for (std::size_t i = 0; i < squared_.size(); ++i) {
      const double r2 = squared_[i];
      if (!(r2 < vdw_squared_)) continue;
      const double energy = scalar::lennard_jones(r2, vdw_squared_, c) + (asked ? values_[i] : 0);
      a_.energy(FIELD_QMMM_VDW, members_[i]) += limited_user_energy(energy);
    }
  }

  const NucleiVdwArguments<double>& a_;
  scalar::CoulombShiftedForce<double> shifted_force_;
  double coulomb_squared_;
  double vdw_squared_;
  std::optional<PairRow<double>> coulomb_;
  std::optional<PairRow<double>> vdw_;
  std::vector<int> members_;  ///< candidates of one molecule type
  std::array<std::vector<double>, 3> positions_;
  std::array<std::vector<double>, 3> displacements_;
  std::vector<double> squared_;
  std::vector<double> values_;
};

}  // namespace

void user_nuclei_vdw(const NucleiVdwArguments<double>& arguments, const Potential& potential) {
  UserNuclei(arguments, potential).run();
}

}  // namespace starpmc::simd
