#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "bench/bench_case.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {

/// Aligned columns with units: what the cases share as the first line, then one line per case.
std::string case_table(const std::string& title, std::span<const BenchCase> cases);

/// One line per case; a column per quantity that any case has, empty where a case has none.
std::string cases_csv(std::span<const BenchCase> cases);

/// CPU, instruction set, workers, OpenCL devices, versions, date.
nlohmann::ordered_json describe_machine(const StarpuRuntime& runtime);
/// The same for people.
std::string machine_text(const nlohmann::ordered_json& machine);

/// Writes bench.csv and bench.json.
void write_cases(const std::filesystem::path& folder, const nlohmann::ordered_json& machine,
                 const nlohmann::ordered_json& settings, std::span<const BenchCase> cases);

}  // namespace starpmc
