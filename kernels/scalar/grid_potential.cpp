#include "kernels/operations.hpp"
#include "kernels/scalar/pair_functions.hpp"

namespace starpmc::scalar {

template <class Real>
void grid_potential(const GridPotentialArguments<Real>& a) {
  const CoulombShiftedForce<Real> coulomb(a.interaction.coulomb_cutoff);
  const std::size_t blocks = a.blocks.size() / BLOCK_FIELDS;
  const auto stride = static_cast<std::size_t>(a.layout.molecules);
  for (std::size_t block = 0; block < blocks; ++block) {
    const double* const origin = &a.blocks[block * BLOCK_FIELDS];
    const Real* const x = &a.points[block * 4 * STARPMC_BLOCK_POINTS];
    for (std::size_t point = 0; point < STARPMC_BLOCK_POINTS; ++point) {
      const Relative<Real> target{x[point], x[STARPMC_BLOCK_POINTS + point],
                                  x[2 * STARPMC_BLOCK_POINTS + point]};
      double sum = 0;
      for (int molecule = 0; molecule < a.topology.shape.molecules; ++molecule) {
        const auto m = static_cast<std::size_t>(molecule);
        const int type = a.topology.type_of(molecule);
        for (int site = 0; site < a.topology.site_count(type); ++site) {
          const double charge = a.topology.site(type, site)[3];
          if (charge == 0) continue;
          double position[3];
          for (std::size_t k = 0; k < 3; ++k) {
            position[k] = a.lattice[k * stride + m] +
                          a.lattice_sites[(static_cast<std::size_t>(3 * site) + k) * stride + m];
          }
          const auto source = Relative<Real>::from(position, origin, a.interaction);
          sum += charge * coulomb(distance_squared(target, source, a.interaction));
        }
      }
      a.potential[block * STARPMC_BLOCK_POINTS + point] = STARPMC_COULOMB_CONSTANT * sum;
    }
  }
}

template void grid_potential(const GridPotentialArguments<double>&);
template void grid_potential(const GridPotentialArguments<float>&);

}  // namespace starpmc::scalar
