#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/qmmm_nuclei_vdw.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "kernels/operations.hpp"
#include "kernels/simd/pair_sum-inl.hpp"
#include "kernels/simd/user_nuclei.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {
namespace {

/// The nuclei padded to whole vectors, and their Lennard-Jones coefficients with every site type.
struct NucleusLanes {
  using Real = double;
  std::size_t padded;
  std::vector<double> position[3];
  std::vector<Real> charge;
  std::vector<Real> coefficients;  ///< per site type: c12, c6, shift, slope arrays

  NucleusLanes(const NucleiVdwArguments<double>& a, std::size_t lanes) {
    const auto nuclei = static_cast<std::size_t>(a.nuclei);
    padded = (nuclei + lanes - 1) / lanes * lanes;
    for (std::size_t k = 0; k < 3; ++k) {
      position[k].assign(padded, 0.0);
      std::copy_n(&a.solute[k * nuclei], nuclei, position[k].begin());
    }
    charge.assign(padded, Real{0});
    const Topology& topology = a.window.topology;
    const auto types = static_cast<std::size_t>(topology.shape.site_types);
    coefficients.assign(types * 4 * padded, Real{0});
    for (std::size_t i = 0; i < nuclei; ++i) {
      charge[i] = static_cast<Real>(a.solute[3 * nuclei + i]);
      const int nucleus_type = static_cast<int>(a.solute[4 * nuclei + i]);
      for (std::size_t type = 0; type < types; ++type) {
        const double* const pair = topology.qmmm_pair(static_cast<int>(type), nucleus_type);
        for (std::size_t c = 0; c < 4; ++c) {
          coefficients[(type * 4 + c) * padded + i] = static_cast<Real>(pair[c]);
        }
      }
    }
  }
};

/// In fp64 whatever the precision (STARPMC_NEAR_DISTANCE says why).
void nuclei_vdw(const NucleiVdwArguments<double>& a) {
  using Real = double;
  using D = hn::ScalableTag<Real>;
  using V = VecOf<D>;
  const D d;
  const Window& window = a.window;
  const Interaction& box = window.interaction;
  const CoulombWithin<D> coulomb(d, box.coulomb_cutoff);
  const Periodic<D> periodic(d, box);
  const V vdw_cutoff = hn::Set(d, static_cast<Real>(box.vdw_cutoff * box.vdw_cutoff));
  const NucleusLanes nuclei(a, hn::Lanes(d));
  const Point<V> targets[1] = {{hn::Zero(d), hn::Zero(d), hn::Zero(d)}};
  for (int candidate = 0; candidate < window.candidates(); ++candidate) {
    const int type = window.topology.type_of(window.molecule_of_candidate(candidate));
    double coulomb_total = 0;
    WideSum<D> vdw_sum;
    for (int site = 0; site < window.topology.site_count(type); ++site) {
      const int first = POSE_FIELDS + 3 * site;
      const double x = window.field(POSE_X, candidate) + window.field(first, candidate);
      const double y = window.field(POSE_Y, candidate) + window.field(first + 1, candidate);
      const double z = window.field(POSE_Z, candidate) + window.field(first + 2, candidate);
      const Real* const pair =
          &nuclei.coefficients[static_cast<std::size_t>(window.topology.site_type(type, site)) * 4 *
                               nuclei.padded];
      WideSum<D> coulomb_sum;
      for (std::size_t i = 0; i < nuclei.padded; i += hn::Lanes(d)) {
        const Point<V> source{wrapped_offsets(d, &nuclei.position[0][i], x, box.box[0]),
                              wrapped_offsets(d, &nuclei.position[1][i], y, box.box[1]),
                              wrapped_offsets(d, &nuclei.position[2][i], z, box.box[2])};
        pair_step<1, Care::full>(d, targets, source, periodic, [&](std::size_t, V r2) HWY_ATTR {
          const Distance<V> r = distance(d, r2);
          const V energy = hn::Mul(hn::LoadU(d, &nuclei.charge[i]), coulomb.of(r));
          coulomb_sum.add(d, energy);
          const V inverse2 = hn::Mul(r.inverse, r.inverse);
          const V inverse6 = hn::Mul(hn::Mul(inverse2, inverse2), inverse2);
          const V c12 = hn::LoadU(d, pair + i);
          const V c6 = hn::LoadU(d, pair + nuclei.padded + i);
          const V shift = hn::LoadU(d, pair + 2 * nuclei.padded + i);
          const V slope = hn::LoadU(d, pair + 3 * nuclei.padded + i);
          const V lj = hn::Mul(hn::MulSub(c12, inverse6, c6), inverse6);
          const V vdw = hn::Add(lj, hn::MulAdd(slope, r.r, shift));
          vdw_sum.add(d, hn::IfThenElseZero(hn::Lt(r2, vdw_cutoff), vdw));
        });
      }
      coulomb_total += window.topology.site(type, site)[3] * coulomb_sum.total();
    }
    a.energy(FIELD_QMMM_NUCLEI, candidate) = STARPMC_COULOMB_CONSTANT * coulomb_total;
    a.energy(FIELD_QMMM_VDW, candidate) = vdw_sum.total();
  }
}

}  // namespace

void NucleiVdw(const NucleiVdwArguments<double>& a) { nuclei_vdw(a); }

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace starpmc::simd {
HWY_EXPORT(NucleiVdw);

namespace {
void run_nuclei_vdw(const NucleiVdwArguments<double>& a) {
  if (const auto* const potential = potential_of(a.window.potential, &Potential::in_nuclei)) {
    user_nuclei_vdw(a, *potential);
  } else {
    HWY_DYNAMIC_DISPATCH(NucleiVdw)(a);
  }
}
}  // namespace

template <>
void qmmm_nuclei_vdw(const NucleiVdwArguments<double>& a) {
  run_nuclei_vdw(a);
}
template <>
void qmmm_nuclei_vdw(const NucleiVdwArguments<float>& a) {
  run_nuclei_vdw({a.window, a.solute, a.nuclei, a.energies});
}
template <>
void qmmm_nuclei_vdw(const NucleiVdwArguments<FixedCoordinate>& a) {
  run_nuclei_vdw({a.window, a.solute, a.nuclei, a.energies});
}
}  // namespace starpmc::simd
#endif
