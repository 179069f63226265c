#include "app/next_image.hpp"

#include <algorithm>
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

/// For that many engines; says why, where there is not.
bool NextImage::has_memory(unsigned engines) const {
  constexpr double kMegabytesOfGigabyte = 1000;
  const double more = std::max(0.0, engines - static_cast<double>(idle_->count()));
  const double needed_mb = sampling_.qm_memory_mb() * more;
  const double spare_mb = spare_memory_mb();
  if (needed_mb <= spare_mb) return true;
  spdlog::info(
      "the next image's QM workers are not started beside this one's: {:.0f} more, of {:.1f} GB "
      "each as estimated, would need more than half of the memory that is free ({:.1f} GB); fewer "
      "(qm.workers) may have room",
      more, sampling_.qm_memory_mb() / kMegabytesOfGigabyte, 2 * spare_mb / kMegabytesOfGigabyte);
  return false;
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
  if (!has_memory(qm_workers(images_.inputs().settings.qm, chains_))) return;
  inputs_ = read_inputs(images_.begin_ahead(image_), "profile");
  const std::string device = sampling_.qm_device();
  if (begun) cancel_with_sampling(*begun);
  if (begun && begun->serve(*inputs_, device)) {
    engines_ = std::move(begun);
    while (engines_->threads().started() < chains_) engines_->threads().start();
  } else {
    engines_ = start_engines(*inputs_, chains_);
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
    if (!after_ || !has_memory(1)) return;
    later_ = start_engines(read_inputs(images_.preview(*after_), "profile"), 1);
  } catch (const std::exception& failure) {
    spdlog::info("the image after the next is not begun early: {}", failure.what());
  }
}

std::unique_ptr<RunEngines> NextImage::finish() {
  if (engines_ && reference_) engines_->threads().wait_for_engines();
  reference_.reset();
  return std::move(engines_);
}

}  // namespace starpmc
