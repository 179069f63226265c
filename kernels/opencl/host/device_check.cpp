#include "kernels/opencl/host/device_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <sstream>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/interaction.hpp"
#include "kernels/opencl/host/device_check_exact.hpp"
#include "kernels/opencl/host/launch.hpp"
#include "kernels/opencl/host/small_system.hpp"
#include "kernels/operations.hpp"
#include "kernels/scalar/moves.hpp"
#include "kernels/window_plan.hpp"
#include "kernels/with_precision.hpp"

namespace starpmc::opencl {
namespace {

/// Words and numbers one after another.
template <class... Parts>
std::string text_of(int digits, const Parts&... parts) {
  std::ostringstream text;
  text.precision(digits);
  (text << ... << parts);
  return text.str();
}

constexpr int kRoots = 100'000;
constexpr double kWideRoot = 2e-11;

void check_roots(DeviceProgram& program, cl_command_queue queue) {
  std::vector<double> squares(kRoots);
  std::mt19937_64 random(18);
  std::uniform_real_distribution<double> exponent(-4, 6);
  for (double& square : squares) square = std::pow(10, exponent(random));
  std::vector<double> roots(3 * squares.size(), 0.0);
  const Memory from(queue, squares);
  const Memory to(queue, roots);
  const int group = program.shape().sum_group;
  Launch(program, queue, "check_reciprocal_roots")
      .with(cl_int{kRoots}, from.buffer(), to.buffer())
      .run({size_of(program.compute_units()), 1}, {size_of(group), 1});
  to.read(roots);
  const std::string fault = fault_of_roots(program.precision(), squares, roots);
  if (!fault.empty()) throw RunError(fault);
}

/// What the host makes of the windows, beside what the device does.
template <class Real>
void compare(const SmallSystem<Real>& host, const SmallSystem<Real>& device) {
  const auto first_threshold = size_of(entries_threshold(host.layout));
  for (int step = 0; step < host.extents[0].steps; ++step) {
    const double here = host.first_entries[first_threshold + size_of(step)];
    const double there = device.first_entries[first_threshold + size_of(step)];
    if (here != there) {
      throw RunError(text_of(17, "the threshold of step ", step, " of a test window is ", there,
                             " there and ", here, " on the host"));
    }
  }
  const auto row = size_of(SmallSystem<Real>::kSteps);
  for (std::size_t window = 0; window < host.extents.size(); ++window) {
    for (int step = 0; step < host.extents[window].steps; ++step) {
      const auto at = [&](const SmallSystem<Real>& system, int field) {
        return system.record[window * system.record_size() + size_of(field) * row + size_of(step)];
      };
      if (at(host, RECORD_ACCEPTED) != at(device, RECORD_ACCEPTED)) {
        throw RunError(
            text_of(6, "step ", step, " of a test window is decided otherwise than on the host"));
      }
      const double here =
          at(host, RECORD_TERMS + TERM_MM_COULOMB) + at(host, RECORD_TERMS + TERM_MM_VDW);
      const double there =
          at(device, RECORD_TERMS + TERM_MM_COULOMB) + at(device, RECORD_TERMS + TERM_MM_VDW);
      if (!(std::abs(here - there) <= 2 * host.bound.absolute)) {
        throw RunError(text_of(9, "the energy after step ", step, " of a test window is ", there,
                               " kJ/mol there and ", here, " on the host"));
      }
    }
  }
  if (host.lattice != device.lattice) {
    throw RunError("a test window leaves molecules in other places than on the host");
  }
  if (!(device.chain_state[STATE_LARGEST_ERROR] <= 0.5)) {
    throw RunError(text_of(2, "an energy of a test window is ",
                           device.chain_state[STATE_LARGEST_ERROR], " times its error bound off"));
  }
}

template <class Real>
void check_windows(DeviceProgram& program, cl_command_queue queue) {
  SmallSystem<Real> host;
  host.sample();
  for (const Settling settling : {Settling::at_once, Settling::apart}) {
    for (const bool alone : {false, true}) {
      SmallSystem<Real> device;
      device.sample(program, queue, settling, alone);
      compare(host, device);
      if (!*program.shape().last_group_goes_on) return;  // no other way
    }
  }
}

}  // namespace

std::string fault_of_roots(Precision precision, std::span<const double> squares,
                           std::span<const double> roots) {
  const bool single = precision != Precision::fp64;
  const double allowed = single ? std::ldexp(kRootRoundings, -24) : std::ldexp(kRootRoundings, -53);
  constexpr std::array kNames{"in vectors", "one by one", "in fp64"};
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const std::size_t function = i / squares.size();
    const bool wide = function == 2;
    const double square = squares[i % squares.size()];
    const double taken = single && !wide ? static_cast<double>(static_cast<float>(square)) : square;
    const double error = std::abs(roots[i] * std::sqrt(taken) - 1);
    const double limit = wide ? kWideRoot : allowed;
    if (!(error <= limit)) {
      return text_of(9, "1/sqrt(", taken, ") (", kNames[function], ") is ", roots[i],
                     " there, off by ") +
             text_of(2, error, " of its value, where the bound on the error of energies takes ",
                     limit, " at most");
    }
  }
  return {};
}

void check_device(DeviceProgram& program, cl_command_queue queue, const Potential& functions) {
  check_roots(program, queue);
  check_exact(program, queue, functions);
  if (functions != Potential{}) return;
  with_precision(program.precision(), [&]<class Real>() { check_windows<Real>(program, queue); });
}

}  // namespace starpmc::opencl
