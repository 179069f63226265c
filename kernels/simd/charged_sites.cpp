#include "kernels/simd/charged_sites.hpp"

#include "kernels/whole_units.hpp"

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
  for (auto* array : {&x, &y, &z}) array->resize(size() + kPadding);
  energy.assign(size(), 0.0);
}

void ChargedSites::move_to(double factor, std::span<double> candidate_energies) {
  for (std::size_t site = 0; site < size(); ++site) {
    candidate_energies[static_cast<std::size_t>(candidate[site])] +=
        whole_units(factor * charge[site] * energy[site], kGridUnit);
    energy[site] = 0;
  }
}

}  // namespace starpmc::simd
