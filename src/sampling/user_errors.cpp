#include "sampling/user_errors.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "potential/error_bound.hpp"
#include "potential/error_cells.hpp"
#include "potential/grid_error.hpp"
#include "potential/mm_error.hpp"
#include "sampling/error_sum.hpp"
#include "sampling/packing.hpp"

namespace starpmc {
namespace {

/// Of nuclei, per A^3: diamond has 0.18.
constexpr double kNuclei = 0.2;
/// Pairs a step, see UserErrors.
constexpr double kNegligibleOverlaps = 1e-4;
/// Instead of infinity, so that products and differences stay numbers.
constexpr double kUnbounded = 1e150;

/// Energies above this are overlaps, kJ/mol. Those of charges cancel in a molecule: up to the
/// second, more than two sites have in a hydrogen bond; up to the third with nuclei.
constexpr double kOverlap = 50;
constexpr double kOverlapOfCharges = 300;
constexpr double kOverlapWithNuclei = 1e4;
/// Of the cells of a function; where there are many functions, fewer, so that all of them take some
/// tens of milliseconds.
constexpr int kMostHalvings = 600;
constexpr int kLeastHalvings = 120;
constexpr int kHalvingsOfAll = 30000;

double least_distance() { return std::sqrt(STARPMC_MINIMUM_DISTANCE_SQUARED); }

/// Sites, per A^3, that a molecule of each type meets with all of its sites together.
using Densities = std::vector<double>;

/// Errors of single pairs, gathered.
class PairErrors {
 public:
  explicit PairErrors(std::size_t molecule_types) : sums_(molecule_types) {}

  /// @param pairs expected, of a step of each molecule type
  void add(const PairError& error, const Densities& densities, double volume) {
    for (std::size_t type = 0; type < densities.size(); ++type) {
      const double pairs = densities[type] * volume;
      if (pairs == 0) continue;
      if (error.kind == PairError::Kind::small) {
        sums_[type].add(pairs, error.difference);
      } else if (error.kind == PairError::Kind::overlap && error.jumps) {
        overlap_jumps_.emplace(error.relative, pairs);
      } else {
        relative_ = std::max(relative_, error.relative);
      }
    }
  }

  double absolute() const {
    double largest = 0;
    for (const ErrorSum& sum : sums_) largest = std::max(largest, sum.bound());
    return std::min(largest, kUnbounded);
  }

  double relative() const {
    double pairs = 0;
    for (const auto& [relative, count] : overlap_jumps_) {
      pairs += count;
      if (pairs > kNegligibleOverlaps) return std::min(std::max(relative_, relative), kUnbounded);
    }
    return std::min(relative_, kUnbounded);
  }

 private:
  std::vector<ErrorSum> sums_;  ///< by the type of the molecule that a step moves
  double relative_ = 0;
  std::multimap<double, double, std::greater<>> overlap_jumps_;  ///< relative error -> pairs
};

/// Old and new place of a molecule.
double shell(Interval distances) {
  return 2 * 4 * std::numbers::pi * distances.high * distances.high *
         (distances.high - distances.low);
}

/// A function between two distances.
struct Ranged {
  ErrorBound function;
  ErrorCellOptions options;
  bool to_cutoff = true;  ///< whether it is cut at the larger one
};

/// One evaluator finds the pair inside the cutoff, the other outside.
BoundedValue at_cutoff(const Ranged& at) {
  return at.function.over({at.options.cutoff - at.options.displacement, at.options.cutoff});
}

/// @param densities by the factor of the function, kJ/mol
void add_function(Ranged at, const std::map<double, Densities>& densities, PairErrors& errors) {
  ErrorCellOptions& options = at.options;
  if (densities.empty() || !(options.least < options.cutoff)) return;
  options.factor =
      std::max(std::abs(densities.begin()->first), std::abs(densities.rbegin()->first));
  const std::vector<ErrorCell> cells = error_cells(at.function, options);
  const BoundedValue last = at.to_cutoff ? at_cutoff(at) : BoundedValue{};
  const double pairs = 2 * shell({options.cutoff - options.displacement, options.cutoff});
  for (const auto& [factor, each] : densities) {
    options.factor = factor;
    for (const ErrorCell& cell : cells) {
      errors.add(pair_error(cell.bound, options), each, shell(cell.distances));
    }
    PairError jump{PairError::Kind::small, std::abs(factor) * last.value.magnitude()};
    if (last.defined != Defined::always) jump.difference = kUnbounded;
    errors.add(jump, each, pairs);
  }
}

/// Gathers the pairs of a molecule's sites with those of others.
class Pairs {
 public:
  Pairs(Precision precision, const TopologyBuffers& topology)
      : topology_(topology), view_(topology_.view()), single_(precision != Precision::fp64) {
    const double* const box = topology.interaction.box;
    const double edge = *std::max_element(box, box + 3);
    wide_displacement_ = std::ldexp(edge, -50);
    const double single = std::ldexp(1 + 2 * topology.shape.largest_radius, -24);
    displacement_ = precision == Precision::fp64    ? wide_displacement_
                    : precision == Precision::fixed ? std::max(single, std::ldexp(edge, -31))
                                                    : single;
    const Packing packing(topology);
    densities_.resize(types());
    for (int m = 0; m < topology.shape.molecules; ++m) {
      const int type = view_.type_of(m);
      densities_[static_cast<std::size_t>(type)] = packing.density(type);
    }
  }

  std::size_t types() const { return static_cast<std::size_t>(topology_.shape.molecule_types); }
  double displacement() const { return displacement_; }
  /// From here on user functions of MM molecules may be in fp32; infinity: nowhere.
  double single_from() const {
    const Potential* const functions = topology_.functions.get();
    if (!single_ || functions == nullptr || !functions->mm_as_pairs) {
      return std::numeric_limits<double>::infinity();
    }
    return MmSpace{topology_.shape.largest_radius, 0, 0, 0, 0}.least();
  }
  /// Whether pair terms are in fp32.
  bool single() const { return single_; }
  /// With the nuclei.
  double wide_displacement() const { return wide_displacement_; }

  /// With sites of MM molecules: key(site type a, charge a, site type b, charge b).
  template <class Key>
  auto of_molecules(const Key& key) const {
    std::map<std::decay_t<decltype(key(0, 0.0, 0, 0.0))>, Densities> result;
    for_each_site([&](std::size_t a, int type, double charge) {
      for_each_site([&](std::size_t b, int other_type, double other_charge) {
        add(result, key(type, charge, other_type, other_charge), a, densities_[b]);
      });
    });
    return result;
  }

  /// With nuclei: key(site type, charge, nucleus' type, nuclear charge).
  template <class Key>
  auto of_nuclei(const Key& key) const {
    std::map<std::decay_t<decltype(key(0, 0.0, 0, 0.0))>, Densities> result;
    const auto nuclei = static_cast<std::size_t>(topology_.nuclei);
    for_each_site([&](std::size_t a, int type, double charge) {
      for (std::size_t n = 0; n < nuclei; ++n) {
        const int nucleus_type = static_cast<int>(topology_.solute[4 * nuclei + n]);
        add(result, key(type, charge, nucleus_type, topology_.solute[3 * nuclei + n]), a,
            kNuclei / static_cast<double>(nuclei));
      }
    });
    return result;
  }

 private:
  template <class Function>
  void for_each_site(const Function& function) const {
    for (int type = 0; type < topology_.shape.molecule_types; ++type) {
      for (int site = 0; site < view_.site_count(type); ++site) {
        function(static_cast<std::size_t>(type), view_.site_type(type, site),
                 view_.site(type, site)[3]);
      }
    }
  }
  template <class Map, class Key>
  void add(Map& map, const Key& key, std::size_t type, double density) const {
    Densities& densities = map[key];
    densities.resize(types());
    densities[type] += density;
  }

  const TopologyBuffers& topology_;
  Topology view_;
  bool single_;
  std::vector<double> densities_;  ///< of molecules of each type at most, per A^3
  double displacement_ = 0;
  double wide_displacement_ = 0;
};

/// A function of MM molecules and its coefficients.
struct MmFunction {
  const Program& program;
  std::span<const double> coefficients{};
  ErrorCellOptions options;
};

/// In fp64, and from some distance on in fp32.
void add_mm_function(const MmFunction& function, double single_from,
                     const std::map<double, Densities>& densities, PairErrors& errors) {
  ErrorCellOptions near = function.options;
  near.cutoff = std::min(near.cutoff, single_from);
  add_function({ErrorBound(function.program, function.coefficients), near,
                near.cutoff == function.options.cutoff},
               densities, errors);
  ErrorCellOptions far = ErrorCellOptions::in_single(function.options);
  far.least = single_from;
  add_function({ErrorBound(function.program, function.coefficients, kSingle), far}, densities,
               errors);
}

/// Errors of the grid term by the cells of f.
void add_grid(const std::vector<ErrorCell>& cells, const Ranged& at, UserErrors& errors) {
  for (const ErrorCell& cell : cells) {
    const double r = cell.distances.high;
    if (r < kNearestGridPoint) continue;
    errors.coulomb_scale = std::max(errors.coulomb_scale, cell.bound.value.magnitude() * r);
    const double displacement = at.options.displacement;
    if (cell.bound.jumps(displacement)) {
      errors.coulomb_jump = std::max(errors.coulomb_jump, cell.bound.difference(displacement));
    } else {
      errors.coulomb_scale = std::max(errors.coulomb_scale, cell.bound.slope.magnitude() * r * r);
    }
  }
  const double last = at_cutoff(at).value.magnitude();
  errors.coulomb_jump = std::min(std::max(errors.coulomb_jump, last), kUnbounded);
  errors.coulomb_scale = std::min(errors.coulomb_scale, kUnbounded);
}

void add_coulomb(const TopologyBuffers& topology, const Pairs& pairs, PairErrors& sum,
                 UserErrors& errors) {
  const auto factor = [](int, double charge, int, double other) {
    return STARPMC_COULOMB_CONSTANT * charge * other;
  };
  const double cutoff = topology.interaction.coulomb_cutoff;
  Ranged at{ErrorBound(topology.functions->coulomb, {}),
            {least_distance(), cutoff, pairs.displacement(), 1, kOverlapOfCharges}};
  auto molecules = pairs.of_molecules(factor);
  auto nuclei = pairs.of_nuclei(factor);
  molecules.erase(0);
  nuclei.erase(0);
  add_mm_function({topology.functions->coulomb, {}, at.options}, pairs.single_from(), molecules,
                  sum);
  add_grid(error_cells(at.function, at.options), at, errors);
  if (topology.functions->grid_as_pairs && pairs.single()) {
    errors.coulomb_scale =
        std::max(errors.coulomb_scale, grid_error_in_single(topology.functions->coulomb, cutoff));
  }
  at.options.displacement = pairs.wide_displacement();
  at.options.overlap = kOverlapWithNuclei;
  add_function(at, nuclei, sum);
}

/// A function of pairs of site types.
struct TypedFunction {
  const Program& program;
  int first;  ///< value of a pair (PairLayout)
  double displacement;
  double single_from;  ///< distance from which on it may be in fp32
};

void add_typed(const TopologyBuffers& topology, const TypedFunction& function,
               const std::map<std::pair<int, int>, Densities>& pairs, PairErrors& sum) {
  const Topology view = topology.view();
  std::map<std::vector<double>, Densities> distinct;
  for (const auto& [types, densities] : pairs) {
    const double* const values = view.pair(types.first, types.second) + function.first;
    if (values[0] == 0) continue;
    const std::span coefficients(values + 1, function.program.inputs.size() - 1);
    Densities& total = distinct[{coefficients.begin(), coefficients.end()}];
    total.resize(densities.size());
    std::ranges::transform(total, densities, total.begin(), std::plus());
  }
  const int share = kHalvingsOfAll / std::max(1, static_cast<int>(distinct.size()));
  for (const auto& [coefficients, densities] : distinct) {
    add_mm_function({function.program,
                     coefficients,
                     {least_distance(), topology.interaction.vdw_cutoff, function.displacement, 1,
                      kOverlap, std::clamp(share, kLeastHalvings, kMostHalvings)}},
                    function.single_from, {{1.0, densities}}, sum);
  }
}

}  // namespace

UserErrors user_errors(Precision precision, const TopologyBuffers& topology) {
  UserErrors errors;
  if (topology.functions == nullptr) return errors;
  const Potential& functions = *topology.functions;
  const Pairs pairs(precision, topology);
  PairErrors sum(pairs.types());
  if (Potential::exists(functions.coulomb)) add_coulomb(topology, pairs, sum, errors);
  const auto types = [](int a, double, int b, double) { return std::pair(a, b); };
  if (Potential::exists(functions.mm)) {
    add_typed(
        topology,
        {functions.mm, topology.shape.pairs.mm_function, pairs.displacement(), pairs.single_from()},
        pairs.of_molecules(types), sum);
  }
  if (Potential::exists(functions.qmmm)) {
    add_typed(topology,
              {functions.qmmm, topology.shape.pairs.qmmm_function, pairs.wide_displacement(),
               std::numeric_limits<double>::infinity()},
              pairs.of_nuclei(types), sum);
  }
  errors.absolute = sum.absolute();
  errors.relative = sum.relative();
  return errors;
}

}  // namespace starpmc
