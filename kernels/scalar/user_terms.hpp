#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/arguments.hpp"
#include "kernels/exact_blocks.hpp"
#include "kernels/scalar/evaluate.hpp"
#include "kernels/scalar/functions.hpp"
#include "kernels/scalar/pair_functions.hpp"

namespace starpmc::scalar {

/// How a value is computed: plainly, or in fp64 with the same bits everywhere.
enum class Arithmetic { plain, exact };

/// The value of a user's function at one distance.
/// @param coefficients of the pair, that the function reads behind r^2
template <Arithmetic kArithmetic, class T>
double user_function(const Program& program, T r2, std::span<const double> coefficients,
                     std::vector<T>& inputs, std::vector<T>& values) {
  inputs.assign(1, r2);
  for (const double coefficient : coefficients) inputs.push_back(static_cast<T>(coefficient));
  T result = 0;
  const std::span<T> output(&result, 1);
  if constexpr (kArithmetic == Arithmetic::exact) {
    evaluate_exact(program, inputs, output, values);
  } else {
    evaluate<T>(program, inputs, output, values);
  }
  return static_cast<double>(result);
}

/// The exact Coulomb energy by a user's function, 0 beyond the cutoff and without charge.
class UserCoulomb {
 public:
  UserCoulomb(const Potential& potential, const ExactBox& box)
      : program_(potential.coulomb), cutoff_squared_(box.cutoff_squared) {}
  /// @param charge product of the charges, times the Coulomb constant
  double operator()(double r2, double charge) const {
    if (charge == 0 || !(r2 < cutoff_squared_)) return 0;
    return charge * user_function<Arithmetic::exact>(program_, r2, {}, inputs_, values_);
  }

 private:
  const Program& program_;
  double cutoff_squared_;
  mutable std::vector<double> inputs_;
  mutable std::vector<double> values_;
};

/// Energies of two sites under a potential with functions of the user's. Not for several threads at
/// a time.
/// @tparam T in which the user's functions are computed
template <Arithmetic kArithmetic, class T = double>
class UserTerms {
 public:
  UserTerms(const Potential& potential, const Topology& topology, const Interaction& interaction)
      : potential_(potential),
        topology_(topology),
        coulomb_squared_(interaction.coulomb_cutoff * interaction.coulomb_cutoff),
        inverse_(1 / interaction.coulomb_cutoff),
        vdw_squared_(interaction.vdw_cutoff * interaction.vdw_cutoff) {}

  /// Coulomb energy.
  /// @param charge product of the charges, times the Coulomb constant
  double coulomb(T r2, double charge) const {
    if (!Potential::exists(potential_.coulomb)) {
      return exact_coulomb(static_cast<double>(r2), charge, coulomb_squared_, inverse_);
    }
    if (!(static_cast<double>(r2) < coulomb_squared_)) return 0;
    return charge * user_function<kArithmetic>(potential_.coulomb, r2, {}, inputs_, values_);
  }
  /// van der Waals energy of sites of two MM molecules, by their types.
  double mm_vdw(T r2, int a, int b) const {
    const double* const pair = topology_.pair(a, b);
    return vdw(r2, pair, potential_.mm, pair + topology_.shape.pairs.mm_function);
  }
  /// Of a site of an MM molecule and a nucleus.
  double qmmm_vdw(T r2, int a, int b) const {
    return vdw(r2, topology_.qmmm_pair(a, b), potential_.qmmm,
               topology_.pair(a, b) + topology_.shape.pairs.qmmm_function);
  }

 private:
  double vdw(T r2, const double* c, const Program& program, const double* function) const {
    const auto wide = static_cast<double>(r2);
    if (!(wide < vdw_squared_)) return 0;
    const double built_in = exact_lennard_jones(wide, c[0], c[1], c[2], c[3], vdw_squared_);
    if (!Potential::exists(program) || function[0] == 0) return built_in;
    const std::span coefficients(function + 1, program.inputs.size() - 1);
    return built_in + user_function<kArithmetic>(program, r2, coefficients, inputs_, values_);
  }

  const Potential& potential_;
  const Topology& topology_;
  double coulomb_squared_;
  double inverse_;
  double vdw_squared_;
  mutable std::vector<T> inputs_;
  mutable std::vector<T> values_;
};

}  // namespace starpmc::scalar
