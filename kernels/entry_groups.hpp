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
  double centre[3];  ///< amid the entries' centres
  double spread;     ///< their largest distance from it
};

/// A window's entries, slot by slot: the start entry of a molecule, then its candidates. In a
/// window without starts, every candidate is of another molecule.
class EntryGroups {
 public:
  explicit EntryGroups(const Window& window) : window_(window) {
    const bool has_starts = window.starts() > 0;
    const int slots = has_starts ? window.starts() : window.candidates();
    const auto slot_of = [&](int candidate) {
      const int step = window.plan[plan_candidate_step(window.layout) + candidate];
      return static_cast<std::size_t>(has_starts ? window.plan[plan_step_slot(window.layout) + step]
                                                 : candidate);
    };
    std::vector<int> next(static_cast<std::size_t>(slots), has_starts ? 1 : 0);
    for (int candidate = 0; candidate < window.candidates(); ++candidate)
      ++next[slot_of(candidate)];
    int before = 0;
    for (int& slot : next) before += std::exchange(slot, before);
    entries_.resize(static_cast<std::size_t>(before));
    for (int slot = 0; slot < window.starts(); ++slot) {
      put(next[static_cast<std::size_t>(slot)], start_entry(window.layout, slot));
    }
    for (int candidate = 0; candidate < window.candidates(); ++candidate) {
      put(next[slot_of(candidate)], candidate);
    }
    // now next[slot] is where the slot's entries end
    groups_.reserve(entries_.size());
    std::size_t first = 0;
    for (int slot = 0; slot < slots; ++slot) {
      const auto last = static_cast<std::size_t>(next[static_cast<std::size_t>(slot)]);
      while (first < last) first = add_group(slot, first, last);
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
    const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first);
    const int leader = *begin;
    const auto end = std::partition(
        begin + 1, entries_.begin() + static_cast<std::ptrdiff_t>(last), [&](int entry) {
          double d[3];
          displacement(leader, entry, d);
          return d[0] * d[0] + d[1] * d[1] + d[2] * d[2] <= kLargestSpread * kLargestSpread;
        });
    const auto count = static_cast<std::size_t>(end - begin);
    EntryGroup group{slot,
                     window_.topology.type_of(window_.molecule_of_entry(leader)),
                     std::span<const int>(entries_).subspan(first, count),
                     {},
                     0};
    place(group);
    groups_.push_back(group);
    return first + count;
  }

  void place(EntryGroup& group) const {
    const int leader = group.entries.front();
    double low[3] = {};
    double high[3] = {};
    double d[3];
    for (const int entry : group.entries) {
      displacement(leader, entry, d);
      for (int k = 0; k < 3; ++k) {
        low[k] = std::min(low[k], d[k]);
        high[k] = std::max(high[k], d[k]);
      }
    }
    double squared = 0;
    for (int k = 0; k < 3; ++k) {
      group.centre[k] = window_.field(POSE_X + k, leader) + (low[k] + high[k]) / 2;
      const double half = (high[k] - low[k]) / 2;
      squared += half * half;
    }
    group.spread = std::sqrt(squared);
  }

  /// From entry a's centre to the nearest image of b's.
  void displacement(int a, int b, double* d) const {
    for (int k = 0; k < 3; ++k) {
      const double edge = window_.interaction.box[k];
      d[k] = window_.field(POSE_X + k, b) - window_.field(POSE_X + k, a);
      d[k] -= edge * std::rint(d[k] / edge);
    }
  }

  const Window& window_;
  std::vector<int> entries_;
  std::vector<EntryGroup> groups_;
};

}  // namespace starpmc
