#pragma once

#include <array>
#include <memory>

#include "kernels/exact_points.hpp"
#include "sampling/blocked_points.hpp"
#include "sampling/chain.hpp"
#include "sampling/decision_bound.hpp"
#include "sampling/reference_tables.hpp"
#include "sampling/window_buffers.hpp"

namespace starpmc {

/// The data of one chain: constants, lattice, caches and running totals, in StarPU handles.
template <class Real>
struct ChainData {
  TopologyBuffers topology;
  std::vector<double> lattice_host;
  std::vector<Real> lattice_sites_host;
  std::vector<double> chain_state_host;
  std::vector<double> field_cache_host;
  std::vector<int> molecule_response_host;
  std::vector<std::int64_t> response_total_host;
  DataHandle topology_reals;
  DataHandle topology_integers;
  DataHandle solute;
  DataHandle lattice;
  DataHandle lattice_sites;
  DataHandle chain_state;
  DataHandle field_cache;
  DataHandle molecule_response;                      ///< where the solute responds
  DataHandle response_total;                         ///< the same
  std::shared_ptr<const ReferenceTables> reference;  ///< in the place of a density
  std::unique_ptr<BlockedPoints<Real>> density;
  std::unique_ptr<BlockedPoints<double>>
      exact_density;  ///< the same points, where decisions are certified or virials asked for
  bool certified;
  bool alone = false;  ///< no other chain wants the workers
  bool virials;
  UserErrors user_errors;
  DecisionBound bound{};
  std::vector<double> nuclear_charges;

  ChainData(const System& system, const Settings& settings);

  /// @param parts tasks that share the grid
  void set_density(const DensityGrid& grid, std::size_t parts);
  /// In the place of a density and of the nuclei's charges; null: none.
  void set_reference(std::shared_ptr<const ReferenceTables> tables);
  /// Energies of the current positions with the reference and of the response to them: exact.
  ReferenceEnergy reference_energy() const;
  /// Lattice, running totals, energies with the solute and responses; waits for the tasks that
  /// change them.
  nlohmann::json state();
  /// @throws RunError when it is of another number of molecules
  void restore(const nlohmann::json& state);
  codelets::CertificationHandles certification_handles() const;
  codelets::CertificationArguments certification_arguments() const;

  /// Parts of the density whose energies are added up: none where it is whole.
  std::size_t grid_partials() const {
    return density == nullptr || density->parts().size() == 1 ? 0 : density->parts().size();
  }

  bool has_solute() const { return topology.nuclei > 0; }
  /// Of the response.
  int components() const { return reference == nullptr ? 0 : reference->components(); }
  codelets::ReferenceHandles reference_handles() const {
    return reference == nullptr ? codelets::ReferenceHandles{} : reference->handles();
  }
  codelets::ReferenceLattices reference_lattices() const {
    return reference == nullptr ? codelets::ReferenceLattices{} : reference->lattices();
  }
  codelets::ResponseHandles response_handles(const WindowBuffers<Real>& window) const {
    if (components() == 0) return {};
    return {components(), window.responses.get(), molecule_response.get(), response_total.get()};
  }
  /// Whether a window has field energies at all (those of the density without one are 0).
  bool has_static_terms() const {
    return starpmc::has_static_terms(topology.interaction, topology.nuclei) != 0;
  }
  std::size_t molecules() const { return static_cast<std::size_t>(topology.shape.molecules); }
  std::size_t stride() const { return static_cast<std::size_t>(topology.shape.padded_molecules); }
  codelets::WindowHandles handles(const WindowBuffers<Real>& window) const {
    return {topology_reals.get(), topology_integers.get(), window.plan.get(), window.entries.get()};
  }
  codelets::WindowArguments arguments(const WindowLayout& layout,
                                      const opencl::WindowExtent& extent) const {
    return {{}, layout, topology.interaction, topology.shape, extent, topology.functions.get()};
  }
  /// Range of molecules of part `part` of `parts`.
  std::pair<int, int> molecule_range(std::size_t part, std::size_t parts) const {
    return {static_cast<int>(molecules() * part / parts),
            static_cast<int>(molecules() * (part + 1) / parts)};
  }
};

/// Submits the energies with the solute of a window whose candidates are proposed.
template <class Real>
void submit_fields(const ChainData<Real>& data, const WindowBuffers<Real>& window,
                   const codelets::WindowArguments& arguments);

/// And those of the MM molecules with each other.
template <class Real>
void submit_energies(const ChainData<Real>& data, const WindowBuffers<Real>& window,
                     const codelets::WindowArguments& arguments);

/// Recomputes all energies of the current positions, in windows whose candidates are the molecules
/// where they are.
template <class Real>
class FullEvaluation {
 public:
  explicit FullEvaluation(ChainData<Real>& data);
  /// Fills the field cache and returns the terms.
  EnergyTerms run() { return run(true); }
  /// The same without the energies of the MM molecules with each other, which are 0 then.
  EnergyTerms run_fields() { return run(false); }

 private:
  /// Molecules [first, first + count).
  struct Batch {
    std::size_t first;
    std::size_t count;
  };

  EnergyTerms run(bool with_mm);
  void load(WindowBuffers<Real>& window, Batch batch, bool with_mm);
  void submit(const WindowBuffers<Real>& window, Batch batch, bool with_mm);
  using Totals = std::array<double, TERMS>;
  void collect_mm(const WindowBuffers<Real>& window, Batch batch, Totals& totals);
  void collect(const WindowBuffers<Real>& window, Batch batch, Totals& totals);
  void collect_responses(const WindowBuffers<Real>& window, Batch batch);
  /// The field terms [begin, end), whose energies a buffer has.
  void collect_fields(const DataHandle& handle, std::size_t begin, std::size_t end, Batch batch,
                      Totals& totals);

  ChainData<Real>& data_;
  std::vector<WindowBuffers<Real>> windows_;  ///< one is computed while another is filled or read
};

}  // namespace starpmc
