#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/reference_field.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "kernels/operations.hpp"
#include "kernels/simd/reference_sites.hpp"
#include "kernels/whole_units.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// Coefficients come from farther than the second-level cache: rows that are asked for in advance.
constexpr std::size_t kRowsAhead = 3;
constexpr std::size_t kCacheLine = 32;  // coefficients

/// As response_coefficient(), of a vector of them.
template <class Float>
auto coefficients_at(Float d, const ResponseCoefficient* values) {
  static_assert(sizeof(hwy::float16_t) == sizeof(ResponseCoefficient));
  const hn::Rebind<hwy::float16_t, Float> half;
  return hn::PromoteTo(d, hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(values)));
}

/// phi0 at a vector of sites.
void values_at(const SiteSplines& sites, std::size_t first, const float* values, double* results) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> single;
  const hn::Rebind<std::int32_t, decltype(d)> index;
  const auto weight = [&](int axis, int node)
                          HWY_ATTR { return hn::LoadU(d, &sites.weights[axis][node][first]); };
  const auto node = hn::LoadU(index, &sites.node[first]);
  const auto plane_step = hn::LoadU(index, &sites.plane_step[first]);
  const auto row_step = hn::LoadU(index, &sites.row_step[first]);
  const auto wz0 = weight(2, 0);
  const auto wz1 = weight(2, 1);
  const auto wz2 = weight(2, 2);
  const auto wz3 = weight(2, 3);
  auto sum = hn::Zero(d);
  auto plane = node;
  for (int i = 0; i < 4; ++i) {
    auto of_plane = hn::Zero(d);
    auto row = plane;
    for (int j = 0; j < 4; ++j) {
      const auto coefficient = [&](int k) HWY_ATTR {
        return hn::PromoteTo(d, hn::GatherIndex(single, values + k, row));
      };
      auto of_row = hn::Mul(wz0, coefficient(0));
      of_row = hn::Add(of_row, hn::Mul(wz1, coefficient(1)));
      of_row = hn::Add(of_row, hn::Mul(wz2, coefficient(2)));
      of_row = hn::Add(of_row, hn::Mul(wz3, coefficient(3)));
      of_plane = hn::Add(of_plane, hn::Mul(weight(1, j), of_row));
      row = hn::Add(row, row_step);
    }
    sum = hn::Add(sum, hn::Mul(weight(0, i), of_plane));
    plane = hn::Add(plane, plane_step);
  }
  hn::StoreU(sum, d, results + first);
}

/// Sums of kVectors vectors of components over weighted nodes, `step` values from one to the next.
template <std::size_t kVectors>
void sum_components(std::span<const NodeRow> rows, const ResponseCoefficient* values,
                    std::size_t step, std::int32_t* responses) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> integers;
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> sums[kVectors];
  for (auto& sum : sums) sum = hn::Zero(d);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const NodeRow& row = rows[i];
    const ResponseCoefficient* coefficients = values + row.offset;
    const ResponseCoefficient* ahead =
        values + rows[std::min(i + kRowsAhead, rows.size() - 1)].offset;
    for (int k = 0; k < row.nodes; ++k, coefficients += step, ahead += step) {
      for (std::size_t c = 0; c < kVectors * lanes; c += kCacheLine) hwy::Prefetch(ahead + c);
      const auto weight = hn::Set(d, row.weights[k]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        sums[v] = hn::Add(sums[v], hn::Mul(weight, coefficients_at(d, coefficients + v * lanes)));
      }
    }
  }
  const auto largest = hn::Set(d, STARPMC_LARGEST_RESPONSE);
  for (std::size_t v = 0; v < kVectors; ++v) {
    const auto units = hn::Round(hn::Mul(sums[v], hn::Set(d, STARPMC_RESPONSE_UNITS)));
    const auto number = hn::IfThenElseZero(hn::Eq(units, units), units);
    const auto clamped = hn::Min(hn::Max(number, hn::Neg(largest)), largest);
    hn::StoreU(hn::ConvertTo(integers, clamped), integers, responses + v * lanes);
  }
}

void sum_all_components(std::span<const NodeRow> rows, const ResponseCoefficient* values,
                        std::span<std::int32_t> responses) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<float>());
  std::size_t done = 0;
  const auto sum = [&]<std::size_t kVectors>() HWY_ATTR {
    while (responses.size() - done >= kVectors * lanes) {
      sum_components<kVectors>(rows, values + done, responses.size(), &responses[done]);
      done += kVectors * lanes;
    }
  };
  sum.template operator()<8>();
  sum.template operator()<6>();
  sum.template operator()<4>();
  sum.template operator()<2>();
  sum.template operator()<1>();
}

}  // namespace

void ReferenceField(const ReferenceFieldArguments& a) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<double>());
  const ChargedSites sites(a.window);
  const SiteSplines splines(sites, a.potential, lanes);
  std::vector<double> values(splines.padded());
  for (std::size_t first = 0; first < splines.padded(); first += lanes) {
    values_at(splines, first, a.potential_values.data(), values.data());
  }
  NodeRows rows(a.response);
  std::size_t site = 0;
  for (int candidate = 0; candidate < a.window.candidates(); ++candidate) {
    const std::size_t first = site;
    double energy = 0;
    for (; site < sites.size() && sites.candidate[site] == candidate; ++site) {
      energy += sites.charge[site] * values[site];
    }
    a.energies[static_cast<std::size_t>(candidate)] = whole_units(energy, kGridUnit);
    if (a.response.components > 0) {
      sum_all_components(rows.of(sites, first, site), a.response_values.data(),
                         a.responses_of(candidate));
    }
  }
}

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace starpmc::simd {
HWY_EXPORT(ReferenceField);

void reference_field(const ReferenceFieldArguments& a) { HWY_DYNAMIC_DISPATCH(ReferenceField)(a); }
}  // namespace starpmc::simd
#endif
