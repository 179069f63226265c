#include <gtest/gtest.h>

#include <bit>

#include "device_pipeline.hpp"
#include "kernels/opencl/host/emit.hpp"
#include "kernels/opencl/host/source_text.hpp"
#include "kernels/scalar/evaluate.hpp"
#include "programs.hpp"
#include "tests/test_folders.hpp"

namespace starpmc::test {
namespace {

/// `name` called for each of many sets of inputs.
std::string kernel_around(const Program& program, const std::string& name,
                          const std::string& type) {
  std::string text = "__kernel void run_" + name + "(__global const " + type +
                     " *inputs, __global " + type +
                     " *outputs) {\n  const size_t i = get_global_id(0);\n";
  text += "  const size_t n = get_global_size(0);\n";
  for (std::size_t k = 0; k < program.outputs.size(); ++k) {
    text += "  " + type + " result" + std::to_string(k) + ";\n";
  }
  std::string arguments;
  for (std::size_t k = 0; k < program.inputs.size(); ++k) {
    arguments += (arguments.empty() ? "" : ", ") + ("inputs[" + std::to_string(k)) + " * n + i]";
  }
  for (std::size_t k = 0; k < program.outputs.size(); ++k) {
    arguments += ", &result" + std::to_string(k);
  }
  text += "  " + name + "(" + arguments + ");\n";
  for (std::size_t k = 0; k < program.outputs.size(); ++k) {
    const std::string number = std::to_string(k);
    text += "  outputs[" + number + " * n + i] = result" + number + ";\n";
  }
  return text + "}\n";
}

class Emitted : public testing::TestWithParam<cl_device_type> {
 protected:
  void SetUp() override {
    device_ = find_device(GetParam());
    if (!device_) GTEST_SKIP() << "no OpenCL device of this type with double precision";
  }

  opencl::Owned<cl_program> build(const std::vector<std::string_view>& files,
                                  const std::string& text, bool single,
                                  const std::string& options) const {
    const std::string source = opencl::source_text(source_folder() / "kernels", files) + text;
    const char* characters = source.c_str();
    cl_int error = CL_SUCCESS;
    opencl::Owned<cl_program> program(
        clCreateProgramWithSource(device_->context.get(), 1, &characters, nullptr, &error));
    opencl::check(error, "clCreateProgramWithSource");
    const bool cpu = GetParam() == CL_DEVICE_TYPE_CPU;
    const auto shape = cpu ? opencl::LaunchShape::for_cpu() : opencl::LaunchShape::for_gpu();
    const std::string all = std::string("-cl-std=CL1.2 -DSTARPMC_FIXED=0 -DSTARPMC_SINGLE=") +
                            (single ? "1" : "0") + shape.definitions() + options;
    error = clBuildProgram(program.get(), 1, &device_->id, all.c_str(), nullptr, nullptr);
    if (error != CL_SUCCESS) {
      std::string log(100000, '\0');
      clGetProgramBuildInfo(program.get(), device_->id, CL_PROGRAM_BUILD_LOG, log.size(),
                            log.data(), nullptr);
      ADD_FAILURE() << log.c_str() << text;
    }
    return program;
  }

  /// Inputs and results: by input (output), then by set.
  template <class Real>
  std::vector<Real> run(cl_program program, const std::string& name, std::vector<Real> inputs,
                        std::size_t sets, std::size_t outputs) const {
    cl_int error = CL_SUCCESS;
    const opencl::Owned<cl_kernel> kernel(clCreateKernel(program, ("run_" + name).c_str(), &error));
    opencl::check(error, "clCreateKernel", name);
    const auto buffer = [&](std::vector<Real>& values) {
      opencl::Owned<cl_mem> memory(
          clCreateBuffer(device_->context.get(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                         values.size() * sizeof(Real), values.data(), &error));
      opencl::check(error, "clCreateBuffer");
      return memory;
    };
    std::vector<Real> results(sets * outputs);
    const auto from = buffer(inputs);
    const auto to = buffer(results);
    for (cl_uint i = 0; i < 2; ++i) {
      cl_mem memory = i == 0 ? from.get() : to.get();
      opencl::check(clSetKernelArg(kernel.get(), i, sizeof(cl_mem), &memory), "clSetKernelArg");
    }
    opencl::check(clEnqueueNDRangeKernel(device_->queue.get(), kernel.get(), 1, nullptr, &sets,
                                         nullptr, 0, nullptr, nullptr),
                  "clEnqueueNDRangeKernel");
    opencl::check(
        clEnqueueReadBuffer(device_->queue.get(), to.get(), CL_TRUE, 0,
                            results.size() * sizeof(Real), results.data(), 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
    return results;
  }

  std::optional<Device> device_;
};

std::vector<double> wild_values(std::size_t count) {
  std::mt19937_64 random(6);
  const std::vector<double> edges = edge_values();
  std::uniform_real_distribution<double> ordinary(-30, 30);
  std::vector<double> values(count);
  for (double& value : values) {
    const auto kind = random() % 4;
    value = kind == 0   ? std::bit_cast<double>(random())
            : kind == 1 ? edges[random() % edges.size()]
                        : ordinary(random);
  }
  return values;
}

TEST_P(Emitted, ExactFunctionsHaveTheScalarBits) {
  std::mt19937_64 random(9);
  std::vector<Program> programs{all_operations(), multiply_adds()};
  for (int i = 0; i < 3; ++i) programs.push_back(random_program(random, 25, every_operation()));
  std::string text;
  for (std::size_t p = 0; p < programs.size(); ++p) {
    const std::string name = "exact" + std::to_string(p);
    text +=
        opencl::emit_exact_function(programs[p], name) + kernel_around(programs[p], name, "double");
  }
  const auto built = build({"opencl/functions.h"}, text, false, "");
  const std::size_t sets = 4096;
  for (std::size_t p = 0; p < programs.size(); ++p) {
    const std::size_t count = programs[p].inputs.size();
    const std::size_t outputs = programs[p].outputs.size();
    const std::vector<double> inputs = wild_values(sets * count);
    const auto results = run(built.get(), "exact" + std::to_string(p), inputs, sets, outputs);
    std::vector<double> set(count);
    std::vector<double> expected(outputs);
    for (std::size_t i = 0; i < sets; ++i) {
      for (std::size_t k = 0; k < count; ++k) set[k] = inputs[k * sets + i];
      scalar::evaluate_exact(programs[p], set, expected);
      for (std::size_t k = 0; k < outputs; ++k) {
        ASSERT_TRUE(same_bits(results[k * sets + i], expected[k]))
            << "program " << p << ", output " << k << ": " << results[k * sets + i]
            << " instead of " << expected[k] << "; inputs " << testing::PrintToString(set);
      }
    }
  }
}

template <class Real>
std::vector<Real> tame_values(std::size_t count) {
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> ordinary(0.3, 3);
  std::vector<Real> values(count);
  for (Real& value : values) value = static_cast<Real>(ordinary(random));
  return values;
}

/// What the pair energies are compiled with.
constexpr const char* kPairOptions = " -cl-mad-enable -cl-no-signed-zeros -cl-denorms-are-zero";

TEST_P(Emitted, QuickFunctionsAreTheScalarOnes) {
  for (const Program& program : {all_operations(), multiply_adds()}) {
    const auto expect = [&]<class Real>(Real, double tolerance) {
      opencl::FunctionOptions options;
      options.moderate.assign(program.inputs.size(), sizeof(Real) == sizeof(float));
      const std::string text = opencl::emit_function(program, "quick", options) +
                               kernel_around(program, "quick", "real");
      const auto built =
          build({"opencl/pair_functions.h"}, text, sizeof(Real) == sizeof(float), kPairOptions);
      const std::size_t sets = 512;
      const std::size_t outputs = program.outputs.size();
      const auto inputs = tame_values<Real>(3 * sets);
      const auto results = run(built.get(), "quick", inputs, sets, outputs);
      std::vector<double> expected(outputs);
      for (std::size_t i = 0; i < sets; ++i) {
        const std::array<double, 3> set{inputs[i], inputs[sets + i], inputs[2 * sets + i]};
        scalar::evaluate_exact(program, set, expected);
        for (std::size_t k = 0; k < outputs; ++k) {
          if (std::isnan(expected[k])) {
            ASSERT_TRUE(std::isnan(results[k * sets + i])) << "output " << k;
            continue;
          }
          ASSERT_NEAR(results[k * sets + i], expected[k],
                      tolerance * std::max(1.0, std::abs(expected[k])))
              << "output " << k << "; inputs " << testing::PrintToString(set);
        }
      }
    };
    expect(double{}, 1e-13);
    expect(float{}, 4e-6);
  }
}

/// A function of real numbers that calls one of lanes, and returns one lane of its results.
std::string through_lanes(const Program& program, const std::vector<bool>& uniform) {
  std::string head = "static inline void outer(";
  std::string results;
  std::string call = "  inner(";
  std::string stores;
  for (std::size_t k = 0; k < program.inputs.size(); ++k) {
    const std::string number = std::to_string(k);
    head += "real v" + number + ", ";
    call += (uniform[k] ? "v" : "(lanes)v") + number + ", ";
  }
  for (std::size_t k = 0; k < program.outputs.size(); ++k) {
    const std::string number = std::to_string(k);
    const bool last = k + 1 == program.outputs.size();
    head += "real *o" + number + (last ? ") {\n" : ", ");
    results += "  lanes r" + number + ";\n";
    call += "&r" + number + (last ? ");\n" : ", ");
    stores += "  *o" + number + " = LANE(r" + number + ");\n";
  }
  return "#if LANES == 1\n#define LANE(x) (x)\n#else\n#define LANE(x) (x).s3\n#endif\n" + head +
         results + call + stores + "}\n";
}

/// Vectors of a CPU's registers, with uniform inputs as single values.
TEST_P(Emitted, LanesAreTheScalarOnes) {
  const std::vector<std::pair<Program, std::vector<bool>>> cases{
      {multiply_adds(), {false, false, false}},
      {multiply_adds(), {true, false, true}},
      {multiply_adds(), {false, true, false}},
      {all_operations(), {false, true, false}}};
  for (const auto& [program, uniform] : cases) {
    const std::string text =
        opencl::emit_function(program, "inner", {opencl::ValueType::lanes, uniform, {}}) +
        through_lanes(program, uniform) + kernel_around(program, "outer", "real");
    const auto built =
        build({"opencl/charged_sites.cl", "opencl/lanes.h"}, text, false, kPairOptions);
    const std::size_t sets = 64;
    const auto inputs = tame_values<double>(3 * sets);
    const auto values = run(built.get(), "outer", inputs, sets, program.outputs.size());
    std::vector<double> expected(program.outputs.size());
    for (std::size_t i = 0; i < sets; ++i) {
      scalar::evaluate_exact(program, std::array{inputs[i], inputs[sets + i], inputs[2 * sets + i]},
                             expected);
      for (std::size_t k = 0; k < expected.size(); ++k) {
        const double value = values[k * sets + i];
        ASSERT_EQ(std::isnan(value), std::isnan(expected[k])) << "output " << k;
        if (std::isnan(value)) continue;
        ASSERT_NEAR(value, expected[k], 1e-13 * std::max(1.0, std::abs(expected[k])))
            << "output " << k;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Emitted, testing::Values(CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU),
                         [](const auto& device) {
                           return device.param == CL_DEVICE_TYPE_CPU ? "Cpu" : "Gpu";
                         });

TEST(Emit, TextHoldsNoNamesOfTheUser) {
  Program program;
  program.inputs = {"a; } /* \"", "__global"};
  program.constants = {-0.1, HUGE_VAL, std::nan("")};
  program.instructions = {{Operation::multiply, {0, 2, 0}}, {Operation::add, {5, 1, 0}}};
  program.outputs = {6, 3};
  EXPECT_EQ(opencl::emit_function(program, "f"),
            "static inline void f(const real v0, const real v1, real *o0, real *o1) {\n"
            "  const real v2 = (real)-0x1.999999999999ap-4;\n"
            "  const real v3 = (real)INFINITY;\n"
            "  const real v4 = (real)NAN;\n"
            "  const real v6 = fma(v0, v2, v1);\n"
            "  *o0 = v6;\n"
            "  *o1 = v3;\n"
            "}\n");
  EXPECT_EQ(opencl::emit_exact_function(program, "f"),
            "static inline void f(const double v0, const double v1, double *o0, double *o1) {\n"
            "  const double v2 = (double)-0x1.999999999999ap-4;\n"
            "  const double v3 = (double)INFINITY;\n"
            "  const double v4 = (double)NAN;\n"
            "  const double v5 = v0 * v2;\n"
            "  const double v6 = v5 + v1;\n"
            "  *o0 = v6;\n"
            "  *o1 = v3;\n"
            "}\n");
  EXPECT_THROW(opencl::emit_function(program, "f(", {}), RunError);
  EXPECT_THROW(opencl::emit_function(program, "", {}), RunError);
  EXPECT_THROW(opencl::emit_function(program, "f", {opencl::ValueType::real, {true}}), RunError);
}

}  // namespace
}  // namespace starpmc::test
