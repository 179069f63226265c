#include "kernels/prepared_potential.hpp"

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

  PairRow<double> compiled() const { return {program, shape}; }
  PairRow<double> by_blocks() const { return PairRow<double>::by_blocks(program, shape); }
};

Row grid(const Potential& potential) {
  return {with_factor(potential.coulomb),
          {.targets = kGridTargets, .least_squared_distance = STARPMC_MINIMUM_DISTANCE_SQUARED}};
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
    prepared->molecules = compiled::MoleculeFunction::compile(molecule_terms(potential));
  }
  if (Potential::exists(potential.coulomb)) {
    prepared->grid = grid(potential).compiled();
    prepared->nuclei_coulomb = nuclei(potential.coulomb).compiled();
  }
  if (Potential::exists(potential.qmmm)) {
    prepared->nuclei_vdw = nuclei(potential.qmmm).compiled();
  }
  potential.prepared = std::move(prepared);
}

std::unique_ptr<MoleculePairs> make_molecule_pairs(const Potential& potential) {
  if (potential.prepared != nullptr && potential.prepared->molecules != nullptr) {
    return std::make_unique<compiled::CompiledMoleculePairs>(potential.prepared->molecules);
  }
  return std::make_unique<simd::BlockMoleculePairs>(molecule_terms(potential));
}

PairRow<double> grid_row(const Potential& potential) {
  if (potential.prepared != nullptr) return potential.prepared->grid.value();
  return grid(potential).by_blocks();
}

PairRow<double> nuclei_coulomb_row(const Potential& potential) {
  if (potential.prepared != nullptr) return potential.prepared->nuclei_coulomb.value();
  return nuclei(potential.coulomb).by_blocks();
}

PairRow<double> nuclei_vdw_row(const Potential& potential) {
  if (potential.prepared != nullptr) return potential.prepared->nuclei_vdw.value();
  return nuclei(potential.qmmm).by_blocks();
}

}  // namespace starpmc
