#include "kernels/prepared_potential.hpp"

#include <type_traits>
#include <vector>

#include "kernels/common/layout.h"
#include "kernels/compiled/molecule_function.hpp"
#include "kernels/simd/block_molecule_pairs.hpp"

namespace starpmc {
namespace {

/// A function's program and the shape of its rows.
struct Row {
  Program program;
  compiled::RowShape shape;

  template <class T = double>
  PairRow<T> compiled() const {
    return {program, shape};
  }
  template <class T = double>
  PairRow<T> by_blocks() const {
    return PairRow<T>::by_blocks(program, shape);
  }
};

Row grid(const Potential& potential, bool cut) {
  return {with_factor(potential.coulomb),
          {.targets = kGridTargets,
           .least_squared_distance = STARPMC_MINIMUM_DISTANCE_SQUARED,
           .cut = cut}};
}

template <class T>
GridRows<T> compiled_grid(const Potential& potential) {
  return {grid(potential, false).compiled<T>(), grid(potential, true).compiled<T>()};
}

/// @param program r^2, then coefficients
Row nuclei(const Program& program) {
  std::vector<bool> uniform(program.inputs.size(), true);
  uniform[0] = false;
  return {program,
          {.uniform = uniform,
           .result = compiled::RowResult::per_source,
           .least_squared_distance = STARPMC_MINIMUM_DISTANCE_SQUARED}};
}

}  // namespace

void prepare(Potential& potential) {
  auto prepared = std::make_shared<PreparedPotential>();
  if (potential.in_mm()) {
    const std::vector<PairTerm> terms = molecule_terms(potential);
    prepared->molecules = compiled::MoleculeFunction<double>::compile(terms);
    if (potential.mm_as_pairs) {
      prepared->molecules_in_single = compiled::MoleculeFunction<float>::compile(terms);
    }
  }
  if (Potential::exists(potential.coulomb)) {
    prepared->grid = compiled_grid<double>(potential);
    if (potential.grid_as_pairs) prepared->grid_in_single = compiled_grid<float>(potential);
    prepared->nuclei_coulomb = nuclei(potential.coulomb).compiled();
  }
  if (Potential::exists(potential.qmmm)) {
    prepared->nuclei_vdw = nuclei(potential.qmmm).compiled();
  }
  potential.prepared = std::move(prepared);
}

template <class T>
std::unique_ptr<MoleculePairs<T>> make_molecule_pairs(const Potential& potential) {
  std::shared_ptr<const compiled::MoleculeFunction<T>> function;
  if (potential.prepared != nullptr) {
    if constexpr (std::is_same_v<T, float>) {
      function = potential.prepared->molecules_in_single;
    } else {
      function = potential.prepared->molecules;
    }
  }
  if (function != nullptr) {
    return std::make_unique<compiled::CompiledMoleculePairs<T>>(std::move(function));
  }
  return std::make_unique<simd::BlockMoleculePairs<T>>(molecule_terms(potential));
}
template std::unique_ptr<MoleculePairs<float>> make_molecule_pairs(const Potential&);
template std::unique_ptr<MoleculePairs<double>> make_molecule_pairs(const Potential&);

template <class T>
GridRows<T> grid_rows(const Potential& potential) {
  if (potential.prepared != nullptr) {
    if constexpr (std::is_same_v<T, float>) {
      return potential.prepared->grid_in_single.value();
    } else {
      return potential.prepared->grid.value();
    }
  }
  return {grid(potential, false).by_blocks<T>(), grid(potential, true).by_blocks<T>()};
}
template GridRows<float> grid_rows(const Potential&);
template GridRows<double> grid_rows(const Potential&);

PairRow<double> nuclei_coulomb_row(const Potential& potential) {
  if (potential.prepared != nullptr) return potential.prepared->nuclei_coulomb.value();
  return nuclei(potential.coulomb).by_blocks();
}

PairRow<double> nuclei_vdw_row(const Potential& potential) {
  if (potential.prepared != nullptr) return potential.prepared->nuclei_vdw.value();
  return nuclei(potential.qmmm).by_blocks();
}

}  // namespace starpmc
