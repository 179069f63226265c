#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/program.hpp"

/// The user's functions over the pairs of sites of one molecule with many others. A site, a nucleus
/// and a block of density points are molecules, too.
namespace starpmc {

struct Potential;
struct Topology;

/// What many molecules meet.
enum class PairsWith : std::uint8_t { molecules, nuclei, grid };

/// Energies of two molecules.
enum class MoleculeEnergy : std::uint8_t { coulomb, vdw };

/// A function of some pairs of sites; 0 for the others. What a molecule's energy is a sum of.
struct PairTerm {
  Program program;  ///< r^2 (A^2), then coefficients of the pair of sites; one output, kJ/mol
  MoleculeEnergy energy;

  std::size_t coefficients() const { return program.inputs.size() - 1; }
};

/// A program of one output times another input, its last.
Program with_factor(Program program);

/// The terms under the user's functions. With the grid: the Coulomb function times the charge of a
/// point. With molecules and nuclei: always Coulomb (the user's function or the shifted force) and
/// the built-in Lennard-Jones; the user's function where there is one.
std::vector<PairTerm> pair_terms(const Potential& potential, PairsWith with);

/// Terms and coefficients of pairs of sites.
/// @tparam T float or double, as of all that follows
template <class T>
struct SitePairTerms {
  /// Of terms_of_molecules(): the sites of each pair, the target's and the source's. Where there
  /// are none, every source meets every target: [source][target].
  std::vector<std::uint32_t> sites;
  /// The same: numbers of pairs, in turn, that are summed by themselves.
  std::vector<std::uint64_t> parts;
  /// Per pair: bit t says that it has term t.
  std::vector<std::uint32_t> present;
  /// Per pair: the coefficients of all terms in a row.
  std::vector<T> coefficients;

  /// Whether these are the nine pairs of three sites of a type with those of the same, as of most
  /// models of water: all have Coulomb energy, and at most the first sites (kPairOfFirstSites) have
  /// other energies.
  bool three_sites = false;

  /// Appends a pair under terms with molecules or nuclei.
  /// @param charges  product of the charges, times the Coulomb constant
  /// @param built_in c12, c6, shift, slope
  /// @param function 1 where there is a user's function, then its coefficients
  void add(std::span<const PairTerm> terms, double coulomb_cutoff, double charges,
           const double* built_in, const double* function);
};

/// The sites of one molecule type with those of another, as far as they have energy. The sum has
/// the same bits whichever molecule is the target: between types, the pairs come in the same order;
/// of one type, the parts are the pairs (i, j < i), the pairs (j, i) in the same order, and the
/// pairs (i, i).
template <class T>
SitePairTerms<T> terms_of_molecules(std::span<const PairTerm> terms, const Topology& topology,
                                    double coulomb_cutoff, int target_type, int source_type);

/// Of SitePairTerms::three_sites.
inline constexpr std::size_t kPairOfFirstSites = 6;

/// A whole number of vectors of every instruction set.
template <class T>
inline constexpr std::size_t kMoleculeGrain = 64 / sizeof(T);
template <class T>
constexpr std::size_t whole_grains(std::size_t count) {
  return (count + kMoleculeGrain<T> - 1) / kMoleculeGrain<T> * kMoleculeGrain<T>;
}

/// What the coordinates of the sources are in lists.
enum class SitesInLists : std::uint8_t { in_lanes, in_single, fixed_point };

/// Three sites of each molecule as lists have them.
template <class T>
struct ListedSites {
  SitesInLists sites = SitesInLists::in_lanes;
  const void* sources = nullptr;  ///< x, y, z of each site, as MoleculePairArguments::sources
  const void* targets = nullptr;  ///< x, y, z of each site, one value each; T or fixed-point
  /// x, y, z: half of what the sources' centres are away from the target's, in rows as the sources.
  /// Sites count from their centres; with these, each pair of molecules is seen from its middle.
  /// Not read in fixed precision.
  const T* halves = nullptr;
};

template <class T>
struct MoleculePairArguments {
  std::size_t target_count = 0;  ///< sites of the target
  std::size_t source_count = 0;  ///< of a source; not read where there are `rows`
  /// As SitePairTerms has them. Where there is one term all pairs have it: `present` is not read.
  std::span<const std::uint64_t> parts = {};
  /// SitePairTerms::sites as the places of their x in `targets` and `sources`.
  const std::uint64_t* rows = nullptr;
  const std::uint32_t* present = nullptr;
  const T* coefficients = nullptr;
  std::size_t count = 0;       ///< of source molecules: a multiple of kMoleculeGrain
  std::size_t stride = 0;      ///< from one row of sources to the next
  const T* sources = nullptr;  ///< x, y, z of each site: rows of `count` values, A
  /// x of each site of the target, then y, then z; where there are `rows`, rows as of the sources,
  /// so that each pair of molecules is seen from its middle.
  const T* targets = nullptr;
  /// In fixed precision the positions are these, as fixed_coordinate(), whose differences wrap by
  /// themselves; `units` are their lengths. There are `rows`; x of each target, then y, then z.
  const std::int32_t* fixed_sources = nullptr;
  const std::int32_t* fixed_targets = nullptr;
  T units[3] = {};
  /// In place of all these, and cheaper with the same bits: of SitePairTerms::three_sites, where
  /// MoleculePairs::takes() says so. `rows` are not read then.
  ListedSites<T> listed = {};
  /// Edges of the box, where displacements of sites need a periodic image of their own; else null.
  const double* box = nullptr;
  /// Whether all pairs are inside the cutoffs and farther than the minimum distance: neither is
  /// looked for.
  bool inside = false;
  /// The same of the minimum distance alone, with `listed`: it may be looked for.
  bool apart = false;
  T squared_cutoffs[2] = {};  ///< by MoleculeEnergy
  /// By MoleculeEnergy: `count` values, overwritten. Null where no term has it.
  T* energies[2] = {};
};

}  // namespace starpmc
