#include "kernels/opencl/host/window_arrays.hpp"

#include <algorithm>

#include "kernels/base/error.hpp"
#include "kernels/opencl/host/window_work.hpp"

namespace starpmc::opencl {

void WindowArrays::place(Buffer& array, Way way) {
  if (array.memory == nullptr) return;
  if (array.bytes == Buffer::kSizeNotTold) {
    throw RunError("OpenCL: an array of a window has come without its size");
  }
  const std::size_t k = count_++;
  const int words = static_cast<int>(array.bytes / sizeof(cl_uint));
  arrays_.at(k) = array;
  places_.place[k] = static_cast<int>((memory_.offset_bytes + bytes_) / sizeof(cl_uint));
  words_in_[k] = way == Way::out ? 0 : words;
  words_out_[k] = way == Way::in ? 0 : words;
  array = behind(memory_, bytes_);
  bytes_ += aligned(arrays_[k].bytes);
}

// Kernels remember their arguments: each way has its own.
void WindowArrays::bring(DeviceProgram& program, cl_command_queue queue) {
  copy(program, queue, "bring_window_arrays", words_in_);
}
void WindowArrays::put_back(DeviceProgram& program, cl_command_queue queue) {
  copy(program, queue, "put_window_arrays_back", words_out_);
}

void WindowArrays::copy(DeviceProgram& program, cl_command_queue queue, const char* kernel,
                        const Words& words) {
  constexpr std::size_t kGroups = 64;
  constexpr std::size_t kItems = 128;
  std::ranges::copy(words, places_.words);
  Launch launch(program, queue, kernel);
  launch.with_memory_of(memory_).with(places_);
  for (std::size_t k = 0; k < HANDED_ARRAYS; ++k) {
    launch.with(words[k] == 0 ? memory_ : arrays_[k]);
  }
  launch.run({kGroups, 1}, {kItems, 1});
}

}  // namespace starpmc::opencl
