#include "system/site_types.hpp"

#include <cmath>

#include "base/constants.hpp"
#include "kernels/base/error.hpp"
#include "system/text.hpp"

namespace starpmc {
namespace {

constexpr double angstrom6_per_nanometre6 = 1e6;
constexpr double angstrom12_per_nanometre12 = 1e12;

LennardJones from_sigma_epsilon(double sigma_angstrom, double epsilon) {
  const double sigma3 = sigma_angstrom * sigma_angstrom * sigma_angstrom;
  const double sigma6 = sigma3 * sigma3;
  return {4 * epsilon * sigma6, 4 * epsilon * sigma6 * sigma6};
}

/// Parameters of a pair given outright.
LennardJones from_pair(CombinationRule rule, const VdwParameters& vdw) {
  if (rule == CombinationRule::geometric_c6_c12) {
    return {angstrom6_per_nanometre6 * vdw.first, angstrom12_per_nanometre12 * vdw.second};
  }
  return from_sigma_epsilon(kAngstromPerNanometre * vdw.first, vdw.second);
}

SiteParameters parameters_of(CombinationRule rule, const AtomType& type) {
  const VdwParameters& vdw = type.vdw;
  if (rule != CombinationRule::geometric_c6_c12) {
    return {kAngstromPerNanometre * vdw.first, vdw.second};
  }
  if (vdw.first == 0 && vdw.second == 0) return {};
  if (vdw.first == 0 || vdw.second == 0) return {0, 0, type.place};
  return {kAngstromPerNanometre * std::pow(vdw.second / vdw.first, 1.0 / 6),
          vdw.first * vdw.first / (4 * vdw.second)};
}

}  // namespace

LennardJones combine(CombinationRule rule, const VdwParameters& i, const VdwParameters& j) {
  // Equal types take their own parameters: the square root of a square may differ in the last bit.
  if (i.first == j.first && i.second == j.second) {
    return from_pair(rule, i);
  }
  const double second = std::sqrt(i.second * j.second);
  const double first = rule == CombinationRule::lorentz_berthelot ? 0.5 * (i.first + j.first)
                                                                  : std::sqrt(i.first * j.first);
  return from_pair(rule, {first, second});
}

std::size_t SiteTypes::index(const TopologyAtom& atom) {
  if (const auto known = indices_.find(atom.type); known != indices_.end()) {
    return known->second;
  }
  const auto type = topology_.atom_types.find(atom.type);
  if (type == topology_.atom_types.end()) {
    std::vector<std::string> names;
    for (const auto& [name, unused] : topology_.atom_types) {
      names.push_back(name);
    }
    throw InputError(atom.place, "unknown atom type", atom.type,
                     suggest(atom.type, names,
                             "add it to [ atomtypes ], or include the force "
                             "field that has it"));
  }
  types_.push_back(&type->second);
  indices_.emplace(atom.type, types_.size() - 1);
  return types_.size() - 1;
}

ForceField SiteTypes::force_field() const {
  const std::size_t n = types_.size();
  ForceField field;
  field.pairs.resize(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    field.site_type_names.push_back(types_[i]->name);
    field.parameters.push_back(parameters_of(topology_.combination_rule, *types_[i]));
    for (std::size_t j = 0; j < n; ++j) {
      field.pairs[i * n + j] = combine(topology_.combination_rule, types_[i]->vdw, types_[j]->vdw);
    }
  }
  for (const PairParameters& pair : topology_.pair_parameters) {
    const auto i = indices_.find(pair.type_i);
    const auto j = indices_.find(pair.type_j);
    if (i != indices_.end() && j != indices_.end()) {
      const LennardJones given = from_pair(topology_.combination_rule, pair.vdw);
      field.pairs[i->second * n + j->second] = given;
      field.pairs[j->second * n + i->second] = given;
    }
  }
  return field;
}

}  // namespace starpmc
