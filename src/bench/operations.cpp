#include "bench/operations.hpp"
#include "kernels/all_precisions.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace starpmc {
namespace {

/// About `most` points, spread evenly over a grid.
DensityGrid thinned(const DensityGrid& grid, double most) {
  DensityGrid few;
  const std::size_t stride =
      static_cast<std::size_t>(std::max(1.0, static_cast<double>(grid.size()) / most));
  for (std::size_t i = 0; i < grid.size(); i += stride) {
    few.x.push_back(grid.x[i]);
    few.y.push_back(grid.y[i]);
    few.z.push_back(grid.z[i]);
    few.charge.push_back(grid.charge[i]);
    if (!grid.extent.empty()) few.extent.push_back(grid.extent[i]);
  }
  return few;
}

/// Points for grid_potential, the same in every precision.
std::unique_ptr<BlockedPoints<double>> make_potential_points(const DensityGrid& grid,
                                                             std::span<const double, 3> box) {
  if (grid.size() == 0) return nullptr;
  const auto blocks = make_compact_blocks<double>(grid.x, grid.y, grid.z, {}, {}, box);
  return std::make_unique<BlockedPoints<double>>(
      make_exact_points(blocks, grid.x, grid.y, grid.z, {}, {}), 1);
}

/// Single operations are not certified: only decisions are.
Settings uncertified(Settings settings) {
  settings.sampling.certified = false;
  return settings;
}

}  // namespace

template <class Real>
BenchData<Real>::BenchData(const BenchSystem& system)
    : bench(system), chain(system.system, uncertified(system.settings)) {
  chain.set_density(bench.grid, 1);
}

template <class Real>
BenchWindows<Real>::BenchWindows(BenchData<Real>& data, const TaskExtent& extent,
                                 std::size_t windows)
    : data_(data) {
  const double charges = charged_sites_of_lattice(data.chain.topology.view());
  if constexpr (kPrecisionOf<Real> == Precision::fp64) {
    potential_points_ =
        make_potential_points(thinned(data.bench.grid, extent.potential_pairs / charges),
                              data.chain.topology.interaction.box);
  }
  windows_.reserve(windows);
  for (PlannedWindow& planned : plan_windows(
           data.chain.topology.shape, data.bench.settings.sampling.seed, extent.steps, windows)) {
    windows_.push_back(prepare(std::move(planned)));
  }
  for (const BenchOperation& operation : operations()) {
    for (std::size_t i = 0; i < windows_.size(); ++i) operation.submit(i);
  }
}

template <class Real>
typename BenchWindows<Real>::Prepared BenchWindows<Real>::prepare(PlannedWindow planned) const {
  const ChainData<Real>& chain = data_.chain;
  WindowBuffers<Real> buffers(planned.layout, 1);
  Prepared window{std::move(planned), std::move(buffers), {}, {}, {}};
  window.arguments = chain.arguments(window.planned.layout, window.planned.extent);
  window.buffers.set_grid_parts(chain.density == nullptr ? 0 : 1);
  window.handles = chain.handles(window.buffers);
  if (potential_points_ != nullptr) {
    window.potential = DataHandle::temporary<double>(potential_points_->blocks().block_count() *
                                                     STARPMC_BLOCK_POINTS);
  }
  return window;
}

template <class Real>
double BenchWindows<Real>::steps_per_window() const {
  return mean([](const PlannedWindow& planned) { return planned.range.steps; });
}

template <class Real>
template <class Count>
double BenchWindows<Real>::mean(Count count) const {
  double sum = 0;
  for (const Prepared& window : windows_) sum += count(window.planned);
  return sum / static_cast<double>(windows_.size());
}

template <class Real>
std::vector<BenchOperation> BenchWindows<Real>::operations() const {
  std::vector<BenchOperation> operations;
  operations.push_back({"propose_moves", OperationGroup::other, 0, [this](std::size_t i) {
                          const Prepared& w = windows_[i];
                          codelets::propose_moves<Real>(w.handles, w.arguments, w.planned.range,
                                                        data_.chain.chain_state.get(),
                                                        data_.chain.lattice.get(),
                                                        w.buffers.outside.get());
                        }});
  if (data_.chain.density != nullptr) add_grid_operations(operations);
  if (data_.chain.has_static_terms()) add_field_operations(operations);
  add_mm_operations(operations);
  return operations;
}

template <class Real>
void BenchWindows<Real>::add_grid_operations(std::vector<BenchOperation>& operations) const {
  const ChainData<Real>& chain = data_.chain;
  const auto points = static_cast<double>(chain.density->blocks().slot_of_point.size());
  const Topology topology = chain.topology.view();
  const double pairs =
      points * mean([&](const PlannedWindow& p) { return p.charged_sites(topology); });
  operations.push_back({"qmmm_coulomb_grid", OperationGroup::grid, pairs, [this](std::size_t i) {
                          const Prepared& w = windows_[i];
                          const auto& part = data_.chain.density->parts().front();
                          codelets::qmmm_coulomb_grid<Real>(w.handles, w.arguments, part.blocks,
                                                            part.headers.get(), part.points.get(),
                                                            w.buffers.grid_partials.front().get());
                        }});
  operations.push_back(
      {"qmmm_coulomb_grid_reduce", OperationGroup::other, 0, [this](std::size_t i) {
         const Prepared& w = windows_[i];
         codelets::qmmm_coulomb_grid_reduce<Real>(w.arguments, raw_handles(w.buffers.grid_partials),
                                                  w.buffers.grid_energies.get());
       }});
}

template <class Real>
void BenchWindows<Real>::add_field_operations(std::vector<BenchOperation>& operations) const {
  const ChainData<Real>& chain = data_.chain;
  const Topology topology = chain.topology.view();
  const double nuclei_pairs =
      chain.topology.nuclei * topology.shape.sites *
      mean([](const PlannedWindow& planned) { return planned.extent.candidates; });
  operations.push_back(
      {"qmmm_nuclei_vdw", OperationGroup::other, nuclei_pairs, [this](std::size_t i) {
         const Prepared& w = windows_[i];
         codelets::qmmm_nuclei_vdw<Real>(w.handles, w.arguments, data_.chain.topology.nuclei,
                                         data_.chain.solute.get(), w.buffers.nuclei_energies.get());
       }});
  if (potential_points_ == nullptr) return;
  const double potential_pairs =
      charged_sites_of_lattice(topology) *
      static_cast<double>(potential_points_->blocks().block_count() * STARPMC_BLOCK_POINTS);
  operations.push_back(
      {"grid_potential", OperationGroup::other, potential_pairs, [this](std::size_t i) {
         const Prepared& w = windows_[i];
         const auto& part = potential_points_->parts().front();
         const ChainData<Real>& c = data_.chain;
         codelets::grid_potential<Real>(w.arguments, c.topology_reals.get(),
                                        c.topology_integers.get(), c.lattice.get(), part.blocks,
                                        part.headers.get(), part.points.get(), w.potential.get());
       }});
}

template <class Real>
void BenchWindows<Real>::add_mm_operations(std::vector<BenchOperation>& operations) const {
  const TopologyShape& shape = data_.chain.topology.shape;
  const double outside = mean([&](const PlannedWindow& p) { return p.outside_pairs(shape); });
  const double table = mean([&](const PlannedWindow& p) { return p.table_pairs(shape); });
  operations.push_back({"mm_pair", OperationGroup::mm, outside, [this](std::size_t i) {
                          const Prepared& w = windows_[i];
                          const ChainData<Real>& c = data_.chain;
                          codelets::mm_pair<Real>(w.handles, w.arguments, 0,
                                                  c.topology.shape.molecules, c.lattice.get(),
                                                  c.lattice_sites.get(), w.buffers.outside.get(),
                                                  w.buffers.mm_partials.front().get());
                        }});
  operations.push_back({"mm_pair_table", OperationGroup::mm, table, [this](std::size_t i) {
                          const Prepared& w = windows_[i];
                          codelets::mm_pair_table<Real>(w.handles, w.arguments,
                                                        w.buffers.table.get());
                        }});
  operations.push_back({"mm_pair_reduce", OperationGroup::mm, 0, [this](std::size_t i) {
                          const Prepared& w = windows_[i];
                          codelets::mm_pair_reduce<Real>(
                              w.handles, w.arguments, raw_handles(w.buffers.mm_partials),
                              w.buffers.table.get(), w.buffers.mm_energies.get());
                        }});
}

template <class Real>
std::vector<double> BenchWindows<Real>::energies() const {
  for (const BenchOperation& operation : operations()) operation.submit(0);
  const Prepared& w = windows_.front();
  std::vector<double> all;
  const auto add = [&](const DataHandle& handle, std::size_t first, int count) {
    const HostAccess<double> access(handle, STARPU_R);
    std::ranges::copy(access.data().subspan(first, static_cast<std::size_t>(count)),
                      std::back_inserter(all));
  };
  const opencl::WindowExtent& extent = w.planned.extent;
  for (std::size_t term = 0; term < MM_TERMS; ++term) {
    const std::size_t mm = term * w.buffers.rows();
    add(w.buffers.mm_energies, mm, extent.candidates);
    add(w.buffers.mm_energies, mm + w.buffers.candidates(), extent.starts);
  }
  for (std::size_t field = 0; data_.chain.has_static_terms() && field < STATIC_TERMS; ++field) {
    add(w.buffers.nuclei_energies, field * w.buffers.candidates(), extent.candidates);
  }
  if (data_.chain.density != nullptr) add(w.buffers.grid_energies, 0, extent.candidates);
  codelets::throw_if_failed();
  return all;
}

template <class Real>
double BenchWindows<Real>::share_within_reach() const {
  if (data_.chain.density == nullptr) return 0;
  const Prepared& w = windows_.front();
  const HostAccess<double> entries(w.buffers.entries, STARPU_R);
  const Topology topology = data_.chain.topology.view();
  const Interaction& interaction = data_.chain.topology.interaction;
  const Window window{w.planned.layout, interaction, topology, w.planned.plan, entries.data()};
  const auto& headers = data_.chain.density->blocks().blocks;
  double reached = 0;
  double all = 0;
  for (int candidate = 0; candidate < window.candidates(); ++candidate) {
    const int type = topology.type_of(window.molecule_of_candidate(candidate));
    for (int site = 0; site < topology.site_count(type); ++site) {
      if (topology.site(type, site)[3] == 0) continue;
      for (std::size_t block = 0; block < headers.size(); block += BLOCK_FIELDS) {
        double squared = 0;
        for (int k = 0; k < 3; ++k) {
          const double place = window.field(POSE_X + k, candidate) +
                               window.field(POSE_FIELDS + 3 * site + k, candidate);
          const double d = place - headers[block + static_cast<std::size_t>(k)];
          const double image = d - interaction.box[k] * std::rint(d / interaction.box[k]);
          squared += image * image;
        }
        const double reach = interaction.coulomb_cutoff + headers[block + BLOCK_RADIUS];
        reached += squared < reach * reach ? 1 : 0;
        all += 1;
      }
    }
  }
  return reached / all;
}

STARPMC_CLASS_FOR_ALL_PRECISIONS(struct BenchData)
STARPMC_CLASS_FOR_ALL_PRECISIONS(class BenchWindows)

}  // namespace starpmc
