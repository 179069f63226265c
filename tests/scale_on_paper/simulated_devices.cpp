// In place of codelets/opencl_programs.cpp: StarPU with SimGrid runs no code on its OpenCL devices,
// it takes the duration of a task from the performance models.
#include "codelets/virial_programs.hpp"
#include "kernels/base/error.hpp"
#include "runtime/opencl_programs.hpp"

namespace starpmc::codelets {
namespace {

[[noreturn]] void refuse() { throw RunError("a simulated device runs no kernels"); }

}  // namespace

bool has_opencl_program(int /*device*/) { return true; }
bool has_opencl_gpu() { return true; }

OpenclPlace opencl_place(Precision /*precision*/) { refuse(); }
OpenclLane::OpenclLane(Precision precision, std::uint32_t /*chain*/)
    : main_(opencl_place(precision)), queue_(nullptr) {}
OpenclLane::~OpenclLane() { queue_ = nullptr; }

opencl::Buffer opencl_buffer(void* /*buffer*/) { refuse(); }

opencl::VirialProgram& virial_program(const PairDerivatives& /*functions*/) { refuse(); }

}  // namespace starpmc::codelets
