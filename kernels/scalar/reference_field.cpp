#include <algorithm>
#include <vector>

#include "kernels/operations.hpp"
#include "kernels/whole_units.hpp"

namespace starpmc::scalar {
namespace {

struct ChargedSite {
  double position[3];
  double charge;
};

std::vector<ChargedSite> charged_sites_of(const Window& window, int candidate) {
  std::vector<ChargedSite> sites;
  const int type = window.topology.type_of(window.molecule_of_candidate(candidate));
  for (int i = 0; i < window.topology.site_count(type); ++i) {
    ChargedSite site{{}, window.topology.site(type, i)[3]};
    if (site.charge == 0) continue;
    for (int k = 0; k < 3; ++k) {
      site.position[k] =
          window.field(POSE_X + k, candidate) + window.field(POSE_FIELDS + 3 * i + k, candidate);
    }
    sites.push_back(site);
  }
  return sites;
}

double energy_of(const ReferenceFieldArguments& a, std::span<const ChargedSite> sites) {
  double energy = 0;
  for (const auto& [r, charge] : sites) {
    energy += charge * lattice_value(&a.potential, a.potential_values.data(), r[0], r[1], r[2], 0);
  }
  return whole_units(energy, kGridUnit);
}

using GroupWeights = double[STARPMC_GROUP_EDGE][STARPMC_GROUP_EDGE][STARPMC_GROUP_EDGE];

void add_weights(const LatticePlace& place, double charge, const SiteGroup& group,
                 GroupWeights& weights) {
  double w[3][4];
  for (int k = 0; k < 3; ++k) spline_weights(place.fraction[k], w[k]);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      for (int k = 0; k < 4; ++k) {
        weights[place.node[0] - group.node[0] + i][place.node[1] - group.node[1] + j]
               [place.node[2] - group.node[2] + k] += charge * w[0][i] * w[1][j] * w[2][k];
      }
    }
  }
}

void add_group(const ReferenceFieldArguments& a, const SiteGroup& group,
               const GroupWeights& weights, std::vector<float>& sums) {
  const LatticeLevel& level = a.response.level[group.level];
  for (int i = 0; i < group.nodes[0]; ++i) {
    for (int j = 0; j < group.nodes[1]; ++j) {
      for (int k = 0; k < group.nodes[2]; ++k) {
        const int row = (group.node[0] + i) * level.nodes[1] + group.node[1] + j;
        const int node = row * level.nodes[2] + group.node[2] + k;
        const ResponseCoefficient* const coefficients = &a.response_values[static_cast<std::size_t>(
            level.first + node * a.response.components)];
        const auto weight = static_cast<float>(weights[i][j][k]);
        for (std::size_t c = 0; c < sums.size(); ++c) {
          sums[c] += weight * response_coefficient(coefficients + c);
        }
      }
    }
  }
}

void add_responses(const ReferenceFieldArguments& a, std::span<const ChargedSite> sites,
                   std::span<std::int32_t> responses) {
  std::vector<float> sums(responses.size(), 0.0F);
  for (std::size_t next = 0; next < sites.size();) {
    SiteGroup group{};
    std::vector<LatticePlace> places;
    for (std::size_t i = next; i < sites.size(); ++i) {
      const double* const r = sites[i].position;
      const LatticePlace place = lattice_place(&a.response, r[0], r[1], r[2]);
      if (joins_group(&group, &place) == 0) break;
      places.push_back(place);
    }
    GroupWeights weights{};
    for (const LatticePlace& place : places) {
      add_weights(place, sites[next].charge, group, weights);
      ++next;
    }
    add_group(a, group, weights, sums);
  }
  std::ranges::transform(sums, responses.begin(), response_units);
}

}  // namespace

void reference_field(const ReferenceFieldArguments& a) {
  for (int candidate = 0; candidate < a.window.candidates(); ++candidate) {
    const std::vector<ChargedSite> sites = charged_sites_of(a.window, candidate);
    a.energies[static_cast<std::size_t>(candidate)] = energy_of(a, sites);
    if (a.response.components > 0) add_responses(a, sites, a.responses_of(candidate));
  }
}

}  // namespace starpmc::scalar
