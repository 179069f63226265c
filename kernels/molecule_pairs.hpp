#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/program.hpp"

/// The user's functions over the pairs of sites of one molecule with many others.
namespace starpmc {

struct Potential;
struct Topology;

/// Energies of two MM molecules.
enum class MoleculeEnergy : std::uint8_t { coulomb, vdw };

/// A function of some pairs of sites; 0 for the others. What a molecule's energy is a sum of.
struct PairTerm {
  Program program;  ///< r^2 (A^2), then coefficients of the pair of sites; one output, kJ/mol
  MoleculeEnergy energy;

  std::size_t coefficients() const { return program.inputs.size() - 1; }
};

/// A program of one output times another input, its last.
Program with_factor(Program program);

/// The terms of two MM molecules under the user's functions: always Coulomb (the user's function or
/// the shifted force), built-in Lennard-Jones; the user's function where there is one.
std::vector<PairTerm> molecule_terms(const Potential& potential);

/// Terms and coefficients of every site of one molecule type with every site of another.
/// @tparam T float or double, as of all that follows
template <class T>
struct SitePairTerms {
  SitePairTerms(std::span<const PairTerm> terms, const Topology& topology, double coulomb_cutoff,
                int target_type, int source_type);

  std::size_t targets;
  std::size_t sources;
  /// Per pair [source][target]: bit t says that it has term t.
  std::vector<std::uint32_t> present;
  /// Per pair: the coefficients of all terms in a row.
  std::vector<T> coefficients;
};

/// A whole number of vectors of every instruction set.
template <class T>
inline constexpr std::size_t kMoleculeGrain = 64 / sizeof(T);

template <class T>
struct MoleculePairArguments {
  const SitePairTerms<T>* sites = nullptr;
  std::size_t count = 0;       ///< of source molecules: a multiple of kMoleculeGrain
  std::size_t stride = 0;      ///< from one row of sources to the next
  const T* sources = nullptr;  ///< x, y, z of each site: rows of `count` values, A
  const T* targets = nullptr;  ///< x, y, z of each site of the target
  /// In fixed precision the positions are these, as fixed_coordinate(), whose differences wrap by
  /// themselves; `units` are their lengths.
  const std::int32_t* fixed_sources = nullptr;
  const std::int32_t* fixed_targets = nullptr;
  T units[3] = {};
  /// Edges of the box, where displacements of sites need a periodic image of their own; else null.
  const double* box = nullptr;
  T squared_cutoffs[2] = {};  ///< by MoleculeEnergy
  T* energies[2] = {};        ///< by MoleculeEnergy: `count` values, overwritten
};

/// Energies of one molecule with many others, one way or another. One per thread.
template <class T>
class MoleculePairs {
 public:
  MoleculePairs() = default;
  MoleculePairs(const MoleculePairs&) = delete;
  MoleculePairs& operator=(const MoleculePairs&) = delete;
  virtual ~MoleculePairs() = default;
  virtual void operator()(const MoleculePairArguments<T>& arguments) = 0;
};

}  // namespace starpmc
