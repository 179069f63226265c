#include "kernels/opencl/host/build.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/base/logging.hpp"

namespace starpmc::opencl {
namespace {

std::string without_zeros(std::string text) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

std::string platform_text(cl_device_id device, cl_platform_info what) {
  cl_platform_id platform = nullptr;
  check(clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(platform), &platform, nullptr),
        "clGetDeviceInfo(CL_DEVICE_PLATFORM)");
  std::size_t size = 0;
  check(clGetPlatformInfo(platform, what, 0, nullptr, &size), "clGetPlatformInfo");
  std::string text(size, '\0');
  check(clGetPlatformInfo(platform, what, size, text.data(), nullptr), "clGetPlatformInfo");
  return without_zeros(text);
}

std::string build_log(cl_program program, cl_device_id device) {
  std::size_t size = 0;
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) !=
      CL_SUCCESS) {
    return "(no build log)";
  }
  std::string log(size, '\0');
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr) !=
      CL_SUCCESS) {
    return "(no build log)";
  }
  return log;
}

std::string cache_key(cl_device_id device, const std::string& text, const std::string& options) {
  std::string key;
  for (const cl_device_info what :
       {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION, CL_DRIVER_VERSION}) {
    key += device_text(device, what) + '\n';
  }
  key += platform_text(device, CL_PLATFORM_VERSION) + '\n';
  return key + options + '\n' + text;
}

/// Empty where the driver gives none.
std::vector<unsigned char> binary_of(cl_program program, cl_device_id device) {
  cl_uint count = 0;
  if (clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof(count), &count, nullptr) !=
      CL_SUCCESS) {
    return {};
  }
  std::vector<cl_device_id> devices(count);
  std::vector<std::size_t> sizes(count);
  if (clGetProgramInfo(program, CL_PROGRAM_DEVICES, count * sizeof(cl_device_id), devices.data(),
                       nullptr) != CL_SUCCESS ||
      clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, count * sizeof(std::size_t), sizes.data(),
                       nullptr) != CL_SUCCESS) {
    return {};
  }
  std::vector<std::vector<unsigned char>> binaries(count);
  std::vector<unsigned char*> pointers(count);
  for (std::size_t i = 0; i < count; ++i) {
    binaries[i].resize(sizes[i]);
    pointers[i] = sizes[i] == 0 ? nullptr : binaries[i].data();
  }
  if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, count * sizeof(unsigned char*),
                       pointers.data(), nullptr) != CL_SUCCESS) {
    return {};
  }
  const auto found = std::ranges::find(devices, device);
  if (found == devices.end()) return {};
  return binaries[static_cast<std::size_t>(found - devices.begin())];
}

/// Null where the driver does not take the binary.
Owned<cl_program> build_from_binary(cl_context context, cl_device_id device,
                                    const std::vector<unsigned char>& binary,
                                    const std::string& options) {
  const std::size_t size = binary.size();
  const unsigned char* bytes = binary.data();
  cl_int status = CL_SUCCESS;
  cl_int error = CL_SUCCESS;
  Owned<cl_program> program(
      clCreateProgramWithBinary(context, 1, &device, &size, &bytes, &status, &error));
  if (error == CL_SUCCESS && status == CL_SUCCESS) {
    error = clBuildProgram(program.get(), 1, &device, options.c_str(), nullptr, nullptr);
    if (error == CL_SUCCESS) return program;
  }
  spdlog::debug("kernel cache: the driver does not take a binary ({}); its source is built",
                error_name(error));
  return nullptr;
}

BuildHelp& build_help() {
  static BuildHelp help;
  return help;
}

std::vector<cl_platform_id> platforms() {
  cl_uint count = 0;
  check(clGetPlatformIDs(0, nullptr, &count), "clGetPlatformIDs");
  std::vector<cl_platform_id> found(count);
  check(clGetPlatformIDs(count, found.data(), nullptr), "clGetPlatformIDs");
  return found;
}

std::vector<cl_device_id> devices_of(cl_platform_id platform) {
  cl_uint count = 0;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) return {};
  std::vector<cl_device_id> found(count);
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, found.data(), nullptr),
        "clGetDeviceIDs");
  return found;
}

/// For build_into_cache(): numbers of platform and device, length of the options, these, the text.
/// None: the device is not among those that every process sees.
std::optional<std::string> request_of(cl_device_id device, const std::string& text,
                                      const std::string& options) {
  const std::vector<cl_platform_id> all = platforms();
  for (std::size_t platform = 0; platform < all.size(); ++platform) {
    const std::vector<cl_device_id> devices = devices_of(all[platform]);
    const auto found = std::ranges::find(devices, device);
    if (found == devices.end()) continue;
    std::ostringstream request;
    request << platform << ' ' << found - devices.begin() << ' ' << options.size() << '\n'
            << options << text;
    return request.str();
  }
  return {};
}

Owned<cl_program> build_from_text(cl_context context, cl_device_id device, const std::string& text,
                                  const std::string& options) {
  const char* characters = text.data();
  const std::size_t length = text.size();
  cl_int error = CL_SUCCESS;
  Owned<cl_program> program(clCreateProgramWithSource(context, 1, &characters, &length, &error));
  check(error, "clCreateProgramWithSource");
  error = clBuildProgram(program.get(), 1, &device, options.c_str(), nullptr, nullptr);
  if (error == CL_SUCCESS) return program;
  throw RunError("OpenCL: building the kernels for '" + device_text(device, CL_DEVICE_NAME) +
                 "' failed: " + std::string(error_name(error)) + " (" + std::to_string(error) +
                 ")\n" + build_log(program.get(), device));
}

}  // namespace

void set_build_help(BuildHelp help) { build_help() = std::move(help); }

void build_into_cache(const std::string& request) {
  std::istringstream words(request);
  std::size_t platform = 0;
  std::size_t device = 0;
  std::size_t options = 0;
  char end = 0;
  const bool read = words >> platform >> device >> options && words.get(end) && end == '\n';
  const auto begin = read ? static_cast<std::size_t>(words.tellg()) : request.size();
  if (!read || options > request.size() - begin) throw RunError("this asks for no kernels");
  const std::vector<cl_platform_id> all = platforms();
  const std::vector<cl_device_id> devices =
      platform < all.size() ? devices_of(all[platform]) : std::vector<cl_device_id>();
  const auto cache = BinaryCache::of_user();
  if (device >= devices.size() || !cache) throw RunError("there is no such device, or no cache");
  cl_int error = CL_SUCCESS;
  const Owned<cl_context> context(
      clCreateContext(nullptr, 1, &devices[device], nullptr, nullptr, &error));
  check(error, "clCreateContext");
  build_program(context.get(), devices[device], request.substr(begin + options),
                request.substr(begin, options), &*cache);
}

std::string device_text(cl_device_id device, cl_device_info what) {
  std::size_t size = 0;
  check(clGetDeviceInfo(device, what, 0, nullptr, &size), "clGetDeviceInfo");
  std::string text(size, '\0');
  check(clGetDeviceInfo(device, what, size, text.data(), nullptr), "clGetDeviceInfo");
  return without_zeros(text);
}

bool binaries_are_worth_keeping(cl_device_id device) {
  return platform_text(device, CL_PLATFORM_NAME) != "Portable Computing Language";
}

Owned<cl_program> build_program(cl_context context, cl_device_id device, const std::string& text,
                                const std::string& options, const BinaryCache* cache) {
  if (cache == nullptr) return build_from_text(context, device, text, options);
  const std::string key = cache_key(device, text, options);
  const auto kept = [&]() -> Owned<cl_program> {
    const auto binary = cache->load(key);
    return binary ? build_from_binary(context, device, *binary, options) : nullptr;
  };
  if (Owned<cl_program> program = kept()) return program;
  const BuildHelp help = build_help();
  if (help.tell) help.tell(device_text(device, CL_DEVICE_NAME));
  if (help.build && cache->takes_files()) {
    if (const auto request = request_of(device, text, options)) help.build(*request);
    if (Owned<cl_program> program = kept()) return program;
  }
  Owned<cl_program> program = build_from_text(context, device, text, options);
  const std::vector<unsigned char> binary = binary_of(program.get(), device);
  if (!binary.empty()) cache->store(key, binary);
  return program;
}

}  // namespace starpmc::opencl
