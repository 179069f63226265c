#include "sampling/chain_state.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "io/binary_json.hpp"
#include "kernels/all_precisions.hpp"
#include "kernels/scalar/moves.hpp"
#include "sampling/placed_candidate.hpp"
#include "sampling/reference_virial.hpp"

namespace starpmc {
namespace {

/// Molecules evaluated together by FullEvaluation.
constexpr int kBatch = 256;

/// Where chain_state has the totals of the response's terms: a state without a reference has none.
constexpr std::ptrdiff_t kResponseTotals = STATE_TERMS + TERMS - RESPONSE_TERMS;

/// The region's molecules have places where there are such regions.
std::size_t chain_state_values(const Settings& settings, int molecules) {
  return static_cast<std::size_t>(
      chain_state_size(settings.sampling.near_share > 0 ? molecules : 0));
}

/// @throws RunError where molecules are named that are not there
void check_region(std::span<const double> region) {
  const std::span<const double> molecules =
      region.subspan(STATE_REGION_FIRST - STATE_REGION_MOLECULES);
  const auto count = static_cast<double>(molecules.size());
  const auto is_one = [&](double number) {
    return number >= 0 && number < count && number == std::floor(number);
  };
  const double chosen = region.front();
  if (!(chosen >= 0 && chosen <= count && chosen == std::floor(chosen)) ||
      !std::ranges::all_of(molecules.first(static_cast<std::size_t>(chosen)), is_one)) {
    throw RunError("the checkpoint's steps are confined to molecules that are not there");
  }
}

/// Until steps near the solute took their molecules in turn, their region was saved by another
/// name.
/// @throws RunError where steps were confined as it was saved
void refuse_region_without_order(const nlohmann::json& state) {
  if (!state.contains("region")) return;
  throw RunError(
      "the checkpoint was written amid steps near the solute (sampling.near-share) by an older "
      "starpmc, which chose their molecules otherwise: go on with that one, or run anew");
}

double half_turns(double degrees) { return degrees / 360.0; }

template <class Real>
std::vector<Real> make_lattice_sites(const std::vector<double>& lattice,
                                     const TopologyBuffers& topology) {
  const auto stride = static_cast<std::size_t>(topology.shape.padded_molecules);
  std::vector<Real> sites(3 * static_cast<std::size_t>(topology.shape.sites) * stride, Real{});
  const Topology view = topology.view();
  for (std::size_t m = 0; m < static_cast<std::size_t>(topology.shape.molecules); ++m) {
    double pose[POSE_FIELDS];
    for (std::size_t field = 0; field < POSE_FIELDS; ++field) {
      pose[field] = lattice[field * stride + m];
    }
    const int type = view.type_of(static_cast<int>(m));
    for (int site = 0; site < view.site_count(type); ++site) {
      double displacement[3];
      scalar::rotate_site(pose, view.site(type, site), displacement);
      for (std::size_t k = 0; k < 3; ++k) {
        sites[(3 * static_cast<std::size_t>(site) + k) * stride + m] =
            stored_site<Real>(pose[k], displacement[k], topology.interaction.box[k]);
      }
    }
  }
  return sites;
}

}  // namespace

template <class Real>
ChainData<Real>::ChainData(const System& system, const Settings& settings)
    : topology(make_topology_buffers(system, settings)),
      lattice_host(make_lattice(system, topology.shape)),
      lattice_sites_host(make_lattice_sites<Real>(lattice_host, topology)),
      chain_state_host(chain_state_values(settings, topology.shape.molecules), 0.0),
      field_cache_host(FIELDS * stride(), 0.0),
      certified(settings.sampling.certified),
      virials(settings.output.pressure_interval > 0),
      user_errors(starpmc::user_errors(kPrecisionOf<Real>, topology)),
      bound(decision_bound(kPrecisionOf<Real>, topology, user_errors, {})),
      nuclear_charges(topology.solute.begin() + 3 * topology.nuclei,
                      topology.solute.begin() + 4 * topology.nuclei) {
  chain_state_host[STATE_MAXIMUM_TRANSLATION] = settings.sampling.max_translation_angstrom;
  chain_state_host[STATE_MAXIMUM_HALF_TURNS] = half_turns(settings.sampling.max_rotation_degrees);
  topology_reals = DataHandle::of(std::span(topology.reals));
  topology_integers = DataHandle::of(std::span(topology.integers));
  solute = DataHandle::of(std::span(topology.solute));
  lattice = DataHandle::of(std::span(lattice_host));
  lattice_sites = DataHandle::of(std::span(lattice_sites_host));
  chain_state = DataHandle::of(std::span(chain_state_host));
  field_cache = DataHandle::of(std::span(field_cache_host));
}

template <class Real>
void ChainData<Real>::set_density(const DensityGrid& grid, std::size_t parts) {
  density.reset();
  exact_density.reset();
  std::vector<double> charges;
  if (grid.size() > 0) {
    density = std::make_unique<BlockedPoints<Real>>(
        make_compact_blocks<Real>(grid.x, grid.y, grid.z, grid.charge, grid.extent,
                                  topology.interaction.box),
        parts);
    const CompactBlocks<Real>& blocks = density->blocks();
    CompactBlocks<double> exact =
        make_exact_points(blocks, grid.x, grid.y, grid.z, grid.charge, grid.extent);
    charges = block_charges(exact);
    if (certified || virials) {
      exact_density = std::make_unique<BlockedPoints<double>>(std::move(exact), 1);
    }
  }
  bound = decision_bound(kPrecisionOf<Real>, topology, user_errors, charges);
}

template <class Real>
void ChainData<Real>::set_reference(std::shared_ptr<const ReferenceTables> tables) {
  reference = std::move(tables);
  const auto nuclei = static_cast<std::ptrdiff_t>(topology.nuclei);
  {
    const HostAccess<double> access(solute, STARPU_RW);
    std::ranges::copy(
        reference == nullptr ? nuclear_charges : std::vector<double>(nuclear_charges.size()),
        access.data().begin() + 3 * nuclei);
  }
  user_errors = starpmc::user_errors(kPrecisionOf<Real>, topology);
  set_density({}, 1);
  const auto count = static_cast<std::size_t>(components());
  if (count == response_total_host.size()) return;
  molecule_response = DataHandle();  // before the memory of either goes
  response_total = DataHandle();
  molecule_response_host.assign(count * stride(), 0);
  response_total_host.assign(count, 0);
  if (count == 0) return;
  molecule_response = DataHandle::of(std::span(molecule_response_host));
  response_total = DataHandle::of(std::span(response_total_host));
}

template <class Real>
ReferenceEnergy ChainData<Real>::reference_energy() const {
  ReferenceEnergy energy{};
  if (reference == nullptr) return energy;
  const HostAccess<double> cache(field_cache, STARPU_R);
  for (std::size_t m = 0; m < molecules(); ++m) {
    energy.electrostatic += cache.data()[FIELD_QMMM_GRID * stride() + m];
  }
  if (components() == 0) return energy;
  const HostAccess<std::int64_t> total(response_total, STARPU_R);
  energy.polarisation = polarisation_energy(total.data());
  return energy;
}

template <class Real>
nlohmann::json ChainData<Real>::state() {
  const auto saved = []<class T>(const DataHandle& handle, T) {
    const HostAccess<T> access(handle, STARPU_R);
    return to_binary(std::span<const T>(access.data()));
  };
  nlohmann::json state{{"lattice", saved(lattice, double{})},
                       {"field_cache", saved(field_cache, double{})}};
  const HostAccess<double> access(chain_state, STARPU_R);
  const auto region = access.data().subspan(STATE_REGION_MOLECULES);
  std::vector<double> running(access.data().begin(), region.begin());
  if (region.front() > 0) state["turns"] = to_binary(std::span<const double>(region));
  if (reference == nullptr) {
    const auto first = running.begin() + kResponseTotals;
    running.erase(first, first + RESPONSE_TERMS);
  }
  state["chain_state"] = to_binary(running);
  if (components() > 0) {
    state["molecule_response"] = saved(molecule_response, int{});
    state["response_total"] = saved(response_total, std::int64_t{});
  }
  return state;
}

template <class Real>
void ChainData<Real>::restore(const nlohmann::json& state) {
  const auto restored = [&]<class T>(const DataHandle& handle, const std::string& name, T) {
    const HostAccess<T> access(handle, STARPU_RW);
    from_binary(state.at(name), name, access.data());
  };
  if (state.contains("response_total") != (components() > 0)) {
    throw RunError(components() > 0
                       ? "the checkpoint has no response of the solute, the reference has one"
                       : "the checkpoint has a response of the solute, the chain has no reference");
  }
  refuse_region_without_order(state);
  restored(lattice, "lattice", double{});
  restored(field_cache, "field_cache", double{});
  {
    std::vector<double> running(STATE_REGION_MOLECULES -
                                (reference == nullptr ? RESPONSE_TERMS : 0));
    from_binary(state.at("chain_state"), "chain_state", std::span(running));
    if (reference == nullptr) {
      running.insert(running.begin() + kResponseTotals, RESPONSE_TERMS, 0.0);
    }
    const HostAccess<double> access(chain_state, STARPU_W);
    std::ranges::copy(running, access.data().begin());
    const std::span<double> region = access.data().subspan(STATE_REGION_MOLECULES);
    region.front() = 0;
    if (state.contains("turns")) from_binary(state.at("turns"), "turns", region);
    check_region(region);
  }
  if (components() > 0) {
    restored(molecule_response, "molecule_response", int{});
    restored(response_total, "response_total", std::int64_t{});
  }
  const HostAccess<double> poses(lattice, STARPU_R);
  const HostAccess<Real> sites(lattice_sites, STARPU_W);
  std::ranges::copy(make_lattice_sites<Real>({poses.data().begin(), poses.data().end()}, topology),
                    sites.data().begin());
}

template <class Real>
codelets::CertificationHandles ChainData<Real>::certification_handles() const {
  if (exact_density == nullptr) return {solute.get(), nullptr, nullptr};
  const auto& points = exact_density->parts().front();
  return {solute.get(), points.headers.get(), points.points.get()};
}

template <class Real>
codelets::CertificationArguments ChainData<Real>::certification_arguments() const {
  return {certified ? 1 : 0, topology.nuclei,
          exact_density == nullptr ? 0 : static_cast<int>(exact_density->blocks().block_count()),
          bound, alone};
}

template <class Real>
void submit_fields(const ChainData<Real>& data, const WindowBuffers<Real>& window,
                   const codelets::WindowArguments& arguments) {
  const codelets::WindowHandles handles = data.handles(window);
  if (data.density != nullptr) {
    const auto& parts = data.density->parts();
    const bool whole = data.grid_partials() == 0;
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const DataHandle& energies = whole ? window.grid_energies : window.grid_partials[part];
      codelets::qmmm_coulomb_grid<Real>(handles, arguments, parts[part].blocks,
                                        parts[part].headers.get(), parts[part].points.get(),
                                        energies.get());
    }
    if (!whole) {
      codelets::qmmm_coulomb_grid_reduce<Real>(arguments, raw_handles(window.grid_partials),
                                               window.grid_energies.get());
    }
  }
  if (data.reference != nullptr) {
    codelets::reference_field<Real>(handles, arguments, data.reference_lattices(),
                                    data.reference_handles(), window.grid_energies.get(),
                                    window.responses.get());
  }
  if (data.has_static_terms()) {
    codelets::qmmm_nuclei_vdw<Real>(handles, arguments, data.topology.nuclei, data.solute.get(),
                                    window.nuclei_energies.get());
  }
}

template <class Real>
void submit_energies(const ChainData<Real>& data, const WindowBuffers<Real>& window,
                     const codelets::WindowArguments& arguments) {
  submit_fields(data, window, arguments);
  const codelets::WindowHandles handles = data.handles(window);
  for (std::size_t part = 0; part < window.mm_partials.size(); ++part) {
    const auto [first, last] = data.molecule_range(part, window.mm_partials.size());
    codelets::mm_pair<Real>(handles, arguments, first, last, data.lattice.get(),
                            data.lattice_sites.get(), window.outside.get(),
                            window.mm_partials[part].get());
  }
  codelets::mm_pair_table<Real>(handles, arguments, window.table.get());
}

template <class Real>
FullEvaluation<Real>::FullEvaluation(ChainData<Real>& data) : data_(data) {
  const std::size_t windows = data.molecules() > kBatch ? 2 : 1;
  for (std::size_t i = 0; i < windows; ++i) {
    auto& window = windows_.emplace_back(WindowLayout{kBatch, kBatch, data.topology.shape.sites,
                                                      data.topology.shape.padded_molecules},
                                         1);
    window.set_grid_parts(data.grid_partials());
    window.set_components(data.components());
  }
}

/// A window whose candidates are molecules [first, first + count) where they are; every later
/// molecule is outside, so that each pair is counted once: here or in the pair table.
template <class Real>
void FullEvaluation<Real>::load(WindowBuffers<Real>& window, Batch batch, bool with_mm) {
  const auto [first, count] = batch;
  const WindowLayout& layout = window.layout;
  const HostAccess<int> plan_access(window.plan, STARPU_W);
  const HostAccess<double> entries_access(window.entries, STARPU_W);
  const HostAccess<double> lattice_access(data_.lattice, STARPU_R);
  const auto plan = plan_access.data();
  const auto entries = entries_access.data();
  const auto lattice = lattice_access.data();
  const Topology topology = data_.topology.view();

  plan[PLAN_STEPS] = plan[PLAN_CANDIDATES] = static_cast<int>(count);
  plan[PLAN_STARTS] = 0;
  if (with_mm) {
    const HostAccess<PairReal<Real>> outside(window.outside, STARPU_W);
    const auto place = [&](std::size_t m) {
      return outside.data().begin() + static_cast<std::ptrdiff_t>(m);
    };
    std::ranges::fill(outside.data(), PairReal<Real>{0});
    std::fill(place(first + count), place(data_.molecules()), PairReal<Real>{1});
  }
  for (std::size_t i = 0; i < count; ++i) {
    place_candidate(topology, layout, static_cast<int>(i), static_cast<int>(first + i), lattice,
                    data_.stride(), plan, entries);
  }
}

template <class Real>
void FullEvaluation<Real>::collect_mm(const WindowBuffers<Real>& window, Batch batch,
                                      Totals& totals) {
  const std::size_t rows = window.rows();
  const HostAccess<double> mm(window.mm_partials.front(), STARPU_R);
  const HostAccess<PairReal<Real>> table(window.table, STARPU_R);
  for (std::size_t term = 0; term < MM_TERMS; ++term) {
    for (std::size_t i = 0; i < batch.count; ++i) {
      totals[term] += mm.data()[term * rows + i];
      for (std::size_t j = 0; j < i; ++j) {
        totals[term] += static_cast<double>(table.data()[(term * rows + j) * rows + i]);
      }
    }
  }
}

/// Of the terms with the solute.
template <class Real>
void FullEvaluation<Real>::collect(const WindowBuffers<Real>& window, Batch batch, Totals& totals) {
  if (data_.has_static_terms()) {
    collect_fields(window.nuclei_energies, 0, STATIC_TERMS, batch, totals);
  }
  if (data_.density != nullptr || data_.reference != nullptr) {
    collect_fields(window.grid_energies, STATIC_TERMS, FIELDS, batch, totals);
  }
  if (data_.components() > 0) collect_responses(window, batch);
}

template <class Real>
void FullEvaluation<Real>::collect_responses(const WindowBuffers<Real>& window, Batch batch) {
  const auto [first, count] = batch;
  const auto components = static_cast<std::size_t>(data_.components());
  const HostAccess<int> candidates(window.responses, STARPU_R);
  const HostAccess<int> molecules(data_.molecule_response, STARPU_RW);
  const HostAccess<std::int64_t> total(data_.response_total, STARPU_RW);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < components; ++k) {
      const int y = candidates.data()[i * components + k];
      molecules.data()[(first + i) * components + k] = y;
      total.data()[k] += y;
    }
  }
}

template <class Real>
void FullEvaluation<Real>::collect_fields(const DataHandle& handle, std::size_t begin,
                                          std::size_t end, Batch batch, Totals& totals) {
  const auto [first, count] = batch;
  const HostAccess<double> energies(handle, STARPU_R);
  const HostAccess<double> cache(data_.field_cache, STARPU_RW);
  for (std::size_t field = begin; field < end; ++field) {
    for (std::size_t i = 0; i < count; ++i) {
      const double energy = energies.data()[(field - begin) * kBatch + i];
      cache.data()[field * data_.stride() + first + i] = energy;
      totals[MM_TERMS + field] += energy;
    }
  }
}

template <class Real>
void FullEvaluation<Real>::submit(const WindowBuffers<Real>& window, Batch batch, bool with_mm) {
  const auto count = static_cast<int>(batch.count);
  const codelets::WindowArguments arguments = data_.arguments(window.layout, {count, count, 0});
  if (with_mm) {
    submit_energies(data_, window, arguments);
  } else {
    submit_fields(data_, window, arguments);
  }
}

template <class Real>
EnergyTerms FullEvaluation<Real>::run(bool with_mm) {
  Totals totals{};
  if (data_.components() > 0) {
    const HostAccess<std::int64_t> total(data_.response_total, STARPU_W);
    std::ranges::transform(data_.reference->mean_response(), total.data().begin(),
                           [](std::int64_t mean) { return -mean; });
  }
  const auto window_of = [&](Batch batch) -> WindowBuffers<Real>& {
    return windows_[batch.first / kBatch % windows_.size()];
  };
  const auto take = [&](Batch batch) {
    if (with_mm) collect_mm(window_of(batch), batch, totals);
    collect(window_of(batch), batch, totals);
  };
  std::optional<Batch> under_way;
  for (std::size_t first = 0; first < data_.molecules(); first += kBatch) {
    const Batch batch{first, std::min<std::size_t>(kBatch, data_.molecules() - first)};
    load(window_of(batch), batch, with_mm);
    submit(window_of(batch), batch, with_mm);
    if (under_way) take(*under_way);
    under_way = batch;
  }
  if (under_way) take(*under_way);
  totals[TERM_QMMM_POLARISATION] = data_.reference_energy().polarisation;
  return EnergyTerms::of(totals);
}

STARPMC_CLASS_FOR_ALL_PRECISIONS(struct ChainData)
STARPMC_FOR_ALL_PRECISIONS(submit_energies)
STARPMC_CLASS_FOR_ALL_PRECISIONS(class FullEvaluation)

}  // namespace starpmc
