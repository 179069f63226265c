#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "io/energy_table.hpp"
#include "io/trajectory.hpp"
#include "sampling/chain.hpp"

namespace starpmc {

/// Counts steps, and keeps the first decisions.
class CountingObserver : public ChainObserver {
 public:
  void on_step(std::uint64_t step, bool accepted, const EnergyTerms& totals) override;
  void on_frame(std::uint64_t, std::span<const Molecule>) override {}
  std::uint64_t steps() const { return steps_; }
  std::uint64_t accepted() const { return accepted_; }
  const std::vector<bool>& first_decisions() const { return first_decisions_; }

 private:
  std::uint64_t steps_ = 0;
  std::uint64_t accepted_ = 0;
  std::vector<bool> first_decisions_;
};

/// Writes what a run would write by default, an energy every 100 steps and a frame every 1,000, and
/// knows how long that took.
class WritingObserver final : public CountingObserver {
 public:
  static constexpr std::uint64_t kFrameInterval = 1000;

  /// @param folder where the files are made
  WritingObserver(const System& system, const std::filesystem::path& folder);
  void on_step(std::uint64_t step, bool accepted, const EnergyTerms& totals) override;
  void on_frame(std::uint64_t step, std::span<const Molecule> molecules) override;
  void close();
  double seconds() const { return seconds_; }

 private:
  template <class Body>
  void timed(Body&& body);

  EnergyTable energies_;
  Trajectory trajectory_;
  double seconds_ = 0;
};

}  // namespace starpmc
