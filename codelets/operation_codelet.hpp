#pragma once

#include "codelets/operations.hpp"

/// How an operation becomes a codelet (README.md, "One codelet"). A struct describes it: its data
/// are the plain data of a task, and it has
///   kName                   of the operation, and so of its performance models
///   kSimdKernel,
///   kScalarKernel           the functions that compute it on a core
///   host(kernel, buffers)   what calls either of them
///   device(place, buffers)  what enqueues it on a device
/// submit() does the rest.
namespace starpmc::codelets {

template <class Arguments>
using Kernel = void (*)(const Arguments&);

template <class Operation, auto kKernel>
void on_cpu(void* buffers[], void* argument) {
  guarded(Operation::kName,
          [&] { arguments_of<Operation>(argument).host(kKernel, HostBuffers(buffers)); });
}

template <class Real, class Operation>
void on_opencl(void* buffers[], void* argument) {
  guarded(Operation::kName, [&] {
    arguments_of<Operation>(argument).device(opencl_place(kPrecisionOf<Real>),
                                             DeviceBuffers(buffers));
  });
}

template <class Real, class Operation>
Codelet::Implementations implementations_of() {
  return {on_cpu<Operation, Operation::kSimdKernel>, on_cpu<Operation, Operation::kScalarKernel>,
          on_opencl<Real, Operation>};
}

/// Submits a task of the operation's codelet for a precision, which is made with the first.
/// @param work     how much: what the performance model is keyed by
/// @param accesses in the order of the places that the operation gives its buffers
template <class Real, class Operation>
void submit(Operation task, double work, const std::vector<Access>& accesses) {
  static PotentialCodelet codelet(operation_name<Real>(Operation::kName),
                                  implementations_of<Real, Operation>());
  task.work_bucket = work_bucket(work);
  codelet.submit(accesses, task);
}

/// Accesses followed by those of the parts that a task adds up.
inline std::vector<Access> with_parts(std::vector<Access> accesses,
                                      std::span<const starpu_data_handle_t> parts) {
  for (const auto handle : parts) accesses.push_back({handle, STARPU_R});
  return accesses;
}

}  // namespace starpmc::codelets
