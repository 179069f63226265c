#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "system/geometry.hpp"
#include "system/line_source.hpp"

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
  /// @throws InputError naming file and line: a column is missing, too many or no number, a model
  /// without
  ///         atoms, without ENDMDL or with more than 5,000,000 atoms, a file without atoms
  bool next(PqrModel& model);

  /// Share of the file read so far.
  double share_read() const { return lines_.share_read(); }

 private:
  LineSource lines_;
  bool any_atoms_ = false;
};

/// The first model of a file.
/// @throws InputError
PqrModel read_pqr(const std::filesystem::path& path);

/// The model of a file that has one.
/// @throws InputError also where atoms follow it
PqrModel read_only_model(const std::filesystem::path& path);

}  // namespace starpmc
