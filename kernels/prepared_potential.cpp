#include "kernels/prepared_potential.hpp"

#include <array>
#include <span>

namespace starpmc {

PreparedPotential::PreparedPotential(const Potential& potential, compiled::InstructionSet set) {
  using compiled::Places;
  constexpr std::array kOfMolecules{Places::mutual,
                                    Places::mutual_images,
                                    Places::mutual_fixed_point,
                                    Places::mutual_three,
                                    Places::mutual_three_single,
                                    Places::mutual_three_images,
                                    Places::mutual_three_single_images,
                                    Places::mutual_fixed_point_three};
  // in single precision they are far from each other
  constexpr std::array kOfFarMolecules{Places::mutual,
                                       Places::mutual_images,
                                       Places::mutual_fixed_point,
                                       Places::mutual_three_apart,
                                       Places::mutual_three_images_apart,
                                       Places::mutual_fixed_point_three_apart};
  constexpr std::array kOfNuclei{Places::images};
  constexpr std::array kOfGrid{Places::one_image, Places::inside};
  const auto compile = [&](PairsWith with, std::span<const Places> places, bool as_pairs,
                           std::span<const Places> of_pairs) {
    const auto index = static_cast<std::size_t>(with);
    terms[index] = pair_terms(potential, with);
    in_double[index] = compiled::MoleculeFunction<double>::compile(terms[index], places, set);
    if (!as_pairs) return;
    in_single[index] = compiled::MoleculeFunction<float>::compile(terms[index], of_pairs, set);
  };
  if (potential.in_mm()) {
    compile(PairsWith::molecules, kOfMolecules, potential.mm_as_pairs, kOfFarMolecules);
  }
  if (potential.in_nuclei()) compile(PairsWith::nuclei, kOfNuclei, false, {});
  if (potential.in_grid()) compile(PairsWith::grid, kOfGrid, potential.grid_as_pairs, kOfGrid);
}

void prepare(Potential& potential) {
  potential.prepared =
      std::make_shared<PreparedPotential>(potential, compiled::best_instruction_set());
}

}  // namespace starpmc
