#include "expression/addition_chain.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace starpmc::expression {
namespace {

using Powers = std::vector<std::uint32_t>;

/// Iterative deepening over ascending chains. A chain may be sorted without loss, so the next
/// element never passes the next target that is not there yet.
class Search {
 public:
  Search(std::span<const std::uint32_t> given, const Powers& targets)
      : chain_(given.begin(), given.end()), targets_(targets) {}

  std::optional<std::vector<ChainStep>> run() {
    for (std::size_t steps = targets_.size(); work_ < kMostWork; ++steps) {
      if (extend(0, steps)) return steps_;
    }
    return std::nullopt;
  }

 private:
  /// Elements looked at; a search that takes more is given up, within a millisecond or so.
  static constexpr std::size_t kMostWork = 40'000;

  bool extend(std::size_t met, std::size_t steps_left) {
    while (met < targets_.size() && std::ranges::find(chain_, targets_[met]) != chain_.end()) ++met;
    if (met == targets_.size()) return true;
    if (targets_.size() - met > steps_left || !can_reach(targets_.back(), steps_left)) return false;
    for (const ChainStep step : candidates(targets_[met])) {
      chain_.push_back(step.left + step.right);
      std::ranges::sort(chain_);  // only `given` can be beyond the new one
      steps_.push_back(step);
      if (work_ < kMostWork && extend(met, steps_left - 1)) return true;
      steps_.pop_back();
      chain_.erase(std::ranges::find(chain_, step.left + step.right));
    }
    return false;
  }

  bool can_reach(std::uint32_t target, std::size_t steps) const {
    return steps >= 32 || std::uint64_t{chain_.back()} << steps >= target;
  }

  /// Sums of two elements that are new and at most `most`, the largest first.
  std::vector<ChainStep> candidates(std::uint32_t most) {
    work_ += chain_.size();
    const std::uint32_t last = steps_.empty() ? 0 : steps_.back().left + steps_.back().right;
    std::vector<ChainStep> found;
    for (std::size_t i = chain_.size(); i-- > 0;) {
      if (2 * chain_[i] <= last) break;
      for (std::size_t j = i + 1; j-- > 0;) {
        const std::uint32_t sum = chain_[i] + chain_[j];
        ++work_;
        if (sum <= last) break;
        if (sum > most) continue;
        work_ += chain_.size();
        if (std::ranges::find(chain_, sum) == chain_.end()) {
          found.push_back({chain_[i], chain_[j]});
        }
      }
    }
    const auto sum = [](const ChainStep& step) { return step.left + step.right; };
    std::ranges::stable_sort(found, std::ranges::greater{}, sum);
    const auto same = [sum](const ChainStep& a, const ChainStep& b) { return sum(a) == sum(b); };
    found.erase(std::unique(found.begin(), found.end(), same), found.end());
    return found;
  }

  Powers chain_;
  const Powers& targets_;
  std::vector<ChainStep> steps_;
  std::size_t work_ = 0;
};

std::vector<ChainStep> by_squaring(std::span<const std::uint32_t> given, const Powers& targets) {
  std::set<std::uint32_t> known(given.begin(), given.end());
  std::vector<ChainStep> steps;
  const auto make = [&](std::uint32_t left, std::uint32_t right) {
    if (known.insert(left + right).second) steps.push_back({left, right});
  };
  for (std::uint32_t square = 1; square <= targets.back() / 2; square *= 2) make(square, square);
  for (const std::uint32_t target : targets) {
    if (known.contains(target)) continue;
    std::uint32_t partial = 0;
    for (std::uint32_t bit = 1; bit != 0 && bit <= target; bit *= 2) {
      if ((target & bit) == 0) continue;
      if (partial != 0) make(partial, bit);
      partial += bit;
    }
  }
  return steps;
}

}  // namespace

std::vector<ChainStep> addition_chain(std::span<const std::uint32_t> given,
                                      std::span<const std::uint32_t> targets) {
  Powers wanted;
  for (const std::uint32_t target : targets) {
    if (std::ranges::find(given, target) == given.end()) wanted.push_back(target);
  }
  std::ranges::sort(wanted);
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  if (wanted.empty()) return {};
  const auto found = Search(given, wanted).run();
  return found ? *found : by_squaring(given, wanted);
}

}  // namespace starpmc::expression
