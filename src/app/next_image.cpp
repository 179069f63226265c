#include "app/next_image.hpp"

#include <exception>

#include "app/chain_count.hpp"
#include "kernels/base/logging.hpp"

namespace starpmc {

NextImage::NextImage(const ProfileImages& images, std::size_t image, Simulation& sampling) noexcept
    : sampling_(sampling) {
  try {
    start(images, image);
  } catch (const std::exception& failure) {
    spdlog::debug("the next image is not begun early: {}", failure.what());
  }
}

NextImage::~NextImage() {
  if (!engines_) return;
  sampling_.interruption().request();
  engines_.reset();  // their threads end before what they use does
}

void NextImage::start(const ProfileImages& images, std::size_t image) {
  const unsigned chains = images.inputs().settings.sampling.chains;
  // How many `auto` is comes out later.
  if (chains == 0 || sampling_.qm_memory_mb() * chains > spare_memory_mb()) return;
  inputs_ = images.begin_ahead(image);
  engines_ = std::make_unique<RunEngines>(*inputs_, chains);
  while (engines_->threads().started() < chains) engines_->threads().start();
  if (sampling_.has_device()) make_reference();
}

void NextImage::make_reference() {
  Interruption& interruption = sampling_.interruption();
  interruption.on_request([cancel = engines_->cancel_signal()] { cancel->raise(); });
  const unsigned chains = engines_->threads().started();
  reference_.emplace(*inputs_, interruption, true, engines_->helpers(chains),
                     "the next image's reference");
  engines_->threads().lend(
      [this](QmEngine& engine) { reference_->get(engine, [](const ProgressState&) {}); });
}

std::unique_ptr<RunEngines> NextImage::finish() {
  if (engines_ && reference_) engines_->threads().wait_for_engines();
  reference_.reset();
  return std::move(engines_);
}

}  // namespace starpmc
