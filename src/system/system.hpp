#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "system/geometry.hpp"

namespace starpmc {

/// Lennard-Jones coefficients of one pair of site types: V = c12/r^12 - c6/r^6
/// (c12 = 4 epsilon sigma^12 in kJ/mol A^12, c6 = 4 epsilon sigma^6 in kJ/mol A^6).
struct LennardJones {
  double c6 = 0;
  double c12 = 0;
};

/// Lennard-Jones parameters of one site type as the topology gives them. With combination rule 1
/// (c6 and c12) the sigma and epsilon that these mean; 0 where both are 0.
struct SiteParameters {
  double sigma_angstrom = 0;
  double epsilon = 0;  ///< kJ/mol
  /// Where the topology gives only one of c6 and c12, which no sigma and epsilon mean; else empty.
  std::string undefined_place{};
};

/// Site types and the Lennard-Jones coefficients of every pair of them, after the topology's
/// combination rule (and its [nonbond_params]) has been applied.
struct ForceField {
  std::vector<std::string> site_type_names;  ///< n names
  std::vector<LennardJones> pairs;           ///< n * n, symmetric, row-major
  std::vector<SiteParameters> parameters;    ///< n; pair functions of the user's read them

  std::size_t type_count() const { return site_type_names.size(); }
  const LennardJones& pair(std::size_t i, std::size_t j) const {
    return pairs[i * type_count() + j];
  }
};

/// One interaction site of a rigid molecule (an atom or a virtual site).
struct Site {
  std::string name;
  std::string element;   ///< empty for a virtual site
  std::size_t type = 0;  ///< index into ForceField::site_type_names
  double charge = 0;     ///< elementary charges
  double mass = 0;       ///< g/mol; 0 for a virtual site
  Vector3 reference;     ///< position in the body frame, relative to the centre, angstrom
};

/// A rigid molecule's reference geometry. The centre is the centre of mass (or the mean of the
/// sites where no masses are given), so it is the origin of the body frame.
struct MoleculeType {
  std::string name;
  std::vector<Site> sites;

  /// Largest distance of a site from the centre, angstrom.
  double radius_angstrom() const;
};

/// State of one rigid molecule.
struct Molecule {
  std::size_t type = 0;  ///< index into System::molecule_types
  Vector3 centre;        ///< angstrom; may lie outside the box
  Quaternion orientation;
};

/// The molecule treated by quantum mechanics; it does not move.
struct Solute {
  std::string name;
  std::vector<std::string> elements;  ///< "C", "Cl", ...
  std::vector<int> atomic_numbers;
  std::vector<Vector3> positions;  ///< angstrom, in the box's frame
  std::vector<std::size_t> types;  ///< Lennard-Jones site types of the atoms

  std::size_t atom_count() const { return positions.size(); }
};

/// A periodic box of rigid MM molecules around at most one QM solute.
/// Molecules of one type are contiguous (sorted by type, file order kept within a type).
struct System {
  std::string title;
  Box box;
  ForceField force_field;
  std::vector<MoleculeType> molecule_types;  ///< of the MM molecules only
  std::vector<Molecule> molecules;
  std::optional<Solute> solute;
  std::vector<std::string> notes;     ///< what a reader took the files to mean, for the log
  std::vector<std::string> warnings;  ///< what is allowed but likely a mistake

  /// Largest number of sites of any molecule type.
  std::size_t max_sites() const;
};

/// Position of site `site` of a molecule: centre + R(orientation) reference.
Vector3 site_position(const System& system, const Molecule& molecule, std::size_t site);

/// R(q) v for a unit quaternion.
Vector3 rotate(const Quaternion& q, const Vector3& v);

}  // namespace starpmc
