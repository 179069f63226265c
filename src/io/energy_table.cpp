#include "io/energy_table.hpp"

#include <fmt/format.h>

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

EnergyTable::EnergyTable(CheckedFile file, bool pressure, double dispersion_correction)
    : file_(std::move(file)),
      pressure_(pressure),
      dispersion_correction_(dispersion_correction),
      last_flush_(std::chrono::steady_clock::now()) {}

EnergyTable::EnergyTable(const std::filesystem::path& path, bool pressure,
                         double dispersion_correction)
    : EnergyTable(CheckedFile(path, CheckedFile::Mode::create_new), pressure,
                  dispersion_correction) {
  file_.write(
      "# starpmc: running totals of the energy\n"
      "# step: Monte Carlo steps done; energies: kJ/mol; acceptance: accepted / tried moves so "
      "far\n"
      "# qmmm_coulomb: qmmm_nuclei + qmmm_grid; solute: the QM molecule's own energy since the "
      "last "
      "QM update; total: of all but qmmm_coulomb\n");
  if (dispersion_correction != 0) {
    file_.write(
        fmt::format("# total: with the dispersion correction, {} kJ/mol\n", dispersion_correction));
  }
  if (pressure) {
    file_.write("# virial: kJ/mol, at the positions after the step; pressure: bar\n");
  }
  std::string columns = "step";
  for (std::string_view name : EnergyTerms::names) (columns += ',') += name;
  columns += ",qmmm_coulomb,solute,total,acceptance";
  if (pressure) columns += ",virial,pressure";
  file_.write(columns + "\n");
  file_.flush();
}

EnergyTable EnergyTable::resume(const std::filesystem::path& path, std::uint64_t bytes,
                                bool pressure, double dispersion_correction) {
  return {CheckedFile::cut_back(path, bytes), pressure, dispersion_correction};
}

void EnergyTable::append(std::uint64_t step, const EnergyTerms& running_totals,
                         double solute_energy, double acceptance,
                         const std::optional<Pressure>& pressure) {
  std::string line = std::to_string(step);
  for (double value : running_totals.values()) append_number(line, value);
  append_number(line, running_totals.qmmm_coulomb());
  append_number(line, solute_energy);
  append_number(line, running_totals.total() + solute_energy + dispersion_correction_);
  append_number(line, acceptance);
  if (pressure) {
    append_number(line, pressure->virial_kj_per_mol);
    append_number(line, pressure->pressure_bar);
  } else if (pressure_) {
    line += ",,";
  }
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
