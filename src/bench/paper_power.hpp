#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/target.hpp"

namespace starpmc {

/// A counter of the energy a device has taken.
class EnergyCounter {
 public:
  virtual ~EnergyCounter() = default;
  /// Joules since some moment; grows.
  virtual double joules() = 0;
  virtual std::string name() const = 0;  ///< "NVML: NVIDIA H200", "RAPL: package-0, package-1"
};

/// Energy of a device, or why it cannot be read.
struct EnergyReading {
  std::unique_ptr<EnergyCounter> counter;  ///< null: none
  std::string reason;                      ///< why there is none
};

/// Mean power while `work` is repeated for at least `seconds`.
double mean_watts(EnergyCounter& counter, double seconds, const std::function<void()>& work);

/// The processor packages, by the kernel's RAPL counters.
/// @param powercap /sys/class/powercap
EnergyReading rapl_counter(const std::filesystem::path& powercap = "/sys/class/powercap");

/// An NVIDIA GPU, by NVML: its energy counter, where it has none its power integrated over time by
/// a thread.
/// @param pci_bus_id "0000:1a:00.0"; empty: the first device
/// @param library    loaded at run time: a machine without it has no NVIDIA GPU
EnergyReading nvml_counter(const std::string& pci_bus_id,
                           const std::string& library = "libnvidia-ml.so.1");

/// Of what a case runs on. Under a running StarpuRuntime.
EnergyReading energy_counter(const BenchTarget& target);

}  // namespace starpmc
