#include "sampling/packing.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

namespace starpmc {
namespace {

constexpr double kContactInSigma = 0.75;
/// Of a hydrogen bond's hydrogen and what it is bound to, shortest.
constexpr double kContactOfCharges = 1.5;
constexpr double kFilledShare = std::numbers::pi / (3 * std::numbers::sqrt2);
constexpr double kDensestMatter = 0.2;  ///< atoms per A^3: diamond has 0.18

double volume_of(double radius) { return 4 * std::numbers::pi / 3 * radius * radius * radius; }

}  // namespace

Packing::Packing(const TopologyBuffers& topology)
    : view_(topology.view()), spheres_(static_cast<std::size_t>(topology.shape.molecule_types)) {
  std::set<int> used;
  for (int type = 0; type < topology.shape.molecule_types; ++type) {
    for (int site = 0; site < view_.site_count(type); ++site)
      used.insert(view_.site_type(type, site));
  }
  const std::vector<int> site_types(used.begin(), used.end());
  const double in_densest_matter = std::cbrt(kFilledShare / kDensestMatter / volume_of(1));
  for (int type = 0; type < topology.shape.molecule_types; ++type) {
    Sphere& own = spheres_[static_cast<std::size_t>(type)];
    for (int site = 0; site < view_.site_count(type); ++site) {
      const double radius = own_radius(view_.site_type(type, site), site_types);
      if (radius <= own.radius) continue;
      const double* const place = view_.site(type, site);
      own.radius = radius;
      own.offset = std::hypot(place[0], place[1], place[2]);
    }
    // Further sites may be charges without an atom.
    const int atoms = std::clamp(view_.site_count(type), 1, 3);
    if (own.radius == 0) own.radius = in_densest_matter * std::cbrt(atoms);
  }
  for (int m = 0; m < topology.shape.molecules; ++m) {
    spheres_[static_cast<std::size_t>(view_.type_of(m))].molecules += 1;
  }
}

double Packing::contact(int site_type_a, int site_type_b) const {
  const double* const c = view_.pair(site_type_a, site_type_b);
  if (!(c[0] > 0) || !(c[1] > 0))
    return c[0] > 0 ? std::pow(c[0] / 100, 1.0 / 12) : kContactOfCharges;
  return kContactInSigma * std::pow(c[0] / c[1], 1.0 / 6);
}

double Packing::own_radius(int site_type, const std::vector<int>& site_types) const {
  const auto repels = [&](int a, int b) { return view_.pair(a, b)[0] > 0; };
  if (!repels(site_type, site_type)) return 0;
  const double own = contact(site_type, site_type);
  double radius = own / 2;
  for (const int other : site_types) {
    if (!repels(other, other) || !repels(site_type, other)) continue;
    radius = std::min(radius, contact(site_type, other) * own / (own + contact(other, other)));
  }
  return radius;
}

double Packing::density(int molecule_type) const {
  return kFilledShare / volume_of(sphere(molecule_type).radius);
}

double Packing::neighbours(int molecule_type, double distance) const {
  const Sphere& own = sphere(molecule_type);
  return std::min(own.molecules,
                  density(molecule_type) * volume_of(distance + own.offset + own.radius));
}

}  // namespace starpmc
