#include "system/contacts.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace starpmc {
namespace {

/// Points of a periodic box, sorted into cells at least as wide as the cutoff.
class CellList {
 public:
  CellList(const Box& box, std::span<const Vector3> points, double cutoff) {
    // More cells than points would cost more than they save.
    const auto most = static_cast<std::size_t>(std::cbrt(static_cast<double>(points.size()))) + 1;
    lengths_ = {box.lengths.x, box.lengths.y, box.lengths.z};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double fitting = std::min(std::floor(lengths_[axis] / cutoff), 1e6);
      counts_[axis] = std::clamp<std::size_t>(static_cast<std::size_t>(fitting), 1, most);
    }
    cells_.resize(counts_[0] * counts_[1] * counts_[2]);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto at = cell_of(points[i]);
      cells_[index(at[0], at[1], at[2])].push_back(i);
    }
  }

  /// Cells around (and with) a point's own, each once.
  std::vector<std::size_t> around(const Vector3& point) const {
    const auto at = cell_of(point);
    std::vector<std::size_t> near;
    for (std::size_t dx = 0; dx < 3; ++dx) {
      for (std::size_t dy = 0; dy < 3; ++dy) {
        for (std::size_t dz = 0; dz < 3; ++dz) {
          near.push_back(index((at[0] + counts_[0] + dx - 1) % counts_[0],
                               (at[1] + counts_[1] + dy - 1) % counts_[1],
                               (at[2] + counts_[2] + dz - 1) % counts_[2]));
        }
      }
    }
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    return near;
  }

  std::span<const std::size_t> members(std::size_t cell) const { return cells_[cell]; }

 private:
  std::size_t index(std::size_t x, std::size_t y, std::size_t z) const {
    return (x * counts_[1] + y) * counts_[2] + z;
  }

  std::array<std::size_t, 3> cell_of(const Vector3& point) const {
    const std::array<double, 3> r{point.x, point.y, point.z};
    std::array<std::size_t, 3> cell{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double fraction = r[axis] / lengths_[axis] - std::floor(r[axis] / lengths_[axis]);
      const auto n = static_cast<double>(counts_[axis]);
      cell[axis] = std::min(static_cast<std::size_t>(fraction * n), counts_[axis] - 1);
    }
    return cell;
  }

  std::array<double, 3> lengths_{};
  std::array<std::size_t, 3> counts_{};
  std::vector<std::vector<std::size_t>> cells_;
};

}  // namespace

std::vector<Contact> find_contacts(const Box& box, std::span<const Vector3> points,
                                   std::span<const std::size_t> owners, double cutoff_angstrom) {
  const CellList cells(box, points, cutoff_angstrom);
  std::vector<Contact> contacts;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t first = contacts.size();
    for (std::size_t cell : cells.around(points[i])) {
      for (std::size_t j : cells.members(cell)) {
        if (j <= i || owners[i] == owners[j]) {
          continue;
        }
        const Vector3 d = box.minimum_image(points[j] - points[i]);
        if (dot(d, d) < cutoff_angstrom * cutoff_angstrom) {
          contacts.push_back({i, j, d, norm(d)});
        }
      }
    }
    std::sort(contacts.begin() + static_cast<std::ptrdiff_t>(first), contacts.end(),
              [](const Contact& a, const Contact& b) { return a.j < b.j; });
  }
  return contacts;
}

}  // namespace starpmc
