// Energies of one molecule with a list of others under functions of the user's: the sibling of
// MoleculeRow. Included once per instruction set.
#if defined(STARPMC_USER_ROW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STARPMC_USER_ROW_INL
#undef STARPMC_USER_ROW_INL
#else
#define STARPMC_USER_ROW_INL
#endif

#include <optional>
#include <vector>

#include "kernels/simd/evaluate.hpp"
#include "kernels/simd/molecule_row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {

/// In fp64 in every precision. The squared distances of a pair of sites are gathered for the whole
/// list, and the user's functions evaluated over them.
template <class Real>
class UserRow : private MoleculeRow<Real, double> {
 public:
  using Row = MoleculeRow<Real, double>;
  using typename Row::D;
  using typename Row::List;
  using typename Row::Target;
  using typename Row::V;

  UserRow(const Potential& potential, const Topology& topology, const Interaction& interaction)
      : Row(topology, interaction),
        coulomb_cutoff_squared_(interaction.coulomb_cutoff * interaction.coulomb_cutoff) {
    if (Potential::exists(potential.coulomb)) coulomb_function_.emplace(potential.coulomb);
    if (Potential::exists(potential.mm)) {
      std::vector<bool> uniform(potential.mm.inputs.size(), true);
      uniform[0] = false;
      coefficients_ = uniform.size() - 1;
      vdw_function_.emplace(potential.mm, Rounding::quick, uniform);
    }
  }

  /// As MoleculeRow's.
  template <class Store>
  HWY_INLINE void operator()(const Target& target, int list_type, const List& list, Store&& store) {
    if (list.count() == 0) return;
    const D d;
    const bool images = !kFixed<Real> && !this->reach_.one_image(target.type, list_type);
    const SitePairs<double>& pairs = this->pairs_[static_cast<std::size_t>(
        target.type * this->topology_.shape.molecule_types + list_type)];
    stride_ = round_up(list.count(), hn::Lanes(d));
    squared_.resize(pairs.sites_a * pairs.sites_b * stride_);
    if (images) {
      gather<Care::full>(target, list, pairs);
    } else {
      gather<Care::cut>(target, list, pairs);
    }
    coulomb_.assign(stride_, 0.0);
    vdw_.assign(stride_, 0.0);
    values_.resize(squared_.size());
    add_coulomb(pairs);
    add_vdw(target.type, list_type, pairs);
    for (std::size_t i = 0; i < list.count(); i += hn::Lanes(d)) {
      store(i, hn::FirstN(d, list.count() - i),
            LaneEnergies<V>{limited(hn::LoadU(d, &coulomb_[i])), limited(hn::LoadU(d, &vdw_[i]))});
    }
  }

 private:
  /// Squared distances, a row of them for each pair of sites.
  template <Care kCare>
  void gather(const Target& target, const List& list, const SitePairs<double>& pairs) {
    const D d;
    const V closest = hn::Set(d, STARPMC_MINIMUM_DISTANCE_SQUARED);
    for (std::size_t i = 0; i < stride_; i += hn::Lanes(d)) {
      const Point<V> offset = this->centre_offset(target, list, i);
      for (std::size_t b = 0; b < pairs.sites_b; ++b) {
        const auto source = this->source_site(list, b, i, offset);
        for (std::size_t a = 0; a < pairs.sites_a; ++a) {
          const V r2 =
              length_squared(d, this->template displacement<kCare>(&target.sites[3 * a], source));
          hn::StoreU(hn::Max(r2, closest), d, &squared_[row_of(pairs, a, b) + i]);
        }
      }
    }
  }

  std::size_t row_of(const SitePairs<double>& pairs, std::size_t a, std::size_t b) const {
    return (a * pairs.sites_b + b) * stride_;
  }

  void add_coulomb(const SitePairs<double>& pairs) {
    const D d;
    const V cutoff = hn::Set(d, coulomb_cutoff_squared_);
    for (std::size_t a = 0; a < pairs.sites_a; ++a) {
      for (std::size_t b = 0; b < pairs.sites_b; ++b) {
        const double charge = pairs(a, b).charge;
        if (charge == 0) continue;
        const double* const squared = &squared_[row_of(pairs, a, b)];
        if (coulomb_function_) evaluate(*coulomb_function_, squared);
        for (std::size_t i = 0; i < stride_; i += hn::Lanes(d)) {
          const V r2 = hn::LoadU(d, squared + i);
          const V energy = coulomb_function_
                               ? hn::IfThenElseZero(hn::Lt(r2, cutoff), hn::LoadU(d, &values_[i]))
                               : this->coulomb_energy(r2);
          const V sum = hn::LoadU(d, &coulomb_[i]);
          hn::StoreU(hn::MulAdd(hn::Set(d, charge), energy, sum), d, &coulomb_[i]);
        }
      }
    }
  }

  void add_vdw(int type_a, int type_b, const SitePairs<double>& pairs) {
    const Topology& topology = this->topology_;
    for (std::size_t a = 0; a < pairs.sites_a; ++a) {
      for (std::size_t b = 0; b < pairs.sites_b; ++b) {
        const double* const squared = &squared_[row_of(pairs, a, b)];
        const auto& c = pairs(a, b);
        if (c.has_vdw) {
          add(squared, [&](V r2, std::size_t) HWY_ATTR { return lennard_jones(c, r2); });
        }
        const double* const function =
            topology.pair(topology.site_type(type_a, static_cast<int>(a)),
                          topology.site_type(type_b, static_cast<int>(b))) +
            topology.shape.pairs.mm_function;
        if (!vdw_function_ || function[0] == 0) continue;
        if (coefficients_ > 0) vdw_function_->set_uniform({function + 1, coefficients_});
        evaluate(*vdw_function_, squared);
        add(squared, [&](V, std::size_t i) HWY_ATTR { return hn::LoadU(D(), &values_[i]); });
      }
    }
  }

  /// Adds van der Waals energies, energy(r2, first), inside the cutoff.
  template <class Energy>
  HWY_INLINE void add(const double* squared, Energy&& energy) {
    const D d;
    for (std::size_t i = 0; i < stride_; i += hn::Lanes(d)) {
      const V r2 = hn::LoadU(d, squared + i);
      const V inside = hn::IfThenElseZero(hn::Lt(r2, this->vdw_cutoff_squared_), energy(r2, i));
      hn::StoreU(hn::Add(hn::LoadU(d, &vdw_[i]), inside), d, &vdw_[i]);
    }
  }

  HWY_INLINE V lennard_jones(const SitePairs<double>::Coefficients& c, V r2) const {
    const D d;
    const Distance<V> r = Row::lane_distance(r2);
    const V inverse2 = hn::Mul(r.inverse, r.inverse);
    const V inverse6 = hn::Mul(hn::Mul(inverse2, inverse2), inverse2);
    const V lj = hn::Mul(hn::MulSub(hn::Set(d, c.c12), inverse6, hn::Set(d, c.c6)), inverse6);
    return hn::Add(lj, hn::MulAdd(hn::Set(d, c.slope), r.r, hn::Set(d, c.shift)));
  }

  void evaluate(BlockEvaluator<double>& function, const double* squared) {
    const double* const inputs[] = {squared};
    double* const outputs[] = {values_.data()};
    function(inputs, stride_, outputs);
  }

  /// limited_user_energy
  static HWY_INLINE V limited(V energy) {
    const V largest = hn::Set(D(), STARPMC_LARGEST_PAIR_ENERGY);
    return hn::Max(hn::IfThenElse(hn::Lt(energy, largest), energy, largest), hn::Neg(largest));
  }

  double coulomb_cutoff_squared_;
  std::optional<BlockEvaluator<double>> coulomb_function_;
  std::optional<BlockEvaluator<double>> vdw_function_;
  std::size_t coefficients_ = 0;
  std::size_t stride_ = 0;  ///< of a row of the list's molecules
  std::vector<double> squared_;
  std::vector<double> values_;
  std::vector<double> coulomb_;
  std::vector<double> vdw_;
};

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
