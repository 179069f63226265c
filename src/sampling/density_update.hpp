#pragma once

#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "qm/engine.hpp"
#include "sampling/chain_state.hpp"

namespace starpmc {

/// A chain's QM updates: the potential of its MM charges at the engine's quadrature points and at
/// the nuclei, then the engine as a task.
template <class Real>
class DensityUpdate {
 public:
  /// @param chains_here see make_chain(); one: no other needs the workers while the engine works
  DensityUpdate(ChainData<Real>& data, QmEngine& engine, unsigned chains_here);
  /// @param molecules current positions, for the analytic embedding
  /// @throws RunError when the engine fails
  QmResult run(std::span<const Molecule> molecules);

  bool is_of(const QmEngine& engine) const { return &engine_ == &engine; }

 private:
  void submit_potential();
  /// The task's body: puts the potential back into the engine's order and lets it work.
  void update(std::span<const std::span<const double>> parts);
  /// The same by the calling thread, where StarPU drives devices only.
  void update_here();

  ChainData<Real>& data_;
  QmEngine& engine_;
  bool alone_;
  std::exception_ptr error_;                       ///< of the task's body
  std::unique_ptr<BlockedPoints<double>> points_;  ///< quadrature points, then the nuclei
  std::vector<DataHandle> potential_;              ///< per part
  std::vector<std::uint32_t> slot_of_point_;
  std::size_t quadrature_points_ = 0;
  PointCharges charges_;
  QmResult result_;
};

}  // namespace starpmc
