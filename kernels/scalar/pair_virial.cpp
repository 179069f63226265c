#include <array>
#include <cstdint>

#include "kernels/exact_blocks.hpp"
#include "kernels/operations.hpp"
#include "kernels/scalar/evaluate.hpp"
#include "kernels/scalar/functions.hpp"
#include "kernels/site_columns.hpp"
#include "kernels/virial_total.hpp"

namespace starpmc::scalar {
namespace {

using Vector = std::array<double, 3>;

struct Site {
  Vector position;
  Vector arm;  ///< from the molecule's centre
};

Site site_of(const SiteColumn& column, std::size_t i) {
  Site site;
  for (std::size_t k = 0; k < 3; ++k) {
    site.position[k] = column.position[k][i];
    site.arm[k] = column.arm[k][i];
  }
  return site;
}

class VirialSum {
 public:
  explicit VirialSum(const PairVirialArguments& arguments)
      : a_(arguments),
        box_(arguments.interaction),
        columns_(site_columns(arguments.topology, arguments.lattice)),
        vdw_squared_(arguments.interaction.vdw_cutoff * arguments.interaction.vdw_cutoff) {}

  void run() {
    for (const SiteColumn& column : columns_) {
      const std::size_t last = column.from(a_.last_molecule);
      for (std::size_t i = column.from(a_.first_molecule); i < last; ++i) {
        const Site site = site_of(column, i);
        add_molecules(column, column.molecules[i], site);
        add_nuclei(column, site);
        if (column.charge != 0) add_grid(column, site);
      }
    }
    for (std::size_t i = 0; i < VIRIAL_SUMS; ++i) a_.sums[i] = virial_value(totals_[i]);
  }

 private:
  /// What a pair's terms depend on.
  struct Pair {
    double squared;  ///< distance
    double product;  ///< r . R
  };
  Pair pair(const Site& to, const Site& from) const {
    Vector d;
    Vector arm;
    for (std::size_t k = 0; k < 3; ++k) {
      d[k] = exact_image(to.position[k] - from.position[k], box_.length[k], box_.inverse[k]);
      arm[k] = to.arm[k] - from.arm[k];
    }
    return {exact_distance_squared(d[0], d[1], d[2]),
            exact_centre_product(d[0], d[1], d[2], arm[0], arm[1], arm[2])};
  }

  void add_terms(std::size_t term, double energy, double virial) {
    const auto add_one = [&](std::size_t sum, double value) {
      const double limited = virial_term(value);
      add_digits(&totals_[sum], coarse_units(limited), fine_units(limited));
    };
    add_one(term, energy);
    add_one(TERMS + term, virial);
  }
  void add(std::size_t term, const Pair& pair, double factor, const Program& program,
           std::span<const double> coefficients) {
    inputs_.resize(1);
    inputs_[0] = pair.squared;
    for (const double coefficient : coefficients) inputs_.push_back(coefficient);
    double value[2];
    evaluate_exact(program, inputs_, value, values_);
    add_terms(term, factor * value[0], exact_virial(factor, value[1], pair.product));
  }
  void add_coulomb(std::size_t term, const Pair& pair, double factor) {
    if (factor == 0 || !(pair.squared < box_.cutoff_squared)) return;
    add(term, pair, factor, a_.functions->coulomb, {});
  }
  void add_extent(const Pair& pair, double factor, double inverse_square) {
    if (!(pair.squared * inverse_square < 1)) return;
    const double charge = factor * a_.functions->coulomb_pole;
    add_terms(TERM_QMMM_GRID, charge * exact_extent(pair.squared, inverse_square),
              exact_virial(charge, exact_extent_slope(pair.squared, inverse_square), pair.product));
  }
  void add_vdw(std::size_t term, const Pair& pair,
               const std::vector<PairDerivatives::Function>& functions, int kind, int other) {
    if (!(pair.squared < vdw_squared_)) return;
    for (const PairDerivatives::Function& function : functions) {
      const double* const coefficients = function.of_pair(kind, other);
      if (coefficients == nullptr) continue;
      add(term, pair, 1, function.program, {coefficients, function.coefficients()});
    }
  }

  /// Later ones.
  void add_molecules(const SiteColumn& column, int molecule, const Site& site) {
    for (const SiteColumn& other : columns_) {
      const double factor = coulomb_factor(column.charge, other.charge);
      for (std::size_t j = other.from(molecule + 1); j < other.size(); ++j) {
        const Pair found = pair(site_of(other, j), site);
        add_coulomb(TERM_MM_COULOMB, found, factor);
        add_vdw(TERM_MM_VDW, found, a_.functions->mm, column.kind, other.kind);
      }
    }
  }

  Site of_solute(const double* x, std::size_t stride, std::size_t i) const {
    Site site;
    for (std::size_t k = 0; k < 3; ++k) {
      site.position[k] = x[k * stride + i];
      site.arm[k] = site.position[k] - a_.solute_centre[k];
    }
    return site;
  }

  void add_nuclei(const SiteColumn& column, const Site& site) {
    const auto nuclei = static_cast<std::size_t>(a_.nuclei);
    for (std::size_t nucleus = 0; nucleus < nuclei; ++nucleus) {
      const Pair found = pair(site, of_solute(a_.solute.data(), nuclei, nucleus));
      add_coulomb(TERM_QMMM_NUCLEI, found,
                  coulomb_factor(column.charge, a_.solute[3 * nuclei + nucleus]));
      add_vdw(TERM_QMMM_VDW, found, a_.functions->qmmm, column.kind,
              static_cast<int>(a_.solute[4 * nuclei + nucleus]));
    }
  }

  void add_grid(const SiteColumn& column, const Site& site) {
    for (std::size_t block = 0; block * BLOCK_FIELDS < a_.blocks.size(); ++block) {
      const double* const header = &a_.blocks[block * BLOCK_FIELDS];
      if (!block_in_reach(a_.interaction, header, site.position.data())) continue;
      const double* const points = &a_.points[block * STARPMC_BLOCK_VALUES];
      for (std::size_t i = 0; i < STARPMC_BLOCK_POINTS; ++i) {
        const Pair found = pair(site, of_solute(points, STARPMC_BLOCK_POINTS, i));
        const double factor = coulomb_factor(column.charge, points[3 * STARPMC_BLOCK_POINTS + i]);
        add_coulomb(TERM_QMMM_GRID, found, factor);
        add_extent(found, factor, points[4 * STARPMC_BLOCK_POINTS + i]);
      }
    }
  }

  const PairVirialArguments& a_;
  ExactBox box_;
  std::vector<SiteColumn> columns_;
  double vdw_squared_;
  VirialTotal totals_[VIRIAL_SUMS] = {};
  std::vector<double> inputs_;
  std::vector<double> values_;
};

}  // namespace

void pair_virial(const PairVirialArguments& arguments) { VirialSum(arguments).run(); }

}  // namespace starpmc::scalar
