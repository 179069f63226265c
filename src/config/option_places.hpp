#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace starpmc {

/// Where options were given, for messages: "run.cfg:12: sampling.steps".
class OptionPlaces {
 public:
  /// @param file what to name for options that were not given
  explicit OptionPlaces(std::string_view file = "configuration") : file_(file) {}

  void set(const std::string& option, std::string place) { places_[option] = std::move(place); }
  /// An error leaves the option at a value that nobody wrote.
  void set_doubtful(const std::string& option) { doubtful_.insert(option); }
  bool doubtful(const std::string& option) const { return doubtful_.contains(option); }
  bool given(const std::string& option) const { return places_.contains(option); }
  std::string operator()(const std::string& option) const {
    const auto found = places_.find(option);
    return found == places_.end() ? file_ + ": " + option : found->second;
  }

 private:
  std::string file_;
  std::map<std::string, std::string> places_;
  std::set<std::string> doubtful_;
};

}  // namespace starpmc
