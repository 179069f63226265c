#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "base/checked_file.hpp"
#include "io/continued_file.hpp"
#include "io/energy_terms.hpp"
#include "io/sha256.hpp"

namespace starpmc {

/// energies.csv: comment lines with units, a line of column names, one line per record. Numbers are
/// the shortest decimals that read back to the same bits.
class EnergyTable {
 public:
  /// @param pressure              whether there are columns of the virial and the pressure
  /// @param dispersion_correction kJ/mol, added to every total
  /// @param reference             whether there are columns of the response's terms
  /// @throws RunError if the file exists or cannot be created
  explicit EnergyTable(const std::filesystem::path& path, bool pressure = false,
                       double dispersion_correction = 0, bool reference = false);
  /// Goes on with the file of an earlier run: it is cut back to `extent`.
  /// @throws InputError as hash_of_beginning(), the file being left as it was; RunError if it
  /// cannot
  ///         be opened
  static EnergyTable resume(const std::filesystem::path& path, const FileExtent& extent,
                            bool pressure = false, double dispersion_correction = 0,
                            bool reference = false);

  /// What averages are made of, exactly as it was given to append().
  struct Sample {
    std::uint64_t step;
    double total;  ///< kJ/mol, with the dispersion correction
    std::optional<double> pressure_bar;
  };
  /// The lines of a table in their order.
  /// @throws RunError naming the file where one cannot be read
  static void for_each_sample(const std::filesystem::path& path,
                              const std::function<void(const Sample&)>& take);

  /// The columns of a step at which they are known; empty at others.
  struct Pressure {
    double virial_kj_per_mol;
    double pressure_bar;
  };
  /// @param running_totals kJ/mol
  /// @param solute_energy  the solute's own, kJ/mol: part of the total
  /// @param acceptance     accepted / tried moves so far
  /// Hands its lines to the system at least every two seconds of appending.
  /// @throws RunError when the disk is full, naming the file
  void append(std::uint64_t step, const EnergyTerms& running_totals, double solute_energy,
              double acceptance, const std::optional<Pressure>& pressure = {});
  /// Hands all lines to the system.
  void flush();
  void close();
  /// The file once every line appended so far has been written: what resume() takes.
  FileExtent extent() const { return {file_.bytes(), hash_.hexadecimal_digest()}; }

 private:
  EnergyTable(CheckedFile file, Sha256 hash, bool pressure, double dispersion_correction,
              bool reference);
  void write(std::string_view text);

  CheckedFile file_;
  Sha256 hash_;  ///< of all that has been written
  bool pressure_;
  double dispersion_correction_;
  std::size_t terms_;  ///< columns of them
  std::chrono::steady_clock::time_point last_flush_;
};

}  // namespace starpmc
