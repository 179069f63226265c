#include "app/next_image.hpp"

#include <algorithm>
#include <cmath>
#include <exception>

#include "app/chain_count.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/logging.hpp"

namespace starpmc {

NextImage::NextImage(const ProfileImages& images, unsigned chains, std::size_t image,
                     std::optional<std::size_t> after, Simulation& sampling,
                     std::unique_ptr<RunEngines> begun, std::shared_ptr<IdleWorkers> idle,
                     std::shared_ptr<DeviceServer> server) noexcept
    : images_(images),
      image_(image),
      after_(after),
      sampling_(sampling),
      idle_(std::move(idle)),
      server_(std::move(server)),
      chains_(chains) {
  try {
    start(std::move(begun));
  } catch (const std::exception& failure) {
    spdlog::info("the next image is not begun early: {}", failure.what());
  }
}

NextImage::~NextImage() {
  if (!engines_) return;
  sampling_.interruption().request();
  engines_->end();     // what uses the reference
  reference_.reset();  // what uses the engines
}

/// For how many of these engines there is memory; says so, where not for all.
/// @param of    which image
/// @param begun so many of them have theirs
unsigned NextImage::engines_with_memory(const char* of, unsigned wanted, unsigned begun) const {
  constexpr double kMegabytesOfGigabyte = 1000;
  // Those that have helped with a reference serve as helpers only.
  const unsigned there = begun + static_cast<unsigned>(idle_->count(begun, wanted));
  const double each_mb = sampling_.qm_memory_mb();
  const double room = std::floor(spare_memory_mb() / std::max(each_mb, 1.0));
  if (there + room >= wanted) return wanted;
  const unsigned engines = there + static_cast<unsigned>(room);
  spdlog::info(
      "{} of the {} QM workers of {} are started beside this one's: more, of {:.1f} GB each as "
      "estimated, would need more than half of the memory that is free",
      engines, wanted, of, each_mb / kMegabytesOfGigabyte);
  return engines;
}

/// One more than those of two images may be on a device at the same time.
std::unique_ptr<RunEngines> NextImage::start_engines(const Inputs& inputs, unsigned count) const {
  const unsigned users = 2 * qm_workers(inputs.settings.qm, chains_) + 1;
  auto engines = std::make_unique<RunEngines>(inputs, chains_, users, idle_, server_);
  while (engines->threads().started() < count) engines->threads().start();
  return engines;
}

/// A signal ends every wait for them.
void NextImage::cancel_with_sampling(const RunEngines& engines) {
  sampling_.interruption().on_request([cancel = engines.cancel_signal()] { cancel->raise(); });
}

void NextImage::start(std::unique_ptr<RunEngines> begun) {
  if (chains_ == 0) return;  // how many `auto` is comes out later
  const unsigned wanted = qm_workers(images_.inputs().settings.qm, chains_);
  const unsigned begun_before = begun ? begun->threads().started() : 0;
  const unsigned engines = engines_with_memory("the next image", wanted, begun_before);
  if (engines == 0) return;
  // Chains beyond them take turns at them, or theirs are started with the image.
  const unsigned count = engines == wanted ? chains_ : engines;
  inputs_ = read_inputs(images_.begin_ahead(image_), "profile");
  const std::string device = sampling_.qm_device();
  if (begun) cancel_with_sampling(*begun);
  if (begun && begun->serve(*inputs_, device)) {
    engines_ = std::move(begun);
    while (engines_->threads().started() < count) engines_->threads().start();
  } else {
    engines_ = start_engines(*inputs_, count);
    cancel_with_sampling(*engines_);
  }
  if (sampling_.has_device()) make_reference(device);
}

/// @param device where the image's own engines will be: others' densities differ in the last digits
void NextImage::make_reference(const std::string& device) {
  reference_.emplace(*inputs_, sampling_.interruption(), true, engines_->helpers(chains_),
                     "the next image's reference");
  engines_->threads().lend([this, device](QmEngine& engine) {
    if (engine.device() != device) throw RunError("the QM worker is on another device");
    reference_->get(engine, [this](const ProgressState&) {
      std::call_once(later_begun_, [this] { start_later(); });  // these ones are ready
    });
  });
}

void NextImage::start_later() noexcept {
  try {
    if (!after_ || engines_with_memory("the image after the next", 1) == 0) return;
    later_ = start_engines(read_inputs(images_.preview(*after_), "profile"), 1);
  } catch (const std::exception& failure) {
    spdlog::info("the image after the next is not begun early: {}", failure.what());
  }
}

std::unique_ptr<RunEngines> NextImage::finish() {
  // Those that are started with the image must not find the reference gone.
  if (engines_ && reference_) engines_->threads().take_back();
  reference_.reset();
  return std::move(engines_);
}

}  // namespace starpmc
