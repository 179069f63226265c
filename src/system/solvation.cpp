#include "system/solvation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "kernels/base/error.hpp"
#include "system/contacts.hpp"
#include "system/elements.hpp"
#include "system/system.hpp"

namespace starpmc {
namespace {

constexpr double excluded_shell_angstrom = 0.4;
constexpr double room_around_solute_angstrom = 4;
/// Solute and water atoms keep this fraction of the sum of their van der Waals radii.
constexpr double solute_radius_scale = 0.75;
/// Nearest approach of atoms of two waters, just below what occurs in the liquid.
constexpr double oxygen_oxygen_angstrom = 2.4;
constexpr double oxygen_hydrogen_angstrom = 1.5;
constexpr double hydrogen_hydrogen_angstrom = 1.5;
constexpr int most_cuts = 200;
constexpr int most_pushes = 1000;

struct Water {
  Vector3 centre;
  Quaternion orientation;
};

/// Uniform in [0, 1), the same on every platform (std::uniform_real_distribution is not).
double uniform(std::mt19937_64& generator) {
  return static_cast<double>(generator() >> 11U) * 0x1p-53;
}

/// One cut: waters in a cube around the solute, whose contacts can be judged and relaxed.
class Cut {
 public:
  Cut(const WaterBox& source, const Geometry& solute, double edge, const Vector3& offset)
      : source_(source), box_{{edge, edge, edge}}, solute_(solute) {
    centre_solute();
    replicate(offset);
    for (std::size_t s = 0; s < source.elements.size(); ++s) {
      if (!source.elements[s].empty()) atom_sites_.push_back(s);
    }
    for (const std::string& element : solute.elements) {
      const double radius = element_by_symbol(element)->vdw_radius_angstrom;
      longest_ = std::max(longest_, required_to_solute(radius, "O"));
    }
  }

  std::size_t count() const { return waters_.size(); }

  /// Leaves out the waters with the worst contacts until `wanted` are left.
  void reduce_to(std::size_t wanted) {
    std::vector<Contact> contacts = violations();
    std::vector<bool> left_out(waters_.size(), false);
    for (std::size_t count = waters_.size(); count > wanted; --count) {
      std::vector<double> overlap(waters_.size(), 0.0);
      for (const Contact& contact : contacts) {
        const double deficit = required(contact) - contact.distance;
        const std::size_t a = owners_[contact.i];
        const std::size_t b = owners_[contact.j];
        overlap[a] += deficit;
        // The solute cannot be left out: its contacts count double.
        overlap[b < waters_.size() ? b : a] += deficit;
      }
      for (std::size_t m = 0; m < waters_.size(); ++m) {
        if (left_out[m]) overlap[m] = -1;
      }
      const auto worst = static_cast<std::size_t>(std::max_element(overlap.begin(), overlap.end()) -
                                                  overlap.begin());
      left_out[worst] = true;
      std::erase_if(contacts, [&](const Contact& contact) {
        return owners_[contact.i] == worst || owners_[contact.j] == worst;
      });
    }
    std::size_t m = 0;
    std::erase_if(waters_, [&](const Water&) { return left_out[m++]; });
  }

  /// Pushes waters in contact apart, without turning them. True if no contact is left.
  bool relax() {
    for (int step = 0; step < most_pushes; ++step) {
      const std::vector<Contact> contacts = violations();
      if (contacts.empty()) return true;
      std::vector<Vector3> pushes(waters_.size());
      for (const Contact& contact : contacts) {
        const std::size_t a = owners_[contact.i];
        const std::size_t b = owners_[contact.j];
        const double share = b < waters_.size() ? 0.5 : 1.0;
        // A little more than the deficit, so that the end is reached in finitely many steps.
        const double push = 1.02 * (required(contact) - contact.distance) + 1e-4;
        const double length = std::max(contact.distance, 1e-6);
        const Vector3 step_apart = (share * push / length) * contact.d;
        pushes[a] = pushes[a] - step_apart;
        if (b < waters_.size()) pushes[b] = pushes[b] + step_apart;
      }
      for (std::size_t i = 0; i < waters_.size(); ++i) {
        waters_[i].centre = waters_[i].centre + pushes[i];
      }
    }
    return false;
  }

  SolvatedBox finish() const {
    SolvatedBox result{box_, solute_.positions, {}, {}};
    for (const Water& water : waters_) {
      std::vector<Vector3> sites;
      for (const Vector3& site : source_.reference) {
        sites.push_back(water.centre + rotate(water.orientation, site));
      }
      result.waters.push_back(std::move(sites));
    }
    return result;
  }

 private:
  void centre_solute() {
    if (solute_.positions.empty()) return;
    Vector3 low = solute_.positions.front();
    Vector3 high = low;
    for (const Vector3& r : solute_.positions) {
      low = {std::min(low.x, r.x), std::min(low.y, r.y), std::min(low.z, r.z)};
      high = {std::max(high.x, r.x), std::max(high.y, r.y), std::max(high.z, r.z)};
    }
    const Vector3 extent = high - low;
    const double longest = std::max({extent.x, extent.y, extent.z});
    if (longest + room_around_solute_angstrom > box_.lengths.x) {
      throw InputError(
          "solvate",
          fmt::format("the solute ({:.1f} angstrom long) does not fit into the box", longest),
          fmt::format("an edge of {:.1f} angstrom", box_.lengths.x),
          "ask for more waters (--waters) or a longer edge (--box)");
    }
    const Vector3 shift = 0.5 * (box_.lengths - (low + high));
    for (Vector3& r : solute_.positions) r = r + shift;
  }

  void replicate(const Vector3& offset) {
    const Vector3& period = source_.box.lengths;
    const double edge = box_.lengths.x;
    const auto images = [&](double length) { return static_cast<int>(edge / length) + 2; };
    for (int ix = 0; ix < images(period.x); ++ix) {
      for (int iy = 0; iy < images(period.y); ++iy) {
        for (int iz = 0; iz < images(period.z); ++iz) {
          const Vector3 shift = Vector3{ix * period.x, iy * period.y, iz * period.z} - offset;
          for (std::size_t m = 0; m < source_.centres.size(); ++m) {
            const Vector3 r = source_.centres[m] + shift;
            if (std::min({r.x, r.y, r.z}) >= 0 && std::max({r.x, r.y, r.z}) < edge) {
              waters_.push_back({r, source_.orientations[m]});
            }
          }
        }
      }
    }
  }

  static double required_to_solute(double solute_radius, std::string_view element) {
    return solute_radius_scale * (solute_radius + element_by_symbol(element)->vdw_radius_angstrom);
  }

  /// The distance a pair of atoms must keep; the first is always a water's.
  double required(const Contact& contact) const {
    const std::string& a = elements_[contact.i];
    const std::string& b = elements_[contact.j];
    if (owners_[contact.j] == waters_.size()) {
      return required_to_solute(element_by_symbol(b)->vdw_radius_angstrom, a);
    }
    if (a == "O" && b == "O") return oxygen_oxygen_angstrom;
    return a == b ? hydrogen_hydrogen_angstrom : oxygen_hydrogen_angstrom;
  }

  /// Contacts nearer than allowed.
  std::vector<Contact> violations() {
    points_.clear();
    owners_.clear();
    elements_.clear();
    for (std::size_t m = 0; m < waters_.size(); ++m) {
      for (std::size_t s : atom_sites_) {
        points_.push_back(waters_[m].centre + rotate(waters_[m].orientation, source_.reference[s]));
        owners_.push_back(m);
        elements_.push_back(source_.elements[s]);
      }
    }
    points_.insert(points_.end(), solute_.positions.begin(), solute_.positions.end());
    elements_.insert(elements_.end(), solute_.elements.begin(), solute_.elements.end());
    owners_.resize(points_.size(), waters_.size());
    std::vector<Contact> contacts = find_contacts(box_, points_, owners_, longest_);
    std::erase_if(contacts, [&](const Contact& c) { return c.distance >= required(c); });
    return contacts;
  }

  const WaterBox& source_;
  Box box_;
  Geometry solute_;
  std::vector<Water> waters_;
  std::vector<std::size_t> atom_sites_;  ///< sites of a water that are atoms
  double longest_ = oxygen_oxygen_angstrom;
  std::vector<Vector3> points_;
  std::vector<std::size_t> owners_;  ///< the solute's is the number of waters
  std::vector<std::string> elements_;
};

}  // namespace

double excluded_volume(const Geometry& solute) {
  if (solute.positions.empty()) return 0;
  constexpr double spacing = 0.2;
  constexpr double margin = 3;
  Vector3 low = solute.positions.front();
  Vector3 high = low;
  std::vector<double> squares;
  for (std::size_t i = 0; i < solute.positions.size(); ++i) {
    const Vector3& r = solute.positions[i];
    low = {std::min(low.x, r.x), std::min(low.y, r.y), std::min(low.z, r.z)};
    high = {std::max(high.x, r.x), std::max(high.y, r.y), std::max(high.z, r.z)};
    const double radius =
        element_by_symbol(solute.elements[i])->vdw_radius_angstrom + excluded_shell_angstrom;
    squares.push_back(radius * radius);
  }
  const auto steps = [&](double length) {
    return static_cast<int>((length + 2 * margin) / spacing) + 1;
  };
  std::size_t inside = 0;
  for (int x = 0; x < steps(high.x - low.x); ++x) {
    for (int y = 0; y < steps(high.y - low.y); ++y) {
      for (int z = 0; z < steps(high.z - low.z); ++z) {
        const Vector3 r =
            low + Vector3{x * spacing - margin, y * spacing - margin, z * spacing - margin};
        for (std::size_t i = 0; i < squares.size(); ++i) {
          const Vector3 d = r - solute.positions[i];
          if (dot(d, d) < squares[i]) {
            ++inside;
            break;
          }
        }
      }
    }
  }
  return static_cast<double>(inside) * spacing * spacing * spacing;
}

double cube_edge(const WaterBox& water, const Geometry& solute, std::size_t waters) {
  return std::cbrt(static_cast<double>(waters) * water.volume_per_molecule() +
                   excluded_volume(solute));
}

std::size_t waters_in_cube(const WaterBox& water, const Geometry& solute, double edge_angstrom) {
  const double volume = edge_angstrom * edge_angstrom * edge_angstrom - excluded_volume(solute);
  return static_cast<std::size_t>(std::max(0.0, std::rint(volume / water.volume_per_molecule())));
}

SolvatedBox solvate(const WaterBox& water, const Geometry& solute, std::size_t waters,
                    double edge_angstrom, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  for (int attempt = 0; attempt < most_cuts; ++attempt) {
    // Drawn one by one, so that the order is beyond doubt.
    const double x = uniform(generator) * water.box.lengths.x;
    const double y = uniform(generator) * water.box.lengths.y;
    const double z = uniform(generator) * water.box.lengths.z;
    Cut cut(water, solute, edge_angstrom, {x, y, z});
    if (cut.count() < waters) continue;
    cut.reduce_to(waters);
    if (cut.relax()) return cut.finish();
  }
  throw RunError(
      fmt::format("no box of {} waters without overlaps was found after {} attempts; ask "
                  "for another number of waters or another seed",
                  waters, most_cuts));
}

}  // namespace starpmc
