#include "base/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <cstddef>

namespace starpmc {
namespace {

constexpr std::size_t kBits = 8 * sizeof(unsigned long);
constexpr std::size_t kMostProcessors = 65536;

Processors at_start = Processors::of_this_thread();

}  // namespace

Processors Processors::of_process(pid_t process) {
  Processors found;
  found.mask_.resize(kMostProcessors / kBits);
  if (sched_getaffinity(process, found.mask_.size() * sizeof(unsigned long),
                        reinterpret_cast<cpu_set_t*>(found.mask_.data())) != 0) {
    found.mask_.clear();
  }
  return found;
}

Processors::Processors(std::span<const int> numbers) {
  for (const int number : numbers) {
    const auto bit = static_cast<std::size_t>(number);
    mask_.resize(std::max(mask_.size(), bit / kBits + 1));
    mask_[bit / kBits] |= 1UL << (bit % kBits);
  }
}

void Processors::use() const noexcept {
  if (mask_.empty()) return;
  sched_setaffinity(0, mask_.size() * sizeof(unsigned long),
                    reinterpret_cast<const cpu_set_t*>(mask_.data()));
}

std::vector<int> Processors::numbers() const {
  std::vector<int> numbers;
  for (std::size_t bit = 0; bit < mask_.size() * kBits; ++bit) {
    if ((mask_[bit / kBits] >> (bit % kBits) & 1UL) != 0) numbers.push_back(static_cast<int>(bit));
  }
  return numbers;
}

Processors& processors_at_start() { return at_start; }

}  // namespace starpmc
