#include "qm/shared_device.hpp"

#include <utility>

namespace starpmc {

bool is_gpu(const std::string& device) { return !device.empty() && !device.starts_with("CPU"); }

std::unique_ptr<WorkerEngine> SharedDevice::start(WorkerCommand command, QmRequest request,
                                                  bool again) {
  request.device_workers = workers_;
  request.device_required = !again;
  std::unique_lock lock(mutex_);
  const bool choose = request.device == "auto" && chosen_.empty();
  if (choose) {
    // Its forecast comes with the choice, long before it is ready. Without one the next chooses.
    command.on_forecast = [&, told = command.on_forecast](const QmForecast& forecast) {
      if (lock.owns_lock()) {
        chosen_ = is_gpu(forecast.device) ? "gpu" : "cpu";
        lock.unlock();
      }
      if (told) told(forecast);
    };
  } else {
    if (request.device == "auto") request.device = chosen_;
    lock.unlock();
  }
  auto engine = std::make_unique<WorkerEngine>(command, request);
  if (lock.owns_lock()) chosen_ = is_gpu(engine->device()) ? "gpu" : "cpu";
  return engine;
}

}  // namespace starpmc
