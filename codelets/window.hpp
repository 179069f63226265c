#pragma once

#include <string>
#include <type_traits>

#include "kernels/operations.hpp"
#include "runtime/codelet.hpp"
#include "runtime/opencl_programs.hpp"

/// Instantiates an operation, a function template without overloads, for every precision.
#define STARPMC_FOR_ALL_PRECISIONS(operation)             \
  template decltype(operation<double>) operation<double>; \
  template decltype(operation<float>) operation<float>;   \
  template decltype(operation<FixedCoordinate>) operation<FixedCoordinate>;

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

/// Buffers 0 to 3 of every task of a window.
inline std::array<Access, 4> window_accesses(const WindowHandles& handles) {
  return {{{handles.topology_reals, STARPU_R},
           {handles.topology_integers, STARPU_R},
           {handles.plan, STARPU_R},
           {handles.entries, STARPU_R}}};
}
inline constexpr std::size_t kWindowBuffers = 4;

inline Window window_view(void* buffers[], const WindowArguments& arguments) {
  return {arguments.layout,
          arguments.interaction,
          {arguments.topology, span_of<const double>(buffers[0]), span_of<const int>(buffers[1])},
          span_of<const int>(buffers[2]),
          span_of<const double>(buffers[3]),
          arguments.potential};
}

inline opencl::Window opencl_window(void* buffers[], const WindowArguments& arguments) {
  return {arguments.layout,          arguments.interaction,     arguments.topology,
          arguments.extent,          opencl_buffer(buffers[0]), opencl_buffer(buffers[1]),
          opencl_buffer(buffers[2]), opencl_buffer(buffers[3])};
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

/// A window's accesses followed by `more`.
inline std::vector<Access> accesses_of(const WindowHandles& handles,
                                       std::initializer_list<Access> more) {
  const auto window = window_accesses(handles);
  std::vector<Access> all(window.begin(), window.end());
  all.insert(all.end(), more);
  return all;
}

}  // namespace starpmc::codelets
