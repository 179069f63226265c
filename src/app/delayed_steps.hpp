#pragma once

#include <span>
#include <vector>

#include "sampling/chain.hpp"

namespace starpmc {

/// What a chain tells of steps that may be thrown away, kept until that is known.
class DelayedSteps final : public ChainObserver {
 public:
  void on_step(std::uint64_t step, bool accepted, const EnergyTerms& totals) override {
    steps_.push_back({step, accepted, totals});
    bytes_ += sizeof(Step);
  }
  void on_frame(std::uint64_t step, std::span<const Molecule> molecules) override {
    frames_.push_back({step, {molecules.begin(), molecules.end()}});
    bytes_ += molecules.size_bytes();
  }
  void on_virial(std::uint64_t step, const VirialTerms& terms) override {
    virials_.push_back({step, terms});
    bytes_ += sizeof(Virial);
  }

  std::size_t bytes() const { return bytes_; }
  /// In the order in which it came.
  void tell(ChainObserver& observer) const {
    std::size_t virial = 0;
    std::size_t frame = 0;
    for (const Step& step : steps_) {
      observer.on_step(step.number, step.accepted, step.totals);
      for (; virial < virials_.size() && virials_[virial].step == step.number; ++virial) {
        observer.on_virial(step.number, virials_[virial].terms);
      }
      for (; frame < frames_.size() && frames_[frame].step == step.number; ++frame) {
        observer.on_frame(step.number, frames_[frame].molecules);
      }
    }
  }

 private:
  struct Step {
    std::uint64_t number;
    bool accepted;
    EnergyTerms totals;
  };
  struct Frame {
    std::uint64_t step;
    std::vector<Molecule> molecules;
  };
  struct Virial {
    std::uint64_t step;
    VirialTerms terms;
  };

  std::vector<Step> steps_;
  std::vector<Frame> frames_;
  std::vector<Virial> virials_;
  std::size_t bytes_ = 0;
};

}  // namespace starpmc
