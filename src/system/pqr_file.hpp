#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "system/geometry.hpp"

namespace starpmc {

/// One ATOM or HETATM record.
struct PqrAtom {
  std::string name;
  std::string residue;
  Vector3 position;   ///< angstrom
  double charge = 0;  ///< elementary charges
  double radius = 0;  ///< angstrom
  std::size_t line = 0;
};

/// The atoms between MODEL and ENDMDL, or those of the whole file.
struct PqrModel {
  std::vector<PqrAtom> atoms;
  std::size_t line = 0;  ///< of MODEL, or of the first atom
};

/// Reads a PQR file model by model: records whose words are separated by blanks,
/// "ATOM serial name residue [chain] number x y z charge radius" (HETATM likewise); all others but
/// MODEL, ENDMDL and END are read over. T. J. Dolinsky et al., Nucleic Acids Res. 32, W665 (2004).
class PqrReader {
 public:
  /// @throws InputError if the file cannot be read
  explicit PqrReader(const std::filesystem::path& path);

  /// The next model, into `model`; false where there is none.
  /// @throws InputError naming file and line: a column is missing or no number, a model without
  ///         atoms or without ENDMDL, a file without atoms
  bool next(PqrModel& model);

  /// Of the file, read so far and in all.
  std::size_t bytes_read() const { return bytes_read_; }
  std::size_t bytes() const { return bytes_; }

 private:
  bool next_line();

  std::filesystem::path path_;
  std::ifstream stream_;
  std::string line_;
  std::size_t number_ = 0;
  std::size_t bytes_read_ = 0;
  std::size_t bytes_ = 0;
  bool any_atoms_ = false;
};

/// Opens a file to be read line by line.
/// @throws InputError if it cannot be
std::ifstream open_text(const std::filesystem::path& path, std::string_view remedy);

/// The first model of a file.
/// @throws InputError
PqrModel read_pqr(const std::filesystem::path& path);

}  // namespace starpmc
