#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/data_handle.hpp"
#include "sampling/pair_virial.hpp"

namespace starpmc {

/// Windows on their way: their record, and of the lattice after the last what is due.
struct PendingWindows {
  std::uint64_t first_step;
  std::int64_t first_window;  ///< counted since the chain was made, for traces
  std::vector<opencl::WindowExtent> extents;
  DataHandle record;
  std::unique_ptr<HostCopy> frame{};        ///< null: none due
  std::unique_ptr<PendingVirial> virial{};  ///< the same

  std::uint64_t end() const {
    std::uint64_t step = first_step;
    for (const auto& extent : extents) step += static_cast<std::uint64_t>(extent.steps);
    return step;
  }
};

/// One of those that are not in use, or a new one.
inline DataHandle take_spare(std::vector<DataHandle>& spare, std::size_t size) {
  if (spare.empty()) return DataHandle::temporary<double>(size);
  DataHandle handle = std::move(spare.back());
  spare.pop_back();
  return handle;
}

}  // namespace starpmc
