#pragma once

#include <filesystem>
#include <map>
#include <string_view>

#include "kernels/opencl/host/launch.hpp"
#include "kernels/pair_derivatives.hpp"

namespace starpmc::opencl {

/// Buffers of pair_virial (PairVirialArguments); solute, blocks and points may be null.
struct VirialBuffers {
  Buffer topology_reals;
  Buffer topology_integers;
  Buffer lattice;
  Buffer solute;
  Buffer blocks;
  Buffer points;
  Buffer sums;
};

/// pair_virial for one device and one set of functions, whose text becomes part of the kernels.
/// Used by one thread at a time, with one in-order queue.
class VirialProgram {
 public:
  /// @throws RunError with the build log where the device's compiler refuses
  VirialProgram(cl_context context, cl_device_id device, const PairDerivatives& functions,
                const std::filesystem::path& sources);

  /// Molecules [shape.first_molecule, last_molecule).
  void run(cl_command_queue queue, const VirialShape& shape, int last_molecule,
           const VirialBuffers& buffers);

 private:
  PreparedKernel& kernel(const char* name);
  /// Memory of at least `bytes` in the place of `memory`.
  Buffer grow(Owned<cl_mem>& memory, std::size_t& held, std::size_t bytes) const;

  cl_context context_;
  int group_;
  Owned<cl_program> program_;
  Owned<cl_mem> tables_;
  Owned<cl_mem> sites_;
  std::size_t sites_bytes_ = 0;
  Owned<cl_mem> partials_;
  std::size_t partials_bytes_ = 0;
  std::map<std::string_view, PreparedKernel> kernels_;
};

}  // namespace starpmc::opencl
