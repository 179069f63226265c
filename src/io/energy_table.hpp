#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

#include "io/checked_file.hpp"
#include "io/energy_terms.hpp"

namespace starpmc {

/// energies.csv: comment lines with units, a line of column names, one line per record. Numbers are
/// the shortest decimals that read back to the same bits.
class EnergyTable {
 public:
  /// @throws RunError if the file exists or cannot be created
  explicit EnergyTable(const std::filesystem::path& path);
  /// Goes on with the file of an earlier run: it is cut back to its first `bytes` bytes. Symbolic
  /// links are not followed.
  /// @throws RunError naming both sizes if the file is shorter; RunError if it cannot be opened
  static EnergyTable resume(const std::filesystem::path& path, std::uint64_t bytes);

  /// @param running_totals kJ/mol
  /// @param acceptance     accepted / tried moves so far
  /// Hands its lines to the system at least every two seconds of appending.
  /// @throws RunError when the disk is full, naming the file
  void append(std::uint64_t step, const EnergyTerms& running_totals, double acceptance);
  /// Hands all lines to the system.
  void flush();
  void close();
  /// Size of the file once every line appended so far has been written: what resume() takes.
  std::uint64_t bytes() const { return file_.bytes(); }

 private:
  explicit EnergyTable(CheckedFile file);

  CheckedFile file_;
  std::chrono::steady_clock::time_point last_flush_;
};

}  // namespace starpmc
