#include "bench/paper_power.hpp"

#include <CL/cl.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <starpu.h>
#include <starpu_opencl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "seconds_since.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

/// One package's counter, microjoules; it begins again at 0 beyond its range.
class RaplPackage {
 public:
  explicit RaplPackage(fs::path folder) : folder_(std::move(folder)) {
    range_ = number("max_energy_range_uj").value_or(0);
    last_ = number("energy_uj").value_or(0);
  }
  static bool readable(const fs::path& folder) {
    double value = 0;
    return static_cast<bool>(std::ifstream(folder / "energy_uj") >> value);
  }
  double microjoules() {
    const double now = number("energy_uj").value_or(last_);
    sum_ += now >= last_ ? now - last_ : now + range_ - last_;
    last_ = now;
    return sum_;
  }

 private:
  std::optional<double> number(const char* file) const {
    double value = 0;
    if (std::ifstream(folder_ / file) >> value) return value;
    return {};
  }

  fs::path folder_;
  double range_ = 0;
  double last_ = 0;
  double sum_ = 0;
};

class RaplCounter final : public EnergyCounter {
 public:
  RaplCounter(std::vector<RaplPackage> packages, std::string name)
      : packages_(std::move(packages)), name_(std::move(name)) {}
  double joules() override {
    double sum = 0;
    for (RaplPackage& package : packages_) sum += 1e-6 * package.microjoules();
    return sum;
  }
  std::string name() const override { return name_; }

 private:
  std::vector<RaplPackage> packages_;
  std::string name_;
};

/// What is used of NVML, by the names and types of its documented C interface.
class Nvml {
 public:
  using Device = void*;
  explicit Nvml(const std::string& library)
      : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) {
      problem_ = "no " + library;
      return;
    }
    const bool complete = load(initialise_, "nvmlInit_v2") && load(shut_down_, "nvmlShutdown") &&
                          load(by_bus_, "nvmlDeviceGetHandleByPciBusId_v2") &&
                          load(by_index_, "nvmlDeviceGetHandleByIndex_v2") &&
                          load(name_, "nvmlDeviceGetName") &&
                          load(energy_, "nvmlDeviceGetTotalEnergyConsumption") &&
                          load(power_, "nvmlDeviceGetPowerUsage");
    if (!complete) {
      problem_ = library + " lacks functions";
    } else if (const int status = initialise_(); status != 0) {
      problem_ = fmt::format("NVML does not start ({})", status);
    } else {
      running_ = true;
    }
  }
  ~Nvml() {
    if (running_) shut_down_();
    if (library_ != nullptr) dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  const std::string& problem() const { return problem_; }
  std::optional<Device> device(const std::string& bus) const {
    Device found = nullptr;
    const int status = bus.empty() ? by_index_(0, &found) : by_bus_(bus.c_str(), &found);
    if (status != 0) return {};
    return found;
  }
  std::string name(Device device) const {
    std::array<char, 96> text{};
    name_(device, text.data(), static_cast<unsigned>(text.size() - 1));
    return text.data();
  }
  std::optional<double> joules(Device device) const {
    unsigned long long millijoules = 0;
    if (energy_(device, &millijoules) != 0) return {};
    return 1e-3 * static_cast<double>(millijoules);
  }
  std::optional<double> watts(Device device) const {
    unsigned milliwatts = 0;
    if (power_(device, &milliwatts) != 0) return {};
    return 1e-3 * milliwatts;
  }

 private:
  template <class Function>
  bool load(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(library_, name));
    return function != nullptr;
  }

  void* library_;
  int (*initialise_)() = nullptr;
  int (*shut_down_)() = nullptr;
  int (*by_bus_)(const char*, Device*) = nullptr;
  int (*by_index_)(unsigned, Device*) = nullptr;
  int (*name_)(Device, char*, unsigned) = nullptr;
  int (*energy_)(Device, unsigned long long*) = nullptr;
  int (*power_)(Device, unsigned*) = nullptr;
  std::string problem_;
  bool running_ = false;
};

/// Volta and later count energy themselves.
class NvmlEnergy final : public EnergyCounter {
 public:
  NvmlEnergy(std::unique_ptr<Nvml> nvml, Nvml::Device device)
      : nvml_(std::move(nvml)), device_(device) {}
  double joules() override {
    last_ = nvml_->joules(device_).value_or(last_);
    return last_;
  }
  std::string name() const override { return "NVML: " + nvml_->name(device_); }

 private:
  std::unique_ptr<Nvml> nvml_;
  Nvml::Device device_;
  double last_ = 0;
};

/// Older ones tell their power only: as in the paper, it is read at intervals.
class NvmlPower final : public EnergyCounter {
 public:
  NvmlPower(std::unique_ptr<Nvml> nvml, Nvml::Device device)
      : nvml_(std::move(nvml)), device_(device), thread_([this] { sample(); }) {}
  ~NvmlPower() override {
    stopping_ = true;
    thread_.join();
  }
  NvmlPower(const NvmlPower&) = delete;
  NvmlPower& operator=(const NvmlPower&) = delete;
  double joules() override { return joules_; }
  std::string name() const override { return "NVML: " + nvml_->name(device_) + ", power sampled"; }

 private:
  void sample() {
    constexpr auto kInterval = std::chrono::milliseconds(15);  // 66.7 Hz, as in the paper
    auto last = std::chrono::steady_clock::now();
    while (!stopping_) {
      std::this_thread::sleep_for(kInterval);
      const auto now = std::chrono::steady_clock::now();
      const double seconds = std::chrono::duration<double>(now - last).count();
      joules_ = joules_ + seconds * nvml_->watts(device_).value_or(0);
      last = now;
    }
  }

  std::unique_ptr<Nvml> nvml_;
  Nvml::Device device_;
  std::atomic<bool> stopping_{false};
  std::atomic<double> joules_{0};
  std::thread thread_;  // last: it uses the others
};

/// "0000:1a:00.0" of an OpenCL device, by NVIDIA's extension; empty: it does not say.
std::string pci_bus_id(int device) {
  constexpr cl_device_info kBus = 0x4008;     // CL_DEVICE_PCI_BUS_ID_NV
  constexpr cl_device_info kSlot = 0x4009;    // CL_DEVICE_PCI_SLOT_ID_NV
  constexpr cl_device_info kDomain = 0x400A;  // CL_DEVICE_PCI_DOMAIN_ID_NV
  cl_device_id id = nullptr;
  starpu_opencl_get_device(device, &id);
  cl_uint bus = 0;
  cl_uint slot = 0;
  cl_uint domain = 0;
  if (clGetDeviceInfo(id, kBus, sizeof bus, &bus, nullptr) != CL_SUCCESS) return "";
  clGetDeviceInfo(id, kSlot, sizeof slot, &slot, nullptr);
  clGetDeviceInfo(id, kDomain, sizeof domain, &domain, nullptr);
  // The slot holds the device in its upper five bits and the function in the lower three.
  return fmt::format("{:08x}:{:02x}:{:02x}.{:x}", domain, bus, slot >> 3U, slot & 7U);
}

}  // namespace

double mean_watts(EnergyCounter& counter, double seconds, const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const double before = counter.joules();
  const auto start = Clock::now();
  double spent = 0;
  while (spent < seconds) {
    work();
    spent = seconds_since(start);
  }
  return (counter.joules() - before) / spent;
}

EnergyReading rapl_counter(const fs::path& powercap) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(powercap, error)) {
    const std::string name = entry.path().filename().string();
    // intel-rapl:0 is a package (of AMD processors, too), intel-rapl:0:0 a part of it
    if (name.starts_with("intel-rapl:") && std::ranges::count(name, ':') == 1) {
      folders.push_back(entry.path());
    }
  }
  if (folders.empty()) return {nullptr, "no RAPL counters in " + powercap.string()};
  std::ranges::sort(folders);
  std::vector<RaplPackage> packages;
  std::string names;
  for (const fs::path& folder : folders) {
    std::string name;
    std::ifstream(folder / "name") >> name;
    if (!name.starts_with("package")) continue;  // psys counts the packages again
    if (!RaplPackage::readable(folder)) {
      return {nullptr, (folder / "energy_uj").string() + " may not be read (ask root)"};
    }
    packages.emplace_back(folder);
    names += (names.empty() ? "RAPL: " : ", ") + name;
  }
  if (packages.empty()) return {nullptr, "no package among the counters of " + powercap.string()};
  return {std::make_unique<RaplCounter>(std::move(packages), names), ""};
}

EnergyReading nvml_counter(const std::string& pci_bus_id, const std::string& library) {
  auto nvml = std::make_unique<Nvml>(library);
  if (!nvml->problem().empty()) return {nullptr, nvml->problem()};
  const auto device = nvml->device(pci_bus_id);
  if (!device) return {nullptr, "NVML does not know the device " + pci_bus_id};
  if (nvml->joules(*device)) return {std::make_unique<NvmlEnergy>(std::move(nvml), *device), ""};
  if (nvml->watts(*device)) return {std::make_unique<NvmlPower>(std::move(nvml), *device), ""};
  return {nullptr, nvml->name(*device) + " gives no power readings"};
}

EnergyReading energy_counter(const BenchTarget& target) {
  if (target.implementation != Implementation::opencl) return rapl_counter();
  if (target.worker == codelets::kAnyWorker) return {nullptr, "several devices at once"};
  const int device = starpu_worker_get_devid(target.worker);
  cl_device_id id = nullptr;
  starpu_opencl_get_device(device, &id);
  cl_device_type type = 0;
  clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, nullptr);
  if ((type & CL_DEVICE_TYPE_CPU) != 0) return rapl_counter();
  return nvml_counter(pci_bus_id(device));
}

}  // namespace starpmc
