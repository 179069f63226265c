#include "sampling/solute_energies.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "kernels/with_precision.hpp"
#include "sampling/chain_state.hpp"
#include "sampling/placed_candidate.hpp"
#include "sampling/reference_virial.hpp"

namespace starpmc {
namespace {

/// Molecules evaluated together, of one frame or of several: each task costs StarPU as much as some
/// hundred of them.
constexpr std::size_t kMoleculesAtOnce = 2048;

/// Nothing is decided here, and no pressure asked for.
Settings settings_of_energies(Settings settings) {
  settings.sampling.certified = false;
  settings.output.pressure_interval = 0;
  return settings;
}

/// Frames whose molecules, one frame behind the other, are evaluated batch by batch.
template <class Real>
class Evaluation {
 public:
  Evaluation(System& system, const ChainData<Real>& chain,
             std::span<const std::vector<Molecule>> frames)
      : system_(system), chain_(chain), frames_(frames), totals_(frames.size()) {
    if (chain.components() == 0) return;
    std::vector<std::int64_t> none;
    for (const std::int64_t mean : chain.reference->mean_response()) none.push_back(-mean);
    responses_.assign(frames.size(), none);
  }

  std::size_t molecules() const { return frames_.size() * chain_.molecules(); }

  /// Molecules [first, first + count) as a window's candidates.
  void load(const WindowBuffers<Real>& window, std::size_t first, std::size_t count) {
    const HostAccess<int> plan(window.plan, STARPU_W);
    const HostAccess<double> entries(window.entries, STARPU_W);
    const Topology topology = chain_.topology.view();
    plan.data()[PLAN_STEPS] = plan.data()[PLAN_CANDIDATES] = static_cast<int>(count);
    plan.data()[PLAN_STARTS] = 0;
    for (std::size_t i = 0; i < count; ++i) {
      place(first + i);
      place_candidate(topology, window.layout, static_cast<int>(i),
                      static_cast<int>((first + i) % chain_.molecules()), lattice_, chain_.stride(),
                      plan.data(), entries.data());
    }
  }

  void submit(const WindowBuffers<Real>& window, std::size_t count) const {
    const int candidates = static_cast<int>(count);
    const auto arguments = chain_.arguments(window.layout, {candidates, candidates, 0});
    const auto handles = chain_.handles(window);
    codelets::reference_field<Real>(handles, arguments, chain_.reference_lattices(),
                                    chain_.reference_handles(), window.grid_energies.get(),
                                    window.responses.get());
    if (!chain_.has_static_terms()) return;
    codelets::qmmm_nuclei_vdw<Real>(handles, arguments, chain_.topology.nuclei, chain_.solute.get(),
                                    window.nuclei_energies.get());
  }

  /// In the molecules' order, so that sums have the same bits however batches are cut.
  void collect(const WindowBuffers<Real>& window, std::size_t first, std::size_t count) {
    if (chain_.has_static_terms()) {
      add_fields(window.nuclei_energies, 0, STATIC_TERMS, first, count);
    }
    add_fields(window.grid_energies, STATIC_TERMS, FIELDS, first, count);
    if (chain_.components() == 0) return;
    const auto components = static_cast<std::size_t>(chain_.components());
    const HostAccess<int> response(window.responses, STARPU_R);
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<std::int64_t>& total = responses_[(first + i) / chain_.molecules()];
      for (std::size_t k = 0; k < components; ++k) total[k] += response.data()[i * components + k];
    }
  }

  std::vector<EnergyTerms> energies() {
    std::vector<EnergyTerms> found;
    for (std::size_t frame = 0; frame < frames_.size(); ++frame) {
      if (chain_.components() > 0) {
        totals_[frame][TERM_QMMM_POLARISATION] = polarisation_energy(responses_[frame]);
      }
      found.push_back(EnergyTerms::of(totals_[frame]));
    }
    return found;
  }

 private:
  /// Has the lattice of this molecule's frame at hand.
  void place(std::size_t molecule) {
    const std::size_t frame = molecule / chain_.molecules();
    if (placed_ == frame) return;
    placed_ = frame;
    system_.molecules = frames_[frame];
    lattice_ = make_lattice(system_, chain_.topology.shape);
  }

  void add_fields(const DataHandle& handle, std::size_t begin, std::size_t end, std::size_t first,
                  std::size_t count) {
    const HostAccess<double> energies(handle, STARPU_R);
    for (std::size_t field = begin; field < end; ++field) {
      for (std::size_t i = 0; i < count; ++i) {
        totals_[(first + i) / chain_.molecules()][MM_TERMS + field] +=
            energies.data()[(field - begin) * kMoleculesAtOnce + i];
      }
    }
  }

  System& system_;
  const ChainData<Real>& chain_;
  std::span<const std::vector<Molecule>> frames_;
  std::vector<std::array<double, TERMS>> totals_;
  std::vector<std::vector<std::int64_t>> responses_;  ///< of each frame, less the mean
  std::size_t placed_ = SIZE_MAX;                     ///< frame that lattice_ is of
  std::vector<double> lattice_;
};

template <class Real>
class SoluteEnergiesOf : public SoluteEnergies {
 public:
  SoluteEnergiesOf(const System& system, const Settings& settings,
                   std::shared_ptr<const ReferenceTables> reference)
      : system_(system), chain_(system, settings) {
    chain_.set_reference(std::move(reference));
    constexpr int kCandidates = static_cast<int>(kMoleculesAtOnce);
    for (auto& window : windows_) {
      window.emplace(WindowLayout{kCandidates, kCandidates, chain_.topology.shape.sites,
                                  chain_.topology.shape.padded_molecules},
                     1);
      window->set_components(chain_.components());
    }
  }

  std::vector<EnergyTerms> of(std::span<const std::vector<Molecule>> frames) override {
    Evaluation<Real> evaluation(system_, chain_, frames);
    struct Batch {
      const WindowBuffers<Real>* window;
      std::size_t first;
      std::size_t count;
    };
    std::optional<Batch> under_way;
    const auto collect = [&] {
      if (under_way) evaluation.collect(*under_way->window, under_way->first, under_way->count);
    };
    for (std::size_t first = 0; first < evaluation.molecules(); first += kMoleculesAtOnce) {
      const WindowBuffers<Real>& window = *windows_.at(first / kMoleculesAtOnce % 2);
      const std::size_t count = std::min(kMoleculesAtOnce, evaluation.molecules() - first);
      evaluation.load(window, first, count);
      evaluation.submit(window, count);
      collect();
      under_way = Batch{&window, first, count};
    }
    collect();
    return evaluation.energies();
  }

 private:
  System system_;
  ChainData<Real> chain_;
  /// One is computed while the other is filled or read.
  std::array<std::optional<WindowBuffers<Real>>, 2> windows_;
};

}  // namespace

std::unique_ptr<SoluteEnergies> make_solute_energies(
    const System& system, const Settings& settings,
    std::shared_ptr<const ReferenceTables> reference) {
  return with_precision(settings.run.precision,
                        [&]<class Real>() -> std::unique_ptr<SoluteEnergies> {
                          return std::make_unique<SoluteEnergiesOf<Real>>(
                              system, settings_of_energies(settings), std::move(reference));
                        });
}

}  // namespace starpmc
