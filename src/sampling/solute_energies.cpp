#include "sampling/solute_energies.hpp"

#include <algorithm>
#include <vector>

#include "sampling/chain_state.hpp"

namespace starpmc {

struct SoluteEnergies::Data {
  Data(const System& from, const Settings& settings,
       std::shared_ptr<const ReferenceTables> reference)
      : system(from), chain(from, settings) {
    chain.set_reference(std::move(reference));
    evaluation = std::make_unique<FullEvaluation<double>>(chain);
  }

  System system;
  ChainData<double> chain;
  std::unique_ptr<FullEvaluation<double>> evaluation;  ///< whose buffers depend on the reference
};

namespace {

/// Nothing is decided here, and no pressure asked for.
Settings settings_of_energies(Settings settings) {
  settings.sampling.certified = false;
  settings.output.pressure_interval = 0;
  return settings;
}

}  // namespace

SoluteEnergies::SoluteEnergies(const System& system, const Settings& settings,
                               std::shared_ptr<const ReferenceTables> reference)
    : data_(std::make_unique<Data>(system, settings_of_energies(settings), std::move(reference))) {}

SoluteEnergies::~SoluteEnergies() = default;

EnergyTerms SoluteEnergies::of(std::span<const Molecule> molecules) {
  Data& data = *data_;
  data.system.molecules.assign(molecules.begin(), molecules.end());
  const std::vector<double> lattice = make_lattice(data.system, data.chain.topology.shape);
  {
    const HostAccess<double> access(data.chain.lattice, STARPU_W);
    std::ranges::copy(lattice, access.data().begin());
  }
  return data.evaluation->run_fields();
}

}  // namespace starpmc
