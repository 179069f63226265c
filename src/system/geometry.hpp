#pragma once

#include <cmath>

namespace starpmc {

/// A point or displacement in angstrom.
struct Vector3 {
  double x = 0;
  double y = 0;
  double z = 0;

  friend constexpr bool operator==(const Vector3&, const Vector3&) = default;
};

constexpr Vector3 operator+(const Vector3& a, const Vector3& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
constexpr Vector3 operator-(const Vector3& a, const Vector3& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
constexpr Vector3 operator*(double f, const Vector3& a) { return {f * a.x, f * a.y, f * a.z}; }
constexpr double dot(const Vector3& a, const Vector3& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
constexpr Vector3 cross(const Vector3& a, const Vector3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double norm(const Vector3& a) { return std::sqrt(dot(a, a)); }

/// A unit quaternion (scalar part w first): the orientation of a rigid molecule.
struct Quaternion {
  double w = 1;
  double x = 0;
  double y = 0;
  double z = 0;

  friend constexpr bool operator==(const Quaternion&, const Quaternion&) = default;
};

/// Orthorhombic periodic box, edge lengths in angstrom.
struct Box {
  Vector3 lengths;

  double shortest_edge() const { return std::fmin(lengths.x, std::fmin(lengths.y, lengths.z)); }
  double volume() const { return lengths.x * lengths.y * lengths.z; }
  /// Minimum image of a displacement.
  Vector3 minimum_image(const Vector3& d) const {
    return {d.x - lengths.x * std::rint(d.x / lengths.x),
            d.y - lengths.y * std::rint(d.y / lengths.y),
            d.z - lengths.z * std::rint(d.z / lengths.z)};
  }
};

}  // namespace starpmc
