#include "sampling/pair_virial.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "potential/pair_potential.hpp"
#include "system/elements.hpp"

namespace starpmc {
namespace {

constexpr std::size_t kMoleculesPerTask = 128;

Vector3 centre_of_mass(const Solute& solute) {
  double total = 0;
  Vector3 sum;
  for (std::size_t i = 0; i < solute.atom_count(); ++i) {
    const Element* const element = element_by_number(solute.atomic_numbers[i]);
    const double mass = element == nullptr ? 1 : element->mass;
    total += mass;
    sum = sum + mass * solute.positions[i];
  }
  return (1 / total) * sum;
}

}  // namespace

template <class Real>
PairVirial<Real>::PairVirial(const System& system, const Settings& settings,
                             const TopologyBuffers& topology)
    : functions_(make_pair_derivatives(system, settings)),
      constants_{topology.interaction, topology.shape, nullptr, topology.nuclei, {}} {
  if (!system.solute) return;
  const Vector3 centre = centre_of_mass(*system.solute);
  const double coordinates[] = {centre.x, centre.y, centre.z};
  std::ranges::copy(coordinates, constants_.solute_centre);
}

template <class Real>
std::vector<DataHandle> PairVirial<Real>::submit(const ChainData<Real>& data,
                                                 WithDensity density) const {
  codelets::PairVirialConstants constants = constants_;
  constants.functions = &functions_;
  codelets::CertificationHandles solute = data.certification_handles();
  if (density == WithDensity::no) solute.exact_blocks = solute.exact_points = nullptr;
  const std::size_t parts =
      std::max<std::size_t>(1, (data.molecules() + kMoleculesPerTask - 1) / kMoleculesPerTask);
  std::vector<DataHandle> sums;
  for (std::size_t part = 0; part < parts; ++part) {
    sums.push_back(DataHandle::temporary<double>(VIRIAL_SUMS));
    const auto [first, last] = data.molecule_range(part, parts);
    codelets::pair_virial<Real>(
        constants, first, last,
        {data.topology_reals.get(), data.topology_integers.get(), data.lattice.get(),
         sums.back().get(), solute.solute, solute.exact_blocks, solute.exact_points,
         solute.exact_points == nullptr ? 0 : data.exact_density->blocks().block_count()});
  }
  return sums;
}

template <class Real>
VirialTerms PairVirial<Real>::collect(const std::vector<DataHandle>& sums) {
  std::array<double, VIRIAL_SUMS> totals{};
  for (const DataHandle& part : sums) {
    const HostAccess<double> access(part, STARPU_R);
    for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += access.data()[i];
  }
  const std::span<const double> all(totals);
  return {EnergyTerms::of(all.first<TERMS>()), EnergyTerms::of(all.last<TERMS>())};
}

template class PairVirial<double>;
template class PairVirial<float>;
template class PairVirial<FixedCoordinate>;

}  // namespace starpmc
