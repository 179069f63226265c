#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "kernels/receptor_sites.hpp"
#include "system/pqr_file.hpp"

/// From PQR files to what the kernels read.
namespace starpmc {

/// Well depths, and radii where a line has one, by the names of atoms or their elements
/// (src/system/data/well_depths.txt explains the syntax).
class WellDepthTable {
 public:
  /// @throws InputError naming file and line
  explicit WellDepthTable(const std::filesystem::path& path);

  struct Entry {
    double depth_kj_per_mol = 0;
    double radius_angstrom = -1;  ///< negative: that of the PQR file
  };
  /// @throws InputError at `place` where no line names the atom
  const Entry& entry(const PqrAtom& atom, const std::string& place) const;

 private:
  std::filesystem::path path_;
  std::map<std::string, Entry, std::less<>> atoms_;     ///< "ALA:CA" or "CA", in capitals
  std::map<std::string, Entry, std::less<>> elements_;  ///< "Cl"
};

/// Receptor and ligand with their parameters.
struct ScoredSites {
  ReceptorSites receptor;
  ReceptorSites ligand;  ///< its first model, or where it lies in its file
  int combination = COMBINATION_SUM;
};

/// A PQR model and the file it came from, for messages.
struct ScoredModel {
  const PqrModel& model;
  std::filesystem::path path;
};

/// Charges and positions; radii and well depths are 0.
/// @throws InputError for a charge beyond STARPMC_LARGEST_SITE_CHARGE
ScoredSites charged_sites(const ScoredModel& receptor, const ScoredModel& ligand);

/// With the 12-6 parameters of a table; distances of least energy are sums of radii, depths
/// geometric means.
/// @throws InputError for an unknown atom, or a parameter beyond the kernels' limits
ScoredSites sites_by_table(const ScoredModel& receptor, const ScoredModel& ligand,
                           const WellDepthTable& table);

/// With those of a GROMACS topology whose molecules are the receptor's atoms and then the ligand's,
/// by its combination rule. Charges remain those of the PQR files.
/// @throws InputError where atoms differ in number or name, for parameters of single pairs
///         ([ nonbond_params ]), or one beyond the kernels' limits
ScoredSites sites_by_topology(const ScoredModel& receptor, const ScoredModel& ligand,
                              const std::filesystem::path& topology_file);

}  // namespace starpmc
