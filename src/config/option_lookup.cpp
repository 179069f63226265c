#include <algorithm>
#include <array>
#include <utility>

#include "config/option.hpp"
#include "config/values.hpp"

namespace starpmc::config {

const Option* find_option(std::string_view name) {
  const auto found = std::ranges::find(options(), name, &Option::name);
  return found == options().end() ? nullptr : &*found;
}

const Option& nearest_option(std::string_view name) {
  const std::size_t dot = name.find('.');
  const std::string_view section = dot == std::string_view::npos ? "" : name.substr(0, dot);
  const std::string_view key = dot == std::string_view::npos ? name : name.substr(dot + 1);
  // A right key in a wrong section is a likelier mistake than its distance in letters tells.
  constexpr std::size_t most_for_section = 2;
  const auto key_distance = [&](const Option& option) {
    const bool is_abbreviation = key.size() > 2 && option.key.starts_with(key);
    return std::min(edit_distance(key, option.key), std::size_t{is_abbreviation ? 1U : 99U});
  };
  return *std::ranges::min_element(options(), {}, [&](const Option& option) {
    return key_distance(option) +
           std::min(most_for_section, edit_distance(section, option.section));
  });
}

std::size_t comment_start(const Option& option, std::string_view value) {
  const std::string_view signs = option.is_expression ? "#" : "#;";
  std::size_t at = value.find_first_of(signs);
  while (option.is_path && at != std::string_view::npos && at > 0 &&
         kBlanks.find(value[at - 1]) == std::string_view::npos) {
    at = value.find_first_of(signs, at + 1);
  }
  return at;
}

std::string section_meaning(std::string_view section) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> meanings{{
      {"system", "what is simulated"},
      {"interaction", "cutoffs"},
      {"potential", "pair functions as expressions"},
      {"sampling", "the Monte Carlo chain"},
      {"qm", "the density of the QM molecule"},
      {"run", "how the energies are computed"},
      {"output", "what is written where"},
      {"profile", "free energy along a path, by starpmc profile"},
  }};
  const auto found =
      std::ranges::find(meanings, section, [](const auto& pair) { return pair.first; });
  return found == meanings.end() ? std::string{} : std::string(found->second);
}

std::string default_text(const Option& option) {
  static const Settings defaults;
  return option.get(defaults);
}

}  // namespace starpmc::config
