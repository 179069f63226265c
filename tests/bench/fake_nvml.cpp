// Stands for NVIDIA's libnvidia-ml: one device that counts its energy, one that tells its power.
// FAKE_NVML_DEVICES in the environment says how many of them there are.

#include <cstdlib>
#include <cstring>

namespace {

struct Device {
  const char* uuid;
  bool counts_energy;
};
Device devices[] = {{"GPU-1a000000-0000-0000-0000-00000000000a", true},
                    {"GPU-1b000000-0000-0000-0000-00000000000b", false}};
constexpr int kNotFound = 6;
constexpr int kNotSupported = 3;

unsigned device_count() {
  const char* const count = std::getenv("FAKE_NVML_DEVICES");
  return count == nullptr ? 2 : static_cast<unsigned>(std::atoi(count));
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return 0; }

int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  for (Device& candidate : devices) {
    if (std::strcmp(candidate.uuid, uuid) != 0) continue;
    *device = &candidate;
    return 0;
  }
  return kNotFound;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = device_count();
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &devices[index];
  return 0;
}

int nvmlDeviceGetName(void*, char* name, unsigned length) {
  std::strncpy(name, "Fake GPU", length);
  return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  static unsigned long long energy = 0;
  if (!static_cast<Device*>(device)->counts_energy) return kNotSupported;
  energy += 1500;
  *millijoules = energy;
  return 0;
}

int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 70'000;
  return 0;
}

}  // extern "C"
