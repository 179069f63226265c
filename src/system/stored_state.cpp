#include "system/stored_state.hpp"

#include <fmt/format.h>

#include <map>
#include <span>

#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

/// The molecules of each name, in their order.
std::map<std::string, std::vector<std::size_t>> molecules_by_name(const StoredState& state) {
  std::map<std::string, std::vector<std::size_t>> found;
  for (std::size_t m = 0; m < state.molecules.size(); ++m) {
    found[state.types[state.molecules[m].type].name].push_back(m);
  }
  if (!state.solute_name.empty()) found[state.solute_name].push_back(OrderedState::kNoMolecule);
  return found;
}

class Ordering {
 public:
  explicit Ordering(const StoredState& state) : state_(state) {
    ordered_.coordinates.path = state.path;
    ordered_.coordinates.title = state.title;
    ordered_.coordinates.box = state.box;
  }

  void add(std::size_t molecule, const MoleculeDefinition& definition) {
    ++residue_;
    if (molecule == OrderedState::kNoMolecule) {
      require_sites(definition, state_.solute_atoms.size());
      for (std::size_t i = 0; i < state_.solute_atoms.size(); ++i) {
        add_atom(molecule, definition, state_.solute_atoms[i], state_.solute_positions[i]);
      }
      return;
    }
    const Molecule& pose = state_.molecules[molecule];
    const MoleculeType& type = state_.types[pose.type];
    require_sites(definition, type.sites.size());
    for (const Site& site : type.sites) {
      add_atom(molecule, definition, site.name,
               pose.centre + rotate(pose.orientation, site.reference));
    }
  }

  OrderedState take() { return std::move(ordered_); }

 private:
  void require_sites(const MoleculeDefinition& definition, std::size_t sites) const {
    if (definition.atoms.size() == sites) return;
    throw InputError(
        definition.place,
        fmt::format("molecule {} has {} sites in the topology and another number in {}",
                    definition.name, definition.atoms.size(), state_.path.string()),
        std::to_string(sites), "use a model with the same sites, or make coordinates for this one");
  }

  void add_atom(std::size_t molecule, const MoleculeDefinition& definition, const std::string& name,
                const Vector3& position) {
    ordered_.coordinates.atoms.push_back({residue_, definition.name, name, position});
    ordered_.molecules.push_back(molecule);
  }

  const StoredState& state_;
  OrderedState ordered_;
  int residue_ = 0;
};

}  // namespace

OrderedState ordered_by_topology(const StoredState& state, const TopologyFile& topology) {
  auto found = molecules_by_name(state);
  std::map<std::string, std::size_t> used;
  Ordering ordering(state);
  for (const MoleculeCount& entry : topology.molecules) {
    const MoleculeDefinition& definition = topology.definitions[entry.definition];
    const std::vector<std::size_t>& there = found[definition.name];
    for (std::size_t i = 0; i < entry.count; ++i) {
      std::size_t& next = used[definition.name];
      if (next < there.size()) ordering.add(there[next++], definition);
    }
  }
  for (const auto& [name, there] : found) {
    if (used[name] == there.size()) continue;
    throw InputError(
        state.path.string(),
        fmt::format("has more molecules {} than the topology {}", name, topology.path.string()),
        fmt::format("{} and {}", there.size(), used[name]),
        "use the topology of the run, or one with the same molecules");
  }
  return ordering.take();
}

}  // namespace starpmc
