#include "sampling/density_update.hpp"

#include <optional>

#include "kernels/all_precisions.hpp"
#include "kernels/exact_points.hpp"
#include "qm/shared_device.hpp"
#include "runtime/resting_workers.hpp"
#include "sampling/task_sizes.hpp"
#include "system/system.hpp"

namespace starpmc {
namespace {

/// Charges of the MM sites, each molecule in the image nearest the solute's centre.
PointCharges point_charges(const TopologyBuffers& topology, std::span<const Molecule> molecules) {
  const auto nuclei = static_cast<std::size_t>(topology.nuclei);
  Vector3 centre;
  for (std::size_t i = 0; i < nuclei; ++i) {
    centre =
        centre + (1.0 / topology.nuclei) * Vector3{topology.solute[i], topology.solute[nuclei + i],
                                                   topology.solute[2 * nuclei + i]};
  }
  const Box box{
      {topology.interaction.box[0], topology.interaction.box[1], topology.interaction.box[2]}};
  const Topology view = topology.view();
  PointCharges charges{{}, {}, coulomb_pole(topology.functions.get()), box.lengths};
  for (const Molecule& molecule : molecules) {
    const Vector3 place = centre + box.minimum_image(molecule.centre - centre);
    const int type = static_cast<int>(molecule.type);
    for (int site = 0; site < view.site_count(type); ++site) {
      const double* const reference = view.site(type, site);
      if (reference[3] == 0) continue;
      charges.positions.push_back(
          place + rotate(molecule.orientation, {reference[0], reference[1], reference[2]}));
      charges.charges.push_back(reference[3]);
    }
  }
  return charges;
}

}  // namespace

template <class Real>
DensityUpdate<Real>::DensityUpdate(ChainData<Real>& data, QmEngine& engine, unsigned chains_here)
    : data_(data), engine_(engine), alone_(chains_here == 1) {
  const DensityGrid& quadrature = engine.quadrature_points();
  quadrature_points_ = quadrature.x.size();
  std::vector<double> x = quadrature.x;
  std::vector<double> y = quadrature.y;
  std::vector<double> z = quadrature.z;
  const auto nuclei = static_cast<std::ptrdiff_t>(data.topology.nuclei);
  const auto solute = data.topology.solute.begin();
  x.insert(x.end(), solute, solute + nuclei);
  y.insert(y.end(), solute + nuclei, solute + 2 * nuclei);
  z.insert(z.end(), solute + 2 * nuclei, solute + 3 * nuclei);
  const CompactBlocks<double> blocks =
      make_compact_blocks<double>(x, y, z, {}, {}, data.topology.interaction.box);
  slot_of_point_ = blocks.slot_of_point;
  const auto molecules = static_cast<double>(data.molecules());
  const std::size_t parts = task_parts(
      {codelets::codelet_name<Real>("grid_potential"),
       codelets::Work::grid_potential(molecules, static_cast<double>(blocks.block_count())),
       static_cast<double>(x.size()) * molecules * data.topology.shape.sites},
      chains_here);
  points_ =
      std::make_unique<BlockedPoints<double>>(make_exact_points(blocks, x, y, z, {}, {}), parts);
  for (const auto& part : points_->parts()) {
    potential_.push_back(DataHandle::temporary<double>(part.blocks * STARPMC_BLOCK_POINTS));
  }
}

template <class Real>
void DensityUpdate<Real>::submit_potential() {
  const WindowLayout layout{1, 1, data_.topology.shape.sites,
                            data_.topology.shape.padded_molecules};
  for (std::size_t i = 0; i < potential_.size(); ++i) {
    const auto& part = points_->parts()[i];
    codelets::grid_potential<Real>(data_.arguments(layout, {}), data_.topology_reals.get(),
                                   data_.topology_integers.get(), data_.lattice.get(), part.blocks,
                                   part.headers.get(), part.points.get(), potential_[i].get());
  }
}

template <class Real>
void DensityUpdate<Real>::update(std::span<const std::span<const double>> parts) {
  std::vector<double> sorted;
  for (const auto& part : parts) sorted.insert(sorted.end(), part.begin(), part.end());
  std::vector<double> potential;
  for (const std::uint32_t slot : slot_of_point_) {
    potential.push_back(sorted[slot]);
  }
  const std::span<const double> all(potential);
  std::optional<PausedWorkers> paused;
  if (alone_) paused.emplace();
  result_ =
      engine_.update(all.first(quadrature_points_), all.subspan(quadrature_points_), charges_);
}

template <class Real>
void DensityUpdate<Real>::update_here() {
  std::vector<std::unique_ptr<HostAccess<double>>> accesses;
  std::vector<std::span<const double>> parts;
  for (const DataHandle& part : potential_) {
    accesses.push_back(std::make_unique<HostAccess<double>>(part, STARPU_R));
    parts.push_back(accesses.back()->data());
  }
  update(parts);
}

template <class Real>
QmResult DensityUpdate<Real>::run(std::span<const Molecule> molecules) {
  charges_ = point_charges(data_.topology, molecules);
  submit_potential();
  if (starpu_cpu_worker_get_count() == 0) {
    update_here();
    return std::move(result_);
  }
  // An engine's failure is this chain's, not the run's.
  const auto body = [](void* self, std::span<const std::span<const double>> parts) {
    auto& update = *static_cast<DensityUpdate*>(self);
    try {
      codelets::throw_if_failed();  // of another task: the potential may be anything
      update.update(parts);
    } catch (...) {
      update.error_ = std::current_exception();
    }
  };
  error_ = nullptr;
  // From here on a worker is taken: not while its own tasks still have to be made.
  for (const DataHandle& part : potential_) const HostAccess<double> ready(part, STARPU_R);
  codelets::qm_update(body, this, static_cast<double>(quadrature_points_), is_gpu(engine_.device()),
                      raw_handles(potential_));
  // Writing waits for the task that reads.
  const HostAccess<double> done(potential_.front(), STARPU_RW);
  if (error_ != nullptr) std::rethrow_exception(error_);
  return std::move(result_);
}

STARPMC_CLASS_FOR_ALL_PRECISIONS(class DensityUpdate)

}  // namespace starpmc
