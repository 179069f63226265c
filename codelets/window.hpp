#pragma once

#include <string>
#include <type_traits>

#include "codelets/buffers.hpp"
#include "kernels/all_precisions.hpp"
#include "kernels/operations.hpp"

/// What the codelets of a window share.
namespace starpmc::codelets {

/// Arguments every task of a window starts with.
struct WindowArguments : TaskArguments {
  WindowLayout layout;
  Interaction interaction;
  TopologyShape topology;
  opencl::WindowExtent extent;
  /// The user's pair functions; null: none. They outlive the tasks.
  const Potential* potential = nullptr;
};

/// Handles of a window that several codelets read.
struct WindowHandles {
  starpu_data_handle_t topology_reals;
  starpu_data_handle_t topology_integers;
  starpu_data_handle_t plan;
  starpu_data_handle_t entries;
};

/// Places of the buffers that every task of a window begins with.
enum WindowBuffers : std::size_t {
  kTopologyReals,
  kTopologyIntegers,
  kPlan,
  kEntries,
  kWindowBuffers  ///< how many
};

/// A window's accesses followed by `more`.
inline std::vector<Access> accesses_of(const WindowHandles& handles,
                                       std::initializer_list<Access> more) {
  std::vector<Access> all{{handles.topology_reals, STARPU_R},
                          {handles.topology_integers, STARPU_R},
                          {handles.plan, STARPU_R},
                          {handles.entries, STARPU_R}};
  all.insert(all.end(), more);
  return all;
}

inline Topology topology_view(HostBuffers b, const TopologyShape& shape) {
  return {shape, b.read<double>(kTopologyReals), b.read<int>(kTopologyIntegers)};
}

inline Window window_view(HostBuffers b, const WindowArguments& arguments) {
  return {arguments.layout,   arguments.interaction,    topology_view(b, arguments.topology),
          b.read<int>(kPlan), b.read<double>(kEntries), arguments.potential};
}

inline opencl::Window opencl_window(DeviceBuffers b, const WindowArguments& arguments) {
  return {arguments.layout,     arguments.interaction,   arguments.topology, arguments.extent,
          b.at(kTopologyReals), b.at(kTopologyIntegers), b.at(kPlan),        b.at(kEntries)};
}

/// "starpmc_qmmm_coulomb_grid_mixed", what the codelets of an operation share of their names.
template <class Real>
std::string operation_name(const char* operation) {
  constexpr const char* kSuffixes[] = {"_fp64", "_mixed", "_fixed"};
  return std::string("starpmc_") + operation +
         kSuffixes[static_cast<std::size_t>(kPrecisionOf<Real>)];
}
/// The name of a codelet and of its performance model, with the potential's hash.
template <class Real>
std::string codelet_name(const char* operation) {
  return with_potential_hash(operation_name<Real>(operation));
}

}  // namespace starpmc::codelets
