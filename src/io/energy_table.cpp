#include "io/energy_table.hpp"

#include <array>
#include <charconv>
#include <string>
#include <utility>

namespace starpmc {
namespace {

constexpr std::chrono::seconds flush_interval{2};

void append_number(std::string& line, double value) {
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  line += ',';
  line.append(buffer.data(), result.ptr);
}

}  // namespace

EnergyTable::EnergyTable(CheckedFile file)
    : file_(std::move(file)), last_flush_(std::chrono::steady_clock::now()) {}

EnergyTable::EnergyTable(const std::filesystem::path& path)
    : EnergyTable(CheckedFile(path, CheckedFile::Mode::create_new)) {
  file_.write(
      "# starpmc: running totals of the energy\n"
      "# step: Monte Carlo steps done; energies: kJ/mol; acceptance: accepted / tried moves so "
      "far\n");
  std::string columns = "step";
  for (std::string_view name : EnergyTerms::names) (columns += ',') += name;
  file_.write(columns + ",total,acceptance\n");
  file_.flush();
}

EnergyTable EnergyTable::resume(const std::filesystem::path& path, std::uint64_t bytes) {
  return EnergyTable(CheckedFile::cut_back(path, bytes));
}

void EnergyTable::append(std::uint64_t step, const EnergyTerms& running_totals, double acceptance) {
  std::string line = std::to_string(step);
  for (double value : running_totals.values()) append_number(line, value);
  append_number(line, running_totals.total());
  append_number(line, acceptance);
  line += '\n';
  file_.write(line);
  const auto now = std::chrono::steady_clock::now();
  if (now - last_flush_ >= flush_interval) flush();
}

void EnergyTable::flush() {
  file_.flush();
  last_flush_ = std::chrono::steady_clock::now();
}

void EnergyTable::close() { file_.close(); }

}  // namespace starpmc
