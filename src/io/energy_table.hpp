#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "io/checked_file.hpp"
#include "io/energy_terms.hpp"

namespace starpmc {

/// energies.csv: comment lines with units, a line of column names, one line per record. Numbers are
/// the shortest decimals that read back to the same bits.
class EnergyTable {
 public:
  /// @param pressure              whether there are columns of the virial and the pressure
  /// @param dispersion_correction kJ/mol, added to every total
  /// @throws RunError if the file exists or cannot be created
  explicit EnergyTable(const std::filesystem::path& path, bool pressure = false,
                       double dispersion_correction = 0);
  /// Goes on with the file of an earlier run: it is cut back to its first `bytes` bytes. Symbolic
  /// links are not followed.
  /// @throws RunError naming both sizes if the file is shorter; RunError if it cannot be opened
  static EnergyTable resume(const std::filesystem::path& path, std::uint64_t bytes,
                            bool pressure = false, double dispersion_correction = 0);

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
  /// Size of the file once every line appended so far has been written: what resume() takes.
  std::uint64_t bytes() const { return file_.bytes(); }

 private:
  EnergyTable(CheckedFile file, bool pressure, double dispersion_correction);

  CheckedFile file_;
  bool pressure_;
  double dispersion_correction_;
  std::chrono::steady_clock::time_point last_flush_;
};

}  // namespace starpmc
