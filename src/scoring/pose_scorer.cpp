#include "scoring/pose_scorer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <vector>

#include "codelets/operations.hpp"
#include "kernels/base/error.hpp"
#include "runtime/data_handle.hpp"

namespace starpmc {
namespace {

/// Tasks on their way for each worker: enough that none waits for the host.
constexpr std::size_t kTasksAheadPerWorker = 4;

/// LIGAND_FIELDS arrays of kernels/common/poses.h.
std::vector<double> ligand_values(const ReceptorSites& ligand, double permittivity) {
  std::vector<double> values;
  for (const double charge : ligand.charge) {
    values.push_back(charge * STARPMC_COULOMB_CONSTANT / permittivity);
  }
  values.insert(values.end(), ligand.radius.begin(), ligand.radius.end());
  values.insert(values.end(), ligand.root.begin(), ligand.root.end());
  return values;
}

/// The receptor in main memory, and a handle for each tile of it.
template <class Real>
class ReceptorTiles {
 public:
  ReceptorTiles(ReceptorBlocks<Real> blocks, std::size_t fields, std::size_t blocks_per_tile)
      : blocks_(std::move(blocks)) {
    const std::size_t values = fields * STARPMC_BLOCK_POINTS;
    for (std::size_t first = 0; first < blocks_.block_count(); first += blocks_per_tile) {
      const std::size_t count = std::min(blocks_per_tile, blocks_.block_count() - first);
      const std::span<double> headers =
          std::span(blocks_.blocks)
              .subspan(first * RECEPTOR_BLOCK_FIELDS, count * RECEPTOR_BLOCK_FIELDS);
      double sites = 0;
      for (std::size_t block = 0; block < count; ++block) {
        sites += headers[block * RECEPTOR_BLOCK_FIELDS + RECEPTOR_BLOCK_SITES];
      }
      tiles_.push_back(
          {DataHandle::of(headers),
           DataHandle::of(std::span(blocks_.sites).subspan(first * values, count * values)),
           static_cast<int>(count), sites});
    }
  }

  struct Tile {
    DataHandle headers;
    DataHandle sites;
    int blocks;
    double site_count;
  };
  const std::vector<Tile>& tiles() const { return tiles_; }

 private:
  ReceptorBlocks<Real> blocks_;
  std::vector<Tile> tiles_;
};

/// The receptor's extent along an axis: fixed-point coordinates reach only so far.
class AxisExtent {
 public:
  explicit AxisExtent(std::span<const double> receptor) {
    const auto [low, high] = std::ranges::minmax(receptor);
    low_ = low;
    high_ = high;
  }
  /// @throws InputError if sites of the pose are too far from some of the receptor
  void check(std::span<const double> pose, std::uint64_t number) const {
    const auto [low, high] = std::ranges::minmax(pose);
    const double extent = std::max(high_, high) - std::min(low_, low);
    if (extent <= STARPMC_LARGEST_FIXED_EXTENT) return;
    throw InputError(
        fmt::format("pose {}", number + 1), "its sites and the receptor's are too far apart",
        fmt::format("{:.6g} A along an axis", extent),
        fmt::format("fixed-point coordinates reach {} A; choose --precision mixed or fp64",
                    STARPMC_LARGEST_FIXED_EXTENT));
  }

 private:
  double low_ = 0;
  double high_ = 0;
};

/// Poses of one task, their energies, and those with each tile.
struct Batch {
  Batch(std::size_t poses, std::size_t sites, std::size_t tiles)
      : positions(poses * static_cast<std::size_t>(pose_size(static_cast<int>(sites)))),
        energies(poses * POSE_TERMS),
        positions_handle(DataHandle::of(std::span(positions))),
        energies_handle(DataHandle::of(std::span(energies))) {
    for (std::size_t level = tiles; level > 1;) {
      for (std::size_t i = 0; i < level; ++i) {
        partials.push_back(DataHandle::temporary<double>(energies.size()));
      }
      level = (level + STARPMC_MOST_PARTIALS - 1) / STARPMC_MOST_PARTIALS;
    }
  }

  std::vector<double> positions;
  std::vector<double> energies;
  DataHandle positions_handle;
  DataHandle energies_handle;
  std::vector<DataHandle> partials;  ///< of each tile, then of each group of them, and so on
  int count = 0;                     ///< poses submitted
};

template <class Real>
class Scorer : public PoseScorer {
 public:
  Scorer(const ReceptorSites& receptor, const ReceptorSites& ligand,
         const ScoringFunction& function, const ScorerSettings& settings, Listener listener)
      : interaction_(function.interaction),
        sites_(ligand.size()),
        pairs_(static_cast<double>(ligand.size()) * static_cast<double>(receptor.size())),
        listener_(std::move(listener)),
        ligand_(ligand_values(ligand, function.permittivity)),
        plan_(plan_tasks(request(receptor.size(), settings))),
        tiles_(make_receptor_blocks<Real>(receptor, interaction_), fields(), plan_.blocks_per_tile),
        ligand_handle_(DataHandle::of(std::span(ligand_))),
        extents_{AxisExtent(receptor.x), AxisExtent(receptor.y), AxisExtent(receptor.z)} {
    const std::size_t tasks = kTasksAheadPerWorker * starpu_worker_get_count();
    most_batches_ = std::max<std::size_t>(2, tasks / plan_.tiles + 1);
    waiting_.reserve(plan_.poses * static_cast<std::size_t>(pose_size(static_cast<int>(sites_))));
  }

  void add(std::span<const Vector3> positions) override {
    std::vector<double>& x = axes_[0];
    std::vector<double>& y = axes_[1];
    std::vector<double>& z = axes_[2];
    for (auto& axis : axes_) axis.clear();
    for (const Vector3& r : positions) {
      x.push_back(r.x);
      y.push_back(r.y);
      z.push_back(r.z);
    }
    const auto size = static_cast<std::size_t>(pose_size(static_cast<int>(sites_)));
    waiting_.resize(waiting_.size() + size);
    write_pose(x, y, z, std::span(waiting_).last(size));
    if constexpr (kPrecisionOf<Real> == Precision::fixed) {
      for (std::size_t axis = 0; axis < 3; ++axis) extents_[axis].check(axes_[axis], added_);
    }
    ++added_;
    if (waiting_.size() >= plan_.poses * size) submit();
  }

  void finish() override {
    if (!waiting_.empty()) submit();
    while (!busy_.empty()) collect();
  }

  const TaskPlan& plan() const override { return plan_; }
  double pairs() const override { return pairs_; }

 private:
  std::size_t fields() const { return static_cast<std::size_t>(receptor_fields(interaction_)); }

  PlanRequest request(std::size_t receptor_sites, const ScorerSettings& settings) const {
    PlanRequest wanted;
    wanted.task_memory_bytes = settings.task_memory_bytes;
    wanted.granularity = settings.granularity;
    wanted.poses_expected = settings.poses_expected;
    wanted.ligand_sites = sites_;
    wanted.receptor_sites = receptor_sites;
    wanted.receptor_blocks = (receptor_sites + STARPMC_BLOCK_POINTS - 1) / STARPMC_BLOCK_POINTS;
    wanted.block_bytes =
        fields() * STARPMC_BLOCK_POINTS * sizeof(Real) + RECEPTOR_BLOCK_FIELDS * sizeof(double);
    wanted.model = codelets::pose_energies_model<Real>(interaction_);
    return wanted;
  }

  void submit() {
    if (busy_.size() >= most_batches_) collect();
    if (idle_.empty()) {
      idle_.push_back(std::make_unique<Batch>(plan_.poses, sites_, plan_.tiles));
    }
    std::unique_ptr<Batch> batch = std::move(idle_.back());
    idle_.pop_back();
    {
      const HostAccess<double> access(batch->positions_handle, STARPU_W);
      std::ranges::copy(waiting_, access.data().begin());
    }
    batch->count = static_cast<int>(waiting_.size() /
                                    static_cast<std::size_t>(pose_size(static_cast<int>(sites_))));
    waiting_.clear();
    submit_tasks(*batch);
    busy_.push_back(std::move(batch));
  }

  void submit_tasks(const Batch& batch) {
    std::vector<starpu_data_handle_t> parts;
    const auto& tiles = tiles_.tiles();
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      parts.push_back((tiles.size() == 1 ? batch.energies_handle : batch.partials[i]).get());
      const double pairs =
          static_cast<double>(sites_) * tiles[i].site_count * static_cast<double>(batch.count);
      codelets::pose_energies<Real>(interaction_,
                                    {static_cast<int>(sites_), batch.count, tiles[i].blocks}, pairs,
                                    {ligand_handle_.get(), batch.positions_handle.get(),
                                     tiles[i].headers.get(), tiles[i].sites.get()},
                                    parts.back());
    }
    std::size_t next = tiles.size();
    while (parts.size() > 1) {
      std::vector<starpu_data_handle_t> sums;
      const bool last = parts.size() <= STARPMC_MOST_PARTIALS;
      for (std::size_t first = 0; first < parts.size(); first += STARPMC_MOST_PARTIALS) {
        sums.push_back((last ? batch.energies_handle : batch.partials[next++]).get());
        const std::span<const starpu_data_handle_t> all(parts);
        codelets::pose_energies_reduce<Real>(
            batch.count,
            all.subspan(first, std::min<std::size_t>(STARPMC_MOST_PARTIALS, all.size() - first)),
            sums.back());
      }
      parts = std::move(sums);
    }
  }

  /// Hands on the results of the oldest batch.
  void collect() {
    std::unique_ptr<Batch> batch = std::move(busy_.front());
    busy_.pop_front();
    {
      const HostAccess<double> access(batch->energies_handle, STARPU_R);
      for (int i = 0; i < batch->count; ++i) {
        const auto value = [&](int term) {
          return access.data()[static_cast<std::size_t>(term * batch->count + i)];
        };
        const double closest = value(POSE_CLOSEST);
        const double cutoff = interaction_.cutoff == 0 ? STARPMC_NOTHING_SEEN
                                                       : interaction_.cutoff * interaction_.cutoff;
        listener_(next_pose_++, {value(POSE_COULOMB), value(POSE_VDW),
                                 closest < cutoff ? std::sqrt(closest) : std::nan("")});
      }
    }
    idle_.push_back(std::move(batch));
  }

  PoseInteraction interaction_;
  std::size_t sites_;
  double pairs_;
  Listener listener_;
  std::vector<double> ligand_;
  TaskPlan plan_;
  ReceptorTiles<Real> tiles_;
  DataHandle ligand_handle_;
  std::size_t most_batches_;
  std::array<std::vector<double>, 3> axes_;
  std::vector<double> waiting_;  ///< poses of the next task
  std::deque<std::unique_ptr<Batch>> busy_;
  std::vector<std::unique_ptr<Batch>> idle_;
  std::uint64_t next_pose_ = 0;
  std::array<AxisExtent, 3> extents_;
  std::uint64_t added_ = 0;
};

}  // namespace

std::unique_ptr<PoseScorer> make_pose_scorer(const ReceptorSites& receptor,
                                             const ReceptorSites& ligand,
                                             const ScoringFunction& function, Precision precision,
                                             const ScorerSettings& settings,
                                             PoseScorer::Listener listener) {
  if (precision == Precision::fp64) {
    return std::make_unique<Scorer<double>>(receptor, ligand, function, settings,
                                            std::move(listener));
  }
  if (precision == Precision::fixed) {
    return std::make_unique<Scorer<FixedCoordinate>>(receptor, ligand, function, settings,
                                                     std::move(listener));
  }
  return std::make_unique<Scorer<float>>(receptor, ligand, function, settings, std::move(listener));
}

}  // namespace starpmc
