#include "kernels/opencl/host/pair_virial.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "kernels/opencl/host/build.hpp"
#include "kernels/opencl/host/emit.hpp"
#include "kernels/opencl/host/source_text.hpp"
#include "kernels/opencl/host/user_functions.hpp"
#include "kernels/virial_total.hpp"

namespace starpmc::opencl {
namespace {

constexpr int kSiteGroup = 64;
constexpr std::array<std::string_view, 3> kBefore{"opencl/functions.h", "opencl/reduction.h",
                                                  "opencl/virial_total.h"};
constexpr std::array<std::string_view, 1> kAfter{"opencl/pair_virial.cl"};

/// "add both of a function's values": the end of every text below.
std::string sums(const std::string& factor) {
  return "  add_term(energy, " + factor + " * value);\n" + "  add_term(virial, exact_virial(" +
         factor + ", slope, product));\n";
}

/// What the kernels call, and the tables of coefficients one after another.
class FunctionText {
 public:
  std::string text;
  std::vector<double> tables;

  explicit FunctionText(const PairDerivatives& functions) {
    text = emit_exact_function(functions.coulomb, "coulomb_values");
    text +=
        "static inline void coulomb_terms(double r2, double factor, double product,\n"
        "                                 VirialTotal *energy, VirialTotal *virial) {\n"
        "  double value;\n  double slope;\n  coulomb_values(r2, &value, &slope);\n" +
        sums("factor") + "}\n";
    add_role(functions.mm, "mm");
    add_role(functions.qmmm, "qmmm");
    if (tables.empty()) tables.push_back(0);
  }

 private:
  void add_role(const std::vector<PairDerivatives::Function>& functions, const std::string& role) {
    std::string body;
    for (std::size_t i = 0; i < functions.size(); ++i) {
      const std::string name = role + "_values" + std::to_string(i);
      text += emit_exact_function(functions[i].program, name);
      const std::size_t stride = 1 + functions[i].coefficients();
      body += "  c = tables + " + std::to_string(tables.size()) + " + row * " +
              std::to_string(stride) + ";\n  if (c[0] != 0) {\n  " + name + "(r2";
      for (std::size_t k = 1; k < stride; ++k) body += ", c[" + std::to_string(k) + "]";
      body += ", &value, &slope);\n" + sums("1.0") + "  }\n";
      tables.insert(tables.end(), functions[i].table.begin(), functions[i].table.end());
    }
    text += "static inline void " + role +
            "_terms(double r2, int row, __global const double *tables, double product,\n"
            "    VirialTotal *energy, VirialTotal *virial) {\n"
            "  double value;\n  double slope;\n  __global const double *c;\n" +
            body + "}\n";
  }
};

}  // namespace

VirialProgram::VirialProgram(cl_context context, cl_device_id device,
                             const PairDerivatives& functions, const std::filesystem::path& sources)
    : context_(context) {
  cl_device_type type = 0;
  check(clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, nullptr), "clGetDeviceInfo");
  group_ = (type & CL_DEVICE_TYPE_CPU) != 0 ? 16 : 128;
  std::size_t most = 0;
  check(clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, nullptr),
        "clGetDeviceInfo");
  while (group_ > 1 && static_cast<std::size_t>(group_) > most) group_ /= 2;
  FunctionText emitted(functions);
  const std::string text =
      source_text(sources, kBefore) + emitted.text + source_text(sources, kAfter);
  std::optional<BinaryCache> cache;
  if (binaries_are_worth_keeping(device)) cache = BinaryCache::of_user();
  program_ = build_program(context, device, text,
                           "-cl-std=CL1.2 -DSTARPMC_SINGLE=0 -DSTARPMC_FIXED=0 -DVIRIAL_GROUP=" +
                               std::to_string(group_) + pole_definition(functions.coulomb_pole),
                           cache ? &*cache : nullptr);
  cl_int error = CL_SUCCESS;
  tables_.reset(clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                               emitted.tables.size() * sizeof(double), emitted.tables.data(),
                               &error));
  check(error, "clCreateBuffer");
}

PreparedKernel& VirialProgram::kernel(const char* name) {
  const auto found = kernels_.find(name);
  if (found != kernels_.end()) return found->second;
  cl_int error = CL_SUCCESS;
  Owned<cl_kernel> made(clCreateKernel(program_.get(), name, &error));
  check(error, "clCreateKernel", name);
  return kernels_.emplace(name, PreparedKernel(std::move(made))).first->second;
}

Buffer VirialProgram::grow(Owned<cl_mem>& memory, std::size_t& held, std::size_t bytes) const {
  if (bytes > held) {
    cl_int error = CL_SUCCESS;
    memory.reset(clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, &error));
    held = error == CL_SUCCESS ? bytes : 0;
    check(error, "clCreateBuffer");
  }
  return {memory.get(), 0};
}

void VirialProgram::run(cl_command_queue queue, const VirialShape& shape, int last_molecule,
                        const VirialBuffers& buffers) {
  const TopologyShape& topology = shape.topology;
  const int groups = last_molecule - shape.first_molecule;
  const Buffer sites =
      grow(sites_, sites_bytes_,
           6 * size_of(topology.sites) * size_of(topology.padded_molecules) * sizeof(double));
  const Buffer partials =
      grow(partials_, partials_bytes_, size_of(groups) * VIRIAL_SUMS * sizeof(VirialTotal));
  Launch(kernel("place_virial_sites"), queue, "place_virial_sites")
      .with(topology, buffers.topology_reals, buffers.topology_integers, buffers.lattice, sites)
      .run({groups_for(topology.sites * topology.molecules, kSiteGroup), 1}, {kSiteGroup, 1});
  Launch(kernel("pair_virial"), queue, "pair_virial")
      .with(shape, buffers.topology_reals, buffers.topology_integers, buffers.lattice, sites,
            Buffer{tables_.get(), 0}, buffers.solute, buffers.blocks, buffers.points, partials)
      .with_local(size_of(group_) * sizeof(cl_ulong))
      .run({size_of(groups), 1}, {size_of(group_), 1});
  Launch(kernel("pair_virial_sum"), queue, "pair_virial_sum")
      .with(cl_int{groups}, partials, buffers.sums)
      .run({1, 1}, {VIRIAL_SUMS, 1});
}

}  // namespace starpmc::opencl
