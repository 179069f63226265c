#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "kernels/arguments.hpp"

namespace starpmc {

/// Entries of one molecule that lie close together, so that they can share a neighbour search.
struct EntryGroup {
  int slot;
  int type;
  std::span<const int> entries;
  double spread;  ///< largest distance of a centre from the first entry's
};

/// A window's entries, slot by slot: the start entry of a molecule, then its candidates.
class EntryGroups {
 public:
  explicit EntryGroups(const Window& window) : window_(window) {
    const auto starts = static_cast<std::size_t>(window.starts());
    std::vector<int> next(starts + 1, 1);  // one start entry each
    const auto slot_of = [&](int candidate) {
      const int step = window.plan[plan_candidate_step(window.layout) + candidate];
      return static_cast<std::size_t>(window.plan[plan_step_slot(window.layout) + step]);
    };
    for (int candidate = 0; candidate < window.candidates(); ++candidate)
      ++next[slot_of(candidate)];
    int before = 0;
    for (int& slot : next) before += std::exchange(slot, before);
    entries_.resize(static_cast<std::size_t>(window.candidates() + window.starts()));
    for (std::size_t slot = 0; slot < starts; ++slot) {
      put(next[slot], start_entry(window.layout, static_cast<int>(slot)));
    }
    for (int candidate = 0; candidate < window.candidates(); ++candidate) {
      put(next[slot_of(candidate)], candidate);
    }
    // now next[slot] is where the slot's entries end
    groups_.reserve(entries_.size());
    std::size_t first = 0;
    for (std::size_t slot = 0; slot < starts; ++slot) {
      const auto last = static_cast<std::size_t>(next[slot]);
      while (first < last) first = add_group(static_cast<int>(slot), first, last);
    }
  }

  /// In the order of their slots.
  std::span<const EntryGroup> groups() const { return groups_; }
  /// Entries of all groups, in their order.
  std::span<const int> entries() const { return entries_; }

 private:
  /// Beyond this a common neighbourhood holds too many molecules that only one entry needs.
  static constexpr double kLargestSpread = 1.0;

  void put(int& at, int entry) { entries_[static_cast<std::size_t>(at++)] = entry; }

  /// @return the first entry that is not of the group
  std::size_t add_group(int slot, std::size_t first, std::size_t last) {
    double spread = 0;
    const auto end =
        std::partition(entries_.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                       entries_.begin() + static_cast<std::ptrdiff_t>(last), [&](int entry) {
                         const double distance = centre_distance(entries_[first], entry);
                         if (distance > kLargestSpread) return false;
                         spread = std::max(spread, distance);
                         return true;
                       });
    const auto count = static_cast<std::size_t>(end - entries_.begin()) - first;
    const int molecule = window_.plan[plan_start_molecule(window_.layout) + slot];
    groups_.push_back({slot, window_.topology.type_of(molecule),
                       std::span<const int>(entries_).subspan(first, count), spread});
    return first + count;
  }

  double centre_distance(int a, int b) const {
    double squared = 0;
    for (int k = 0; k < 3; ++k) {
      const double edge = window_.interaction.box[k];
      const double d = window_.field(k, a) - window_.field(k, b);
      const double nearest = d - edge * std::rint(d / edge);
      squared += nearest * nearest;
    }
    return std::sqrt(squared);
  }

  const Window& window_;
  std::vector<int> entries_;
  std::vector<EntryGroup> groups_;
};

}  // namespace starpmc
