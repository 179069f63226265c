#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/pair_virial.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/exact_blocks.hpp"
#include "kernels/operations.hpp"
#include "kernels/simd/evaluate.hpp"
#include "kernels/simd/moves-inl.hpp"
#include "kernels/site_columns.hpp"
#include "kernels/virial_total.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// A function with the same coefficients for all pairs of a batch.
struct BatchTerm {
  BlockEvaluator<double>* function;
  std::size_t term;
  double squared_cutoff;
  double factor;  ///< of all pairs, besides their own
};

/// Terms of one sum, a lane each.
class DigitSum {
 public:
  HWY_INLINE DigitSum() : coarse_(word_constant(0)), fine_(word_constant(0)) {}
  HWY_INLINE void add(real_t value) {
    const real_t term = virial_term(value);
    coarse_ = coarse_ + coarse_units(term);
    fine_ = fine_ + fine_units(term);
  }
  /// After at most 2^11 terms.
  HWY_INLINE void add_to(VirialTotal& total) const {
    const word_t::D d;
    add_digits(&total, hn::GetLane(hn::SumOfLanes(d, coarse_.v)),
               hn::GetLane(hn::SumOfLanes(d, fine_.v)));
  }

 private:
  word_t coarse_;
  word_t fine_;
};

/// Pairs inside the longest of their terms' cutoffs, gathered until there are enough to evaluate.
/// Sums are of integers, so that neither order nor batches matter.
class PairBatch {
 public:
  explicit PairBatch(VirialTotal* totals) : totals_(totals) {}

  /// Evaluates what there is, then takes other terms.
  void begin(std::vector<BatchTerm> terms) {
    evaluate();
    terms_ = std::move(terms);
    squared_cutoff_ = 0;
    for (const BatchTerm& term : terms_) {
      squared_cutoff_ = std::max(squared_cutoff_, term.squared_cutoff);
    }
  }

  /// @param counts which of the lanes
  HWY_INLINE void add(real_t squared, real_t product, real_t factor, mask_t counts) {
    const real_t::D d;
    const auto near = hn::And(counts.m, hn::Lt(squared.v, hn::Set(d, squared_cutoff_)));
    if (hn::AllFalse(d, near)) return;
    // Not hn::Compress, which looks permutations up in a table (Highway 1.0): neighbouring points
    // of a block are in or out together, and of neighbouring molecules few are in.
    const auto far = hn::Set(d, std::numeric_limits<double>::infinity());
    const std::size_t lanes = hn::Lanes(d);
    hn::StoreU(hn::IfThenElse(near, squared.v, far), d, squared_ + count_);
    hn::StoreU(product.v, d, product_ + count_);
    hn::StoreU(factor.v, d, factor_ + count_);
    if (2 * hn::CountTrue(d, near) >= lanes) {
      count_ += lanes;
    } else {
      const std::size_t first = count_;
      for (std::size_t i = first; i < first + lanes; ++i) {
        squared_[count_] = squared_[i];
        product_[count_] = product_[i];
        factor_[count_] = factor_[i];
        count_ += squared_[i] < squared_cutoff_ ? 1 : 0;
      }
    }
    if (count_ > kPairs - hn::Lanes(d)) evaluate();
  }

  void evaluate() {
    const real_t::D d;
    if (count_ == 0) return;
    hn::StoreU(hn::Set(d, std::numeric_limits<double>::infinity()), d, squared_ + count_);
    for (const BatchTerm& term : terms_) sum(term);
    count_ = 0;
  }

 private:
  static constexpr std::size_t kPairs = 256;
  static constexpr std::size_t kRoom = kPairs + kBlockGrain;
  static_assert(kRoom <= 2048);  // DigitSum

  void sum(const BatchTerm& term) {
    const real_t::D d;
    const double* const inputs[] = {squared_};
    double* const outputs[] = {value_, slope_};
    (*term.function)(inputs, count_, outputs);
    const real_t cutoff = real_constant(term.squared_cutoff);
    const real_t zero = real_constant(0);
    DigitSum energy;
    DigitSum virial;
    for (std::size_t i = 0; i < count_; i += hn::Lanes(d)) {
      const auto load = [&](const double* from) HWY_ATTR { return real_t{hn::LoadU(d, from + i)}; };
      const mask_t inside = r_less(load(squared_), cutoff);
      const real_t factor = real_constant(term.factor) * load(factor_);
      energy.add(r_select(inside, factor * load(value_), zero));
      virial.add(r_select(inside, exact_virial(factor, load(slope_), load(product_)), zero));
    }
    energy.add_to(totals_[term.term]);
    virial.add_to(totals_[TERMS + term.term]);
  }

  VirialTotal* totals_;
  std::vector<BatchTerm> terms_;
  double squared_cutoff_ = 0;
  std::size_t count_ = 0;
  double squared_[kRoom];
  double product_[kRoom];
  double factor_[kRoom];
  double value_[kRoom];
  double slope_[kRoom];
};

/// A site, or a part of the solute, that a row of others is measured from.
struct Origin {
  double position[3];
  double arm[3];
};

class VirialSum {
 public:
  explicit VirialSum(const PairVirialArguments& arguments)
      : a_(arguments),
        box_(arguments.interaction),
        columns_(site_columns(arguments.topology, arguments.lattice)),
        vdw_squared_(arguments.interaction.vdw_cutoff * arguments.interaction.vdw_cutoff),
        batch_(totals_),
        coulomb_(arguments.functions->coulomb, Rounding::exact),
        mm_(evaluators(arguments.functions->mm)),
        qmmm_(evaluators(arguments.functions->qmmm)) {}

  void run() {
    for (const SiteColumn& column : columns_) {
      for (const SiteColumn& other : columns_) add_molecules(column, other);
      add_nuclei(column);
      if (column.charge != 0) add_grid(column);
    }
    batch_.evaluate();
    for (std::size_t i = 0; i < VIRIAL_SUMS; ++i) a_.sums[i] = virial_value(totals_[i]);
  }

 private:
  using Functions = std::vector<PairDerivatives::Function>;

  static std::vector<BlockEvaluator<double>> evaluators(const Functions& functions) {
    std::vector<BlockEvaluator<double>> made;
    for (const PairDerivatives::Function& function : functions) {
      std::vector<bool> uniform(function.program.inputs.size(), true);
      uniform[0] = false;
      made.emplace_back(function.program, Rounding::exact, uniform);
    }
    return made;
  }

  BatchTerm coulomb(std::size_t term, double factor) {
    return {&coulomb_, term, box_.cutoff_squared, factor};
  }
  void add_vdw(std::size_t term, const Functions& functions,
               std::vector<BlockEvaluator<double>>& evaluators, int kind, int other,
               std::vector<BatchTerm>& terms) const {
    for (std::size_t i = 0; i < functions.size(); ++i) {
      const double* const coefficients = functions[i].of_pair(kind, other);
      if (coefficients == nullptr) continue;
      if (functions[i].coefficients() > 0) {
        evaluators[i].set_uniform({coefficients, functions[i].coefficients()});
      }
      terms.push_back({&evaluators[i], term, vdw_squared_, 1});
    }
  }

  /// Sites [first, last) of a column, measured from an origin.
  HWY_INLINE void add_row(const SiteColumn& column, std::size_t first, std::size_t last,
                          const Origin& origin) {
    const real_t::D d;
    for (std::size_t j = first; j < last; j += hn::Lanes(d)) {
      const auto counts = hn::FirstN(d, last - j);
      real_t r[3];
      real_t arm[3];
      for (std::size_t k = 0; k < 3; ++k) {
        const real_t position{hn::LoadU(d, &column.position[k][j])};
        r[k] = exact_image(position - real_constant(origin.position[k]),
                           real_constant(box_.length[k]), real_constant(box_.inverse[k]));
        arm[k] = real_t{hn::LoadU(d, &column.arm[k][j])} - real_constant(origin.arm[k]);
      }
      batch_.add(exact_distance_squared(r[0], r[1], r[2]),
                 exact_centre_product(r[0], r[1], r[2], arm[0], arm[1], arm[2]), real_constant(1),
                 {counts});
    }
  }

  /// Every site of `column` with those of `other` in later molecules.
  void add_molecules(const SiteColumn& column, const SiteColumn& other) {
    std::vector<BatchTerm> terms;
    const double factor = coulomb_factor(column.charge, other.charge);
    batch_.evaluate();  // before the functions get other coefficients
    if (factor != 0) terms.push_back(coulomb(TERM_MM_COULOMB, factor));
    add_vdw(TERM_MM_VDW, a_.functions->mm, mm_, column.kind, other.kind, terms);
    if (terms.empty()) return;
    batch_.begin(std::move(terms));
    const std::size_t last = column.from(a_.last_molecule);
    for (std::size_t i = column.from(a_.first_molecule); i < last; ++i) {
      add_row(other, other.from(column.molecules[i] + 1), other.size(), site(column, i));
    }
  }

  void add_nuclei(const SiteColumn& column) {
    const auto nuclei = static_cast<std::size_t>(a_.nuclei);
    for (std::size_t nucleus = 0; nucleus < nuclei; ++nucleus) {
      std::vector<BatchTerm> terms;
      const double factor = coulomb_factor(column.charge, a_.solute[3 * nuclei + nucleus]);
      batch_.evaluate();
      if (factor != 0) terms.push_back(coulomb(TERM_QMMM_NUCLEI, factor));
      add_vdw(TERM_QMMM_VDW, a_.functions->qmmm, qmmm_, column.kind,
              static_cast<int>(a_.solute[4 * nuclei + nucleus]), terms);
      if (terms.empty()) continue;
      batch_.begin(std::move(terms));
      Origin origin{};
      for (std::size_t k = 0; k < 3; ++k) {
        origin.position[k] = a_.solute[k * nuclei + nucleus];
        origin.arm[k] = origin.position[k] - a_.solute_centre[k];
      }
      add_row(column, column.from(a_.first_molecule), column.from(a_.last_molecule), origin);
    }
  }

  void add_grid(const SiteColumn& column) {
    batch_.begin({coulomb(TERM_QMMM_GRID, 1)});
    const std::size_t last = column.from(a_.last_molecule);
    for (std::size_t i = column.from(a_.first_molecule); i < last; ++i) {
      const Origin from = site(column, i);
      for (std::size_t block = 0; block * BLOCK_FIELDS < a_.blocks.size(); ++block) {
        if (!block_in_reach(a_.interaction, &a_.blocks[block * BLOCK_FIELDS], from.position)) {
          continue;
        }
        add_points(&a_.points[block * STARPMC_BLOCK_VALUES], from, column.charge);
      }
    }
  }

  HWY_INLINE void add_points(const double* points, const Origin& site, double charge) {
    const real_t::D d;
    for (std::size_t i = 0; i < STARPMC_BLOCK_POINTS; i += hn::Lanes(d)) {
      real_t r[3];
      real_t arm[3];
      for (std::size_t k = 0; k < 3; ++k) {
        const real_t point{hn::LoadU(d, points + k * STARPMC_BLOCK_POINTS + i)};
        r[k] = exact_image(real_constant(site.position[k]) - point, real_constant(box_.length[k]),
                           real_constant(box_.inverse[k]));
        arm[k] = real_constant(site.arm[k]) - (point - real_constant(a_.solute_centre[k]));
      }
      const real_t q{hn::LoadU(d, points + 3 * STARPMC_BLOCK_POINTS + i)};
      const real_t factor = real_constant(STARPMC_COULOMB_CONSTANT) * (real_constant(charge) * q);
      const real_t r2 = exact_distance_squared(r[0], r[1], r[2]);
      const real_t product = exact_centre_product(r[0], r[1], r[2], arm[0], arm[1], arm[2]);
      batch_.add(r2, product, factor, {hn::Ne(factor.v, hn::Zero(d))});
      add_extent(r2, product, factor, real_t{hn::LoadU(d, points + 4 * STARPMC_BLOCK_POINTS + i)});
    }
  }

  HWY_INLINE void add_extent(real_t r2, real_t product, real_t factor, real_t inverse_square) {
    const real_t::D d;
    if (hn::AllTrue(d, hn::Ge((r2 * inverse_square).v, hn::Set(d, 1.0)))) return;
    const real_t charge = factor * real_constant(a_.functions->coulomb_pole);
    DigitSum energy;
    DigitSum virial;
    energy.add(charge * exact_extent(r2, inverse_square));
    virial.add(exact_virial(charge, exact_extent_slope(r2, inverse_square), product));
    energy.add_to(totals_[TERM_QMMM_GRID]);
    virial.add_to(totals_[TERMS + TERM_QMMM_GRID]);
  }

  static Origin site(const SiteColumn& column, std::size_t i) {
    Origin origin{};
    for (std::size_t k = 0; k < 3; ++k) {
      origin.position[k] = column.position[k][i];
      origin.arm[k] = column.arm[k][i];
    }
    return origin;
  }

  const PairVirialArguments& a_;
  ExactBox box_;
  std::vector<SiteColumn> columns_;
  double vdw_squared_;
  VirialTotal totals_[VIRIAL_SUMS] = {};
  PairBatch batch_;
  BlockEvaluator<double> coulomb_;
  std::vector<BlockEvaluator<double>> mm_;
  std::vector<BlockEvaluator<double>> qmmm_;
};

}  // namespace

void PairVirial(const PairVirialArguments& arguments) { VirialSum(arguments).run(); }

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace starpmc::simd {
HWY_EXPORT(PairVirial);

void pair_virial(const PairVirialArguments& arguments) {
  HWY_DYNAMIC_DISPATCH(PairVirial)(arguments);
}
}  // namespace starpmc::simd
#endif
