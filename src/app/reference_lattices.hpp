#pragma once

#include <vector>

#include "app/engine_team.hpp"
#include "config/settings.hpp"
#include "potential/lattice_plan.hpp"
#include "qm/engine.hpp"
#include "qm/solute_reference.hpp"
#include "system/system.hpp"

namespace starpmc {

enum class Fineness {
  rough,  ///< for rounds in which the reference is found
  fine
};

LatticeChoice potential_choice(Fineness fineness, double coulomb_cutoff);

/// The tables of a reference: of density and nuclei, and of the response. The engine is first asked
/// for the potential of its density alone, which takes many positions, then for the response, and
/// for its potentials at a few. Potentials are shared out among a team, in slices of a fixed size.
class ReferenceLattices {
 public:
  /// @param progress may be empty
  ReferenceLattices(const System& system, const Settings& settings, Fineness fineness,
                    QmEngine& engine, EngineTeam& team, WorkProgress progress);
  /// @param reference gets all that the engine tells of it, and the tables
  void make(const ResponseRequest& request, SoluteReference& reference);

 private:
  std::vector<double> potentials(const std::vector<Vector3>& positions, std::size_t first_row,
                                 std::size_t rows, const char* what);

  const System& system_;
  const Settings& settings_;
  Fineness fineness_;
  QmEngine& engine_;
  EngineTeam& team_;
  WorkProgress progress_;
};

}  // namespace starpmc
