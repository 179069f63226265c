#include "potential/radial_coulomb.hpp"

#include "base/wide_vectors.hpp"

namespace starpmc {
namespace {

Program gaussian_program(double per_angstrom) {
  Program program;
  program.inputs = {"r2"};
  program.constants = {per_angstrom};
  program.instructions = {{Operation::square_root, {0}},
                          {Operation::multiply, {2, 1}},
                          {Operation::erf, {3}},
                          {Operation::divide, {4, 2}}};
  program.outputs = {5};
  return program;
}

void run(simd::BlockEvaluator<double>& evaluator, std::span<const double> squared_distances,
         std::span<double> results) {
  const double* const inputs[] = {squared_distances.data()};
  double* const outputs[] = {results.data()};
  evaluator(inputs, squared_distances.size(), outputs);
}

STARPMC_WIDE_VECTORS void built_in(std::size_t count, const double* squared_distances,
                                   const ExactBox& box, double* energies) {
  for (std::size_t i = 0; i < count; ++i) {
    energies[i] = scalar::exact_coulomb(squared_distances[i], STARPMC_COULOMB_CONSTANT,
                                        box.cutoff_squared, box.inverse_cutoff);
  }
}

}  // namespace

RadialCoulomb::RadialCoulomb(const Interaction& interaction, const Potential* functions)
    : box_(interaction), pole_(coulomb_pole(functions)) {
  if (const auto* const potential = potential_of(functions, &Potential::in_grid)) {
    user_.emplace(potential->coulomb, simd::Rounding::exact);
  }
}

void RadialCoulomb::values(std::span<const double> squared_distances, std::span<double> energies) {
  if (!user_) {
    built_in(squared_distances.size(), squared_distances.data(), box_, energies.data());
    return;
  }
  run(*user_, squared_distances, energies);
  for (std::size_t i = 0; i < energies.size(); ++i) {
    energies[i] = scalar::exact_user_coulomb(squared_distances[i], STARPMC_COULOMB_CONSTANT,
                                             energies[i], box_.cutoff_squared);
  }
}

GaussianPotential::GaussianPotential(double per_angstrom)
    : evaluator_(gaussian_program(per_angstrom), simd::Rounding::exact) {}

void GaussianPotential::values(std::span<const double> squared_distances,
                               std::span<double> potentials) {
  run(evaluator_, squared_distances, potentials);
}

}  // namespace starpmc
