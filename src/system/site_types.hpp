#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "system/system.hpp"
#include "system/topology.hpp"

namespace starpmc {

/// Collects the atom types a system uses and makes its ForceField of them.
class SiteTypes {
 public:
  explicit SiteTypes(const TopologyFile& topology) : topology_(topology) {}

  /// Index of an atom's type, added if it is new.
  /// @throws InputError if the topology has no such type
  std::size_t index(const TopologyAtom& atom);

  /// The [ atomtypes ] line of an index.
  const AtomType& type(std::size_t index) const { return *types_[index]; }

  /// Lennard-Jones coefficients of all pairs, by combination rule and [ nonbond_params ].
  ForceField force_field() const;

 private:
  const TopologyFile& topology_;
  std::vector<const AtomType*> types_;
  std::map<std::string, std::size_t, std::less<>> indices_;
};

/// c6 and c12 of a pair of atom types by a combination rule.
LennardJones combine(CombinationRule rule, const VdwParameters& i, const VdwParameters& j);

}  // namespace starpmc
