#pragma once

#include <algorithm>
#include <boost/program_options.hpp>
#include <string>
#include <vector>

#include "bench/benchmark.hpp"
#include "system/text.hpp"

/// What the options of `starpmc bench` mean. All throw InputError naming the option.
namespace starpmc::bench_options {

using Words = std::vector<std::string>;
using Values = boost::program_options::variables_map;

Words split_list(const std::string& text);
[[noreturn]] void refuse(const std::string& option, const std::string& found, const Words& known);

/// The values of a list by their names, each once.
template <class Value>
std::vector<Value> choose(const std::string& option, const std::string& text, const Words& names,
                          const std::vector<Value>& values) {
  std::vector<Value> chosen;
  for (const std::string& word : split_list(text)) {
    const auto found = std::ranges::find_if(
        names, [&](const std::string& name) { return equal_ignoring_case(name, word); });
    if (found == names.end()) refuse(option, word, names);
    const Value value = values[static_cast<std::size_t>(found - names.begin())];
    if (std::ranges::find(chosen, value) == chosen.end()) chosen.push_back(value);
  }
  return chosen;
}

constexpr long kMostChains = 1024;
constexpr long kMostComponents = 1024;

long integer_between(const std::string& option, long value, long least, long most);
/// A list of numbers, 1,2,4, each at least `least`.
std::vector<unsigned> read_numbers(const Values& values, const std::string& option, long most,
                                   long least = 1);
double read_seconds(double seconds);
std::vector<Implementation> read_implementations(const Values& values);
/// Whether --implementation names OpenCL. PoCL's CPU device takes a core from StarPU, so it is used
/// only then.
bool opencl_by_name(const Values& values);
BenchOverrides read_overrides(const Values& values);

PoseTimingRequest read_pose_timing(const Values& values);

}  // namespace starpmc::bench_options
