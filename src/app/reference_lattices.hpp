#pragma once

#include <vector>

#include "app/engine_team.hpp"
#include "app/move_sample.hpp"
#include "config/settings.hpp"
#include "potential/lattice_plan.hpp"
#include "potential/potential_lattice.hpp"
#include "qm/engine.hpp"
#include "qm/solute_reference.hpp"
#include "sampling/topology_buffers.hpp"
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
  /// @param name     of the reference, in the log
  /// @param progress may be empty
  ReferenceLattices(const System& system, const Settings& settings, Fineness fineness,
                    QmEngine& engine, EngineTeam& team, std::string name, WorkProgress progress);
  /// @param moves     by which the errors of the tables are measured: finer ones are made as long
  ///                  as these are too large; null: not measured
  /// @param reference gets all that the engine tells of it, and the tables
  void make(const ResponseRequest& request, const MoveSample* moves, SoluteReference& reference);

 private:
  SoluteResponse respond(const ResponseRequest& request);
  LatticeSources sources(const SoluteResponse& response, std::span<const double> near) const;
  LatticeSources sources_of_response(const SoluteResponse& response,
                                     std::span<const double> near) const;
  void make_potential(const SoluteResponse& response, std::span<const double> near,
                      const LatticePlan& plan, SoluteReference& reference) const;
  void measure(const SoluteResponse& response, const MoveSample& moves,
               std::span<const std::size_t> near, std::span<const double> near_potentials,
               SoluteReference& reference) const;
  void make_response(const SoluteResponse& response, const MoveSample* moves,
                     SoluteReference& reference);
  std::vector<double> response_at(const std::vector<Vector3>& positions, double near_distance,
                                  const SoluteResponse& response);
  struct TableOf {
    const char* subject;
    double rms_kj_per_mol;
    double megabytes;
  };
  bool refine(LatticeChoice& choice, const TableOf& table, double& rms_before) const;
  void tell(const TableError& error, const LatticeValues& table, const char* subject) const;
  std::vector<double> potentials(const std::vector<Vector3>& positions, std::size_t first_row,
                                 std::size_t rows, const char* what);

  const System& system_;
  int asked_components_;  ///< 0: as many as serve
  Fineness fineness_;
  TopologyBuffers topology_;
  QmEngine& engine_;
  EngineTeam& team_;
  std::string name_;
  WorkProgress progress_;
};

}  // namespace starpmc
