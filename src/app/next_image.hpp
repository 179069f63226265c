#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "app/inputs.hpp"
#include "app/profile_images.hpp"
#include "app/run_engines.hpp"
#include "app/run_reference.hpp"
#include "app/simulation.hpp"

namespace starpmc {

/// The next image of a profile, while one is sampled: its QM engines start, and where a device
/// samples, so that the cores have time, they make its reference, too, and the first one of the
/// image after it starts, which will be enough to begin that one's. What comes of it is what the
/// image would make when it is its turn. Whatever goes wrong is left to that turn, which says it;
/// but where a task of StarPU's fails, the image that is sampled ends, too.
class NextImage {
 public:
  /// @param chains   of an image, as many of them as are this process'
  /// @param image    that has not been begun
  /// @param after    the one that comes after it and has not been begun, either; may be none
  /// @param sampling of the image before; its run() is under way
  /// @param begun    the image's engines, where the first has been started: take_later() of the
  ///                 image before; may be null
  /// @param idle     the workers of earlier images, which serve these ones
  /// @param server   behind which they use a GPU; may be null
  NextImage(const ProfileImages& images, unsigned chains, std::size_t image,
            std::optional<std::size_t> after, Simulation& sampling,
            std::unique_ptr<RunEngines> begun, std::shared_ptr<IdleWorkers> idle,
            std::shared_ptr<DeviceServer> server) noexcept;
  /// Without finish(): `sampling` is stopped, too.
  ~NextImage();
  NextImage(const NextImage&) = delete;
  NextImage& operator=(const NextImage&) = delete;

  bool makes_reference() const { return reference_.has_value(); }
  /// Waits for what has been begun; before the end of `sampling`, whose workers it takes.
  /// @return null: there are none
  std::unique_ptr<RunEngines> finish();
  /// Those of the image after it, of which only the first has been started; null: none has. After
  /// finish().
  std::unique_ptr<RunEngines> take_later() { return std::move(later_); }

 private:
  void start(std::unique_ptr<RunEngines> begun);
  std::unique_ptr<RunEngines> start_engines(const Inputs& inputs, unsigned count) const;
  void cancel_with_sampling(const RunEngines& engines);
  unsigned engines_with_memory(const char* of, unsigned wanted, unsigned begun = 0) const;
  void make_reference(const std::string& device);
  void start_later() noexcept;

  const ProfileImages& images_;
  std::size_t image_;
  std::optional<std::size_t> after_;
  Simulation& sampling_;
  std::shared_ptr<IdleWorkers> idle_;
  std::shared_ptr<DeviceServer> server_;
  unsigned chains_;  ///< of this process
  std::optional<Inputs> inputs_;
  std::unique_ptr<RunEngines> engines_;
  std::unique_ptr<RunEngines> later_;
  std::once_flag later_begun_;
  std::optional<RunReference> reference_;
};

}  // namespace starpmc
