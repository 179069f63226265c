#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "app/inputs.hpp"
#include "app/profile_images.hpp"
#include "app/run_engines.hpp"
#include "app/run_reference.hpp"
#include "app/simulation.hpp"

namespace starpmc {

/// The next image of a profile, while one is sampled: its QM engines start, and where a device
/// samples, so that the cores have time, they make its reference, too. What comes of it is what the
/// image would make when it is its turn. Whatever goes wrong is left to that turn, which says it.
class NextImage {
 public:
  /// @param image    that has not been begun
  /// @param sampling of the image before; its run() is under way
  NextImage(const ProfileImages& images, std::size_t image, Simulation& sampling) noexcept;
  /// Without finish(): `sampling` is stopped, too.
  ~NextImage();
  NextImage(const NextImage&) = delete;
  NextImage& operator=(const NextImage&) = delete;

  bool makes_reference() const { return reference_.has_value(); }
  /// Waits for what has been begun; before the end of `sampling`, whose workers it takes.
  /// @return null: there are none
  std::unique_ptr<RunEngines> finish();

 private:
  void start(const ProfileImages& images, std::size_t image);
  void make_reference();

  Simulation& sampling_;
  std::optional<Inputs> inputs_;
  std::unique_ptr<RunEngines> engines_;
  std::optional<RunReference> reference_;
};

}  // namespace starpmc
