#include "io/energy_table.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

constexpr std::chrono::seconds flush_interval{2};

void append_number(std::string& line, double value) {
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  line += ',';
  line.append(buffer.data(), result.ptr);
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t end = 0; end != std::string_view::npos; line.remove_prefix(end + 1)) {
    end = line.find(',');
    fields.push_back(line.substr(0, end));
    if (end == std::string_view::npos) break;
  }
  return fields;
}

template <typename Number>
Number number_of(std::string_view field, const std::filesystem::path& path) {
  Number number{};
  const auto result = std::from_chars(field.data(), field.data() + field.size(), number);
  if (result.ec == std::errc() && result.ptr == field.data() + field.size()) return number;
  throw RunError(fmt::format("{}: '{}' is not a number", path.string(), field));
}

/// Where a line has what for_each_sample() reads, by the line of the columns' names.
struct SampleColumns {
  std::size_t total = 0;
  std::size_t pressure = 0;  ///< 0: none

  explicit SampleColumns(std::string_view names) {
    const std::vector<std::string_view> columns = fields_of(names);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] == "total") total = i;
      if (columns[i] == "pressure") pressure = i;
    }
  }
};

}  // namespace

void EnergyTable::for_each_sample(const std::filesystem::path& path,
                                  const std::function<void(const Sample&)>& take) {
  std::ifstream file(path);
  SampleColumns columns("");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    if (line.starts_with("step")) {
      columns = SampleColumns(line);
      continue;
    }
    const auto fields = fields_of(line);
    if (columns.total == 0 || fields.size() <= columns.total)
      throw RunError(fmt::format("{}: a line has too few fields: {}", path.string(), line));
    Sample sample{number_of<std::uint64_t>(fields[0], path),
                  number_of<double>(fields[columns.total], path),
                  {}};
    if (columns.pressure > 0 && fields.size() > columns.pressure &&
        !fields[columns.pressure].empty())
      sample.pressure_bar = number_of<double>(fields[columns.pressure], path);
    take(sample);
  }
  if (!file.eof()) throw RunError(path.string() + ": cannot be read");
}

EnergyTable::EnergyTable(CheckedFile file, Sha256 hash, bool pressure, double dispersion_correction,
                         bool reference)
    : file_(std::move(file)),
      hash_(std::move(hash)),
      pressure_(pressure),
      dispersion_correction_(dispersion_correction),
      terms_(EnergyTerms::count(reference)),
      last_flush_(std::chrono::steady_clock::now()) {}

EnergyTable::EnergyTable(const std::filesystem::path& path, bool pressure,
                         double dispersion_correction, bool reference)
    : EnergyTable(CheckedFile(path, CheckedFile::Mode::create_new), Sha256(), pressure,
                  dispersion_correction, reference) {
  write(
      "# starpmc: running totals of the energy\n"
      "# step: Monte Carlo steps done; energies: kJ/mol; acceptance: accepted / tried moves so "
      "far\n"
      "# qmmm_coulomb: qmmm_nuclei + qmmm_grid; solute: the QM molecule's own energy since the "
      "last "
      "QM update; total: of all but qmmm_coulomb\n");
  if (dispersion_correction != 0) {
    write(
        fmt::format("# total: with the dispersion correction, {} kJ/mol\n", dispersion_correction));
  }
  if (pressure) {
    write("# virial: kJ/mol, at the positions after the step; pressure: bar\n");
  }
  std::string columns = "step";
  for (std::size_t i = 0; i < terms_; ++i) (columns += ',') += EnergyTerms::names[i];
  columns += ",qmmm_coulomb,solute,total,acceptance";
  if (pressure) columns += ",virial,pressure";
  write(columns + "\n");
  file_.flush();
}

EnergyTable EnergyTable::resume(const std::filesystem::path& path, const FileExtent& extent,
                                bool pressure, double dispersion_correction, bool reference) {
  Sha256 hash = hash_of_beginning(path, extent);
  return {CheckedFile::cut_back(path, extent.bytes), std::move(hash), pressure,
          dispersion_correction, reference};
}

void EnergyTable::write(std::string_view text) {
  file_.write(text);
  hash_.add(text);
}

void EnergyTable::append(std::uint64_t step, const EnergyTerms& running_totals,
                         double solute_energy, double acceptance,
                         const std::optional<Pressure>& pressure) {
  std::string line = std::to_string(step);
  const auto values = running_totals.values();
  for (std::size_t i = 0; i < terms_; ++i) append_number(line, values[i]);
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
  write(line);
  const auto now = std::chrono::steady_clock::now();
  if (now - last_flush_ >= flush_interval) flush();
}

void EnergyTable::flush() {
  file_.flush();
  last_flush_ = std::chrono::steady_clock::now();
}

void EnergyTable::close() { file_.close(); }

}  // namespace starpmc
