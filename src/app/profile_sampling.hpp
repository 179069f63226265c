#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/profile_images.hpp"
#include "app/run_engines.hpp"
#include "app/simulation.hpp"
#include "mpi/ranks.hpp"

namespace starpmc {

/// A signal came; what has been sampled is kept.
struct Stopped {
  int signal;
};

/// Also where it came while a simulation ended. All ranks call it.
/// @throws Stopped at all of them, where any has had a signal
void stop_if_interrupted(Ranks& ranks);

/// The command that goes on with a profile, without the program's name, and as the user writes it.
std::vector<std::string> arguments_to_go_on(const ProfileImages& images);
std::string how_to_go_on(const Ranks& ranks, const ProfileImages& images);

/// Samples the images of a profile, one after the other, each on all cores and devices of all
/// ranks. Which, and how each begins, is what rank 0 finds in the folder.
class ProfileSampling {
 public:
  ProfileSampling(Ranks& ranks, const ProfileImages& images) : ranks_(ranks), images_(images) {}

  /// What is not there yet, in turn. All ranks call it.
  /// @throws Stopped at all ranks; as Simulation does
  void sample_missing();

 private:
  /// An image that lacks steps.
  struct Missing {
    std::size_t image;
    std::uint64_t steps;  ///< of production in all
  };
  /// How its run starts.
  struct Start {
    Begin begin;
    Inputs inputs;
  };

  std::vector<Missing> missing();
  Start start_of(const Missing& missing);
  double sample(const Missing& missing, std::span<const Missing> next);
  double simulate(const Missing& missing, std::span<const Missing> next);
  unsigned own_chains(unsigned chains) const;
  std::optional<std::size_t> absent(std::span<const Missing> next, std::size_t number) const;

  Ranks& ranks_;
  const ProfileImages& images_;
  // What an image needs of the one before it, and leaves to the next.
  /// Behind which the workers of all images use a GPU, and which outlives them; may be null.
  std::shared_ptr<DeviceServer> server_;
  /// Workers that no image needs at the moment.
  std::shared_ptr<IdleWorkers> idle_ = std::make_shared<IdleWorkers>();
  std::unique_ptr<RunEngines> engines_;  ///< started early; null: none
  std::unique_ptr<RunEngines> later_;    ///< of the image after, one of them
  std::string device_;                   ///< QmEngine::device() of the engines so far
  bool first_ = true;                    ///< no image has been sampled by this process
};

}  // namespace starpmc
