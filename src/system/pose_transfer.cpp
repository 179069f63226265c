#include "system/pose_transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

constexpr const char* kRemedy = "use files of one system, whose molecules have one rigid geometry";

std::vector<Vector3> references(const MoleculeType& type) {
  std::vector<Vector3> points;
  for (const Site& site : type.sites) points.push_back(site.reference);
  return points;
}

void require_same_molecule(const MoleculeType& stored, const MoleculeType& own,
                           const std::filesystem::path& file) {
  const auto name = [](const Site& site) -> const std::string& { return site.name; };
  if (stored.name == own.name && std::ranges::equal(stored.sites, own.sites, {}, name, name))
    return;
  throw InputError(
      file.string(),
      fmt::format("has another molecule where there is {} of {} sites, or other names of sites",
                  own.name, own.sites.size()),
      fmt::format("{} of {} sites", stored.name, stored.sites.size()), kRemedy);
}

/// Of the rotation that follows the other.
Quaternion product(const Quaternion& a, const Quaternion& b) {
  const Quaternion q{
      a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
  const double scale = 1 / std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  return {scale * q.w, scale * q.x, scale * q.y, scale * q.z};
}

}  // namespace

PoseTransfer::PoseTransfer(std::span<const MoleculeType> stored, std::span<const MoleculeType> own,
                           const std::filesystem::path& file) {
  if (stored.size() != own.size()) {
    throw InputError(file.string(), fmt::format("has not the {} kinds of MM molecules", own.size()),
                     fmt::format("{} kinds", stored.size()), kRemedy);
  }
  for (std::size_t i = 0; i < own.size(); ++i) {
    require_same_molecule(stored[i], own[i], file);
    const std::vector<Vector3> there = references(stored[i]);
    const std::vector<Vector3> here = references(own[i]);
    fits_.push_back({there == here, {}});
    if (fits_.back().same) continue;
    const Superposition fit = superpose(here, there);
    if (!(fit.rmsd <= kLargestRmsdAngstrom)) {
      throw InputError(
          file.string(),
          fmt::format("molecule {} has another rigid geometry there (root mean square deviation "
                      "above {} angstrom)",
                      own[i].name, kLargestRmsdAngstrom),
          fmt::format("{:.3f} angstrom", fit.rmsd), kRemedy);
    }
    fits_.back().own_in_stored = fit;
  }
}

Molecule PoseTransfer::operator()(const Molecule& molecule) const {
  const Fit& fit = fits_[molecule.type];
  if (fit.same) return molecule;
  return {molecule.type, molecule.centre + rotate(molecule.orientation, fit.own_in_stored.centre),
          product(molecule.orientation, fit.own_in_stored.orientation)};
}

std::vector<Molecule> PoseTransfer::operator()(std::span<const Molecule> molecules) const {
  std::vector<Molecule> moved;
  for (const Molecule& molecule : molecules) moved.push_back((*this)(molecule));
  return moved;
}

}  // namespace starpmc
