#include "kernels/simd/charged_sites.hpp"

#include <algorithm>

namespace starpmc::simd {

ChargedSites::ChargedSites(const Window& window) {
  const int candidates = window.candidates();
  const auto most = static_cast<std::size_t>(candidates * window.layout.sites);
  for (auto* array : {&x, &y, &z, &charge}) array->reserve(most);
  candidate.reserve(most);
  for (int index = 0; index < candidates; ++index) {
    const int type = window.topology.type_of(window.molecule_of_candidate(index));
    for (int site = 0; site < window.topology.site_count(type); ++site) {
      const double site_charge = window.topology.site(type, site)[3];
      if (site_charge == 0) continue;
      x.push_back(window.field(POSE_X, index) + window.field(POSE_FIELDS + 3 * site, index));
      y.push_back(window.field(POSE_Y, index) + window.field(POSE_FIELDS + 3 * site + 1, index));
      z.push_back(window.field(POSE_Z, index) + window.field(POSE_FIELDS + 3 * site + 2, index));
      charge.push_back(site_charge);
      candidate.push_back(index);
    }
  }
  energy.assign(charge.size(), 0.0);
  candidate_count_ = static_cast<std::size_t>(candidates);
}

void ChargedSites::collect(std::span<double> candidate_energies) const {
  std::fill_n(candidate_energies.begin(), candidate_count_, 0.0);
  for (std::size_t site = 0; site < size(); ++site) {
    candidate_energies[static_cast<std::size_t>(candidate[site])] +=
        STARPMC_COULOMB_CONSTANT * charge[site] * energy[site];
  }
}

template <class Real>
void SiteBlock<Real>::classify(const ChargedSites& sites, const double* block,
                               const Interaction& interaction) {
  // Margins are wider than the rounding of an fp32 distance inside any box.
  constexpr double kMargin = 1e-3;
  const double radius = block[BLOCK_RADIUS];
  const double reach = interaction.coulomb_cutoff + radius + kMargin;
  const double surely_inside = std::max(0.0, interaction.coulomb_cutoff - radius - kMargin);
  const double near = radius + 0.02;
  const double shortest = std::min({interaction.box[0], interaction.box[1], interaction.box[2]});
  // Where cutoff + radius exceeds half an edge, a point may be nearer through another image.
  const bool one_image = interaction.coulomb_cutoff + radius + kMargin <= shortest / 2;
  const double inverse[3] = {1 / interaction.box[0], 1 / interaction.box[1],
                             1 / interaction.box[2]};
  inside_count = cut_count = full_count = 0;
  for (std::size_t site = 0; site < sites.size(); ++site) {
    double dx = sites.x[site] - block[BLOCK_ORIGIN];
    double dy = sites.y[site] - block[BLOCK_ORIGIN + 1];
    double dz = sites.z[site] - block[BLOCK_ORIGIN + 2];
    dx -= interaction.box[0] * std::rint(dx * inverse[0]);
    dy -= interaction.box[1] * std::rint(dy * inverse[1]);
    dz -= interaction.box[2] * std::rint(dz * inverse[2]);
    x[site] = static_cast<Real>(dx);
    y[site] = static_cast<Real>(dy);
    z[site] = static_cast<Real>(dz);
    const double d2 = dx * dx + dy * dy + dz * dz;
    const auto index = static_cast<int>(site);
    const bool within_reach = d2 < reach * reach;
    const bool careful = d2 < near * near || !one_image;
    const bool all_inside = d2 < surely_inside * surely_inside;
    full[full_count] = index;
    inside[inside_count] = index;
    cut[cut_count] = index;
    full_count += static_cast<std::size_t>(within_reach && careful);
    inside_count += static_cast<std::size_t>(within_reach && !careful && all_inside);
    cut_count += static_cast<std::size_t>(within_reach && !careful && !all_inside);
  }
}

template struct SiteBlock<double>;
template struct SiteBlock<float>;

}  // namespace starpmc::simd
