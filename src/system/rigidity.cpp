#include "system/rigidity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

using Pair = std::pair<std::size_t, std::size_t>;

/// Constrained pairs of atoms, each once, the smaller index first.
std::set<Pair> constrained_pairs(const MoleculeDefinition& molecule) {
  std::set<Pair> pairs;
  const auto add = [&](std::size_t i, std::size_t j) {
    if (i != j && !molecule.is_virtual(i) && !molecule.is_virtual(j)) {
      pairs.insert(std::minmax(i, j));
    }
  };
  for (const Constraint& constraint : molecule.constraints) {
    add(constraint.i, constraint.j);
  }
  for (const Settle& settle : molecule.settles) {
    add(settle.oxygen, settle.oxygen + 1);
    add(settle.oxygen, settle.oxygen + 2);
    add(settle.oxygen + 1, settle.oxygen + 2);
  }
  return pairs;
}

/// Rows: the change of each constrained length with the atoms' coordinates.
std::vector<std::vector<double>> rigidity_matrix(const std::set<Pair>& pairs,
                                                 std::span<const Vector3> positions) {
  std::vector<std::vector<double>> rows;
  for (const auto& [i, j] : pairs) {
    const Vector3 d = positions[i] - positions[j];
    const double length = norm(d);
    if (length == 0) {
      continue;
    }
    std::vector<double> row(3 * positions.size());
    std::size_t axis = 0;
    for (double component : {d.x, d.y, d.z}) {
      row[3 * i + axis] = component / length;
      row[3 * j + axis] = -component / length;
      ++axis;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Rank by Gaussian elimination with the largest pivot of each column.
std::size_t rank(std::vector<std::vector<double>> rows) {
  constexpr double smallest_pivot = 1e-6;  // rows begin with entries of order 1
  std::size_t found = 0;
  for (std::size_t column = 0; !rows.empty() && column < rows.front().size(); ++column) {
    if (found == rows.size()) {
      break;
    }
    const auto first = rows.begin() + static_cast<std::ptrdiff_t>(found);
    const auto pivot = std::max_element(first, rows.end(), [&](const auto& a, const auto& b) {
      return std::abs(a[column]) < std::abs(b[column]);
    });
    if (std::abs((*pivot)[column]) < smallest_pivot) {
      continue;
    }
    std::swap(*first, *pivot);
    for (auto row = first + 1; row != rows.end(); ++row) {
      const double factor = (*row)[column] / (*first)[column];
      for (std::size_t k = column; factor != 0 && k < row->size(); ++k) {
        (*row)[k] -= factor * (*first)[k];
      }
    }
    ++found;
  }
  return found;
}

[[noreturn]] void refuse_flexible(const MoleculeDefinition& molecule, bool may_be_qm) {
  const bool bonded = !molecule.bonded_section.empty();
  throw InputError(
      bonded ? molecule.bonded_place : molecule.place,
      fmt::format("MM molecules are rigid, but [ settles ] and [ constraints ] do not hold the {} "
                  "atoms of molecule {} in one shape",
                  molecule.atoms.size(), molecule.name),
      bonded ? fmt::format("[ {} ]", molecule.bonded_section) : "",
      fmt::format("take a rigid model (of water: leave out the define FLEXIBLE), {}or keep it in "
                  "the shape that the coordinates give it: system.rigid = {}",
                  may_be_qm ? fmt::format("treat it by quantum mechanics (system.qm-molecule = "
                                          "{}), ",
                                          molecule.name)
                            : "",
                  molecule.name));
}

}  // namespace

bool is_constrained_rigid(const MoleculeDefinition& molecule, std::span<const Vector3> positions) {
  std::size_t atoms = 0;
  for (std::size_t i = 0; i < molecule.atoms.size(); ++i) {
    atoms += molecule.is_virtual(i) ? 0 : 1;
  }
  const std::set<Pair> pairs = constrained_pairs(molecule);
  if (pairs.size() == atoms * (atoms - 1) / 2) {
    return true;
  }
  if (atoms < 3) {
    return false;
  }
  const std::size_t internal = 3 * atoms - 6;
  return pairs.size() >= internal && rank(rigidity_matrix(pairs, positions)) == internal;
}

void require_rigid(const MoleculeDefinition& molecule, std::span<const Vector3> positions,
                   const MoleculeRole& role, std::vector<std::string>& notes,
                   std::vector<std::string>& warnings) {
  const bool held = is_constrained_rigid(molecule, positions);
  if (role.named_rigid) {
    if (!held) {
      const std::string unused = molecule.bonded_section.empty()
                                     ? "without [ constraints ] in the topology"
                                     : fmt::format("its [ {} ] ({}) are not used",
                                                   molecule.bonded_section, molecule.bonded_place);
      notes.push_back(
          fmt::format("molecule {} is kept rigid (system.rigid): {}", molecule.name, unused));
    }
    return;
  }
  if (role.forgotten_solute) {
    const std::string remedy = fmt::format(
        "if it is to be treated by quantum mechanics, name it: system.qm-molecule = {}; "
        "if it is an uncharged MM molecule, say so: system.rigid = {}",
        molecule.name, molecule.name);
    if (!held) {
      throw InputError(molecule.place,
                       fmt::format("molecule {} has no charges among charged molecules, as starpmc "
                                   "solvate writes a solute for quantum mechanics, but no "
                                   "molecule is treated by it",
                                   molecule.name),
                       "", remedy);
    }
    warnings.push_back(fmt::format("{}: molecule {} has no charges among charged molecules: {}",
                                   molecule.place, molecule.name, remedy));
  }
  if (!held) {
    refuse_flexible(molecule, role.may_be_qm);
  }
}

}  // namespace starpmc
