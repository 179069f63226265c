#include "sampling/pair_virial.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "kernels/all_precisions.hpp"
#include "potential/pair_potential.hpp"
#include "sampling/reference_virial.hpp"
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

/// A copy has the bits of what it is of.
std::vector<std::int64_t> whole_numbers(const HostCopy& copy) {
  const std::span<const double> bits = copy.data();
  std::vector<std::int64_t> numbers(bits.size());
  static_assert(sizeof(std::int64_t) == sizeof(double));
  std::memcpy(numbers.data(), bits.data(), bits.size_bytes());
  return numbers;
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
PendingVirial PairVirial<Real>::submit(const ChainData<Real>& data, WithDensity density) const {
  codelets::PairVirialConstants constants = constants_;
  constants.functions = &functions_;
  codelets::CertificationHandles solute = data.certification_handles();
  if (density == WithDensity::no) solute.exact_blocks = solute.exact_points = nullptr;
  const std::size_t parts =
      std::max<std::size_t>(1, (data.molecules() + kMoleculesPerTask - 1) / kMoleculesPerTask);
  PendingVirial pending;
  std::vector<DataHandle>& sums = pending.sums;
  for (std::size_t part = 0; part < parts; ++part) {
    sums.push_back(DataHandle::temporary<double>(VIRIAL_SUMS));
    const auto [first, last] = data.molecule_range(part, parts);
    codelets::pair_virial<Real>(
        constants, first, last,
        {data.topology_reals.get(), data.topology_integers.get(), data.lattice.get(),
         sums.back().get(), solute.solute, solute.exact_blocks, solute.exact_points,
         solute.exact_points == nullptr ? 0 : data.exact_density->blocks().block_count()});
  }
  if (data.reference != nullptr && density == WithDensity::yes) {
    pending.lattice = std::make_unique<HostCopy>(data.lattice);
    if (data.components() > 0) {
      pending.response_total = std::make_unique<HostCopy>(data.response_total);
    }
  }
  return pending;
}

template <class Real>
VirialTerms PairVirial<Real>::collect(const ChainData<Real>& data,
                                      const PendingVirial& pending) const {
  std::array<double, VIRIAL_SUMS> totals{};
  for (const DataHandle& part : pending.sums) {
    const HostAccess<double> access(part, STARPU_R);
    for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += access.data()[i];
  }
  const std::span<const double> all(totals);
  VirialTerms terms{EnergyTerms::of(all.first<TERMS>()), EnergyTerms::of(all.last<TERMS>())};
  if (pending.lattice == nullptr) return terms;
  const double* const centre = constants_.solute_centre;
  const VirialTerms of_reference =
      reference_virial(*data.reference, data.topology.view(), pending.lattice->data(),
                       pending.response_total == nullptr ? std::vector<std::int64_t>()
                                                         : whole_numbers(*pending.response_total),
                       {centre[0], centre[1], centre[2]});
  return {terms.energies + of_reference.energies, terms.virials + of_reference.virials};
}

STARPMC_CLASS_FOR_ALL_PRECISIONS(class PairVirial)

}  // namespace starpmc
