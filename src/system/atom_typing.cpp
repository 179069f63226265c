#include "system/atom_typing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "kernels/base/error.hpp"
#include "system/elements.hpp"
#include "system/text.hpp"

namespace starpmc {
namespace {

constexpr double ring_planarity_angstrom = 0.15;
constexpr std::string_view built_in_class = "aromatic";

using Neighbours = std::vector<std::vector<std::size_t>>;

/// "O/1>=2", "bonds=3", "aromatic", "!aromatic".
struct Condition {
  std::string subject;      ///< "bonds", an element or a class
  long subject_bonds = -1;  ///< the 1 of "O/1"
  std::string comparison;   ///< "=", ">=", "<="; empty: the atom itself is of the class
  long count = 0;
  bool negated = false;
};

struct Rule {
  bool is_class = false;
  std::string name;
  std::string element;
  std::vector<Condition> conditions;
  bool is_guess = false;
  std::string comment;
};

Condition parse_condition(std::string_view word, const std::set<std::string>& classes,
                          const std::string& place) {
  Condition condition;
  const std::size_t at = word.find_first_of("<>=");
  std::string_view subject = word.substr(0, at);
  if (at != std::string_view::npos) {
    const std::size_t length = word[at] == '=' ? 1 : 2;
    condition.comparison = std::string(word.substr(at, length));
    if (condition.comparison != "=" && condition.comparison != ">=" &&
        condition.comparison != "<=") {
      throw InputError(place, "unknown comparison in a condition", word, "use =, >= or <=");
    }
    condition.count =
        parse_integer(word.substr(std::min(at + length, word.size())), place, "the number", 0);
    if (const std::size_t slash = subject.find('/'); slash != std::string_view::npos) {
      condition.subject_bonds =
          parse_integer(subject.substr(slash + 1), place, "the number of bonds", 0);
      subject = subject.substr(0, slash);
    }
  } else if (subject.starts_with('!')) {
    condition.negated = true;
    subject.remove_prefix(1);
  }
  condition.subject = std::string(subject);
  const bool known_class = classes.contains(condition.subject);
  const bool known = condition.comparison.empty()
                         ? known_class
                         : known_class || subject == "bonds" || element_by_symbol(subject);
  if (!known) {
    throw InputError(place, "a condition names neither an element nor a class defined above it",
                     word, "write an element's symbol, 'bonds', 'aromatic' or a class");
  }
  return condition;
}

std::vector<Rule> read_rules(const std::filesystem::path& table) {
  const std::vector<std::string> lines =
      read_lines(table, "give a table of atom types, or leave it out to use the built-in one");
  std::vector<Rule> rules;
  std::set<std::string> classes{std::string(built_in_class)};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string place = place_of(table, i + 1);
    const std::string_view line = lines[i];
    const std::size_t comment = std::min(line.find('#'), line.size());
    const std::vector<std::string_view> words = split_words(line.substr(0, comment));
    if (words.empty()) continue;
    const bool known_kind = words[0] == "class" || words[0] == "type";
    if (!known_kind || words.size() < 3 || !element_by_symbol(words[2])) {
      throw InputError(place, "not a rule for atom types", lines[i],
                       "write 'type NAME ELEMENT CONDITION...' or 'class NAME ELEMENT "
                       "CONDITION...'");
    }
    Rule rule{words[0] == "class",
              std::string(words[1]),
              std::string(element_by_symbol(words[2])->symbol),
              {},
              words.back() == "guess",
              std::string(trim(line.substr(std::min(comment + 1, line.size()))))};
    const std::size_t end = rule.is_guess ? words.size() - 1 : words.size();
    for (std::size_t w = 3; w < end; ++w) {
      rule.conditions.push_back(parse_condition(words[w], classes, place));
    }
    if (rule.is_class) classes.insert(rule.name);
    rules.push_back(std::move(rule));
  }
  return rules;
}

/// Which atoms lie in an aromatic ring.
class RingSearch {
 public:
  RingSearch(const Geometry& geometry, const Neighbours& neighbours)
      : geometry_(geometry), neighbours_(neighbours), aromatic_(neighbours.size(), false) {
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      if (may_be_aromatic(i)) {
        path_ = {i};
        extend();
      }
    }
  }

  bool aromatic(std::size_t atom) const { return aromatic_[atom]; }

 private:
  bool may_be_aromatic(std::size_t atom) const {
    const std::string& element = geometry_.elements[atom];
    const std::size_t bonds = neighbours_[atom].size();
    if (element == "C") {
      const bool carbonyl =
          std::any_of(neighbours_[atom].begin(), neighbours_[atom].end(), [&](std::size_t other) {
            return geometry_.elements[other] == "O" && neighbours_[other].size() == 1;
          });
      return bonds == 3 && !carbonyl;
    }
    return (element == "N" && (bonds == 2 || bonds == 3)) ||
           ((element == "O" || element == "S") && bonds == 2);
  }

  void extend() {
    for (std::size_t next : neighbours_[path_.back()]) {
      if (next == path_.front() && path_.size() >= 5) {
        if (planar()) {
          for (std::size_t atom : path_) aromatic_[atom] = true;
        }
      } else if (path_.size() < 6 && may_be_aromatic(next) &&
                 std::find(path_.begin(), path_.end(), next) == path_.end()) {
        path_.push_back(next);
        extend();
        path_.pop_back();
      }
    }
  }

  bool planar() const {
    const Vector3& origin = geometry_.positions[path_[0]];
    Vector3 normal;
    for (std::size_t i = 1; i + 1 < path_.size(); ++i) {
      normal = normal + cross(geometry_.positions[path_[i]] - origin,
                              geometry_.positions[path_[i + 1]] - origin);
    }
    const double length = norm(normal);
    return std::all_of(path_.begin(), path_.end(), [&](std::size_t atom) {
      const double height = dot(geometry_.positions[atom] - origin, normal);
      return std::abs(height) < ring_planarity_angstrom * length;
    });
  }

  const Geometry& geometry_;
  const Neighbours& neighbours_;
  std::vector<bool> aromatic_;
  std::vector<std::size_t> path_;
};

/// Applies rules in order: classes mark atoms, types name them.
class Typing {
 public:
  explicit Typing(const Geometry& geometry)
      : geometry_(geometry),
        neighbours_(bonded_neighbours(geometry)),
        classes_(geometry.elements.size()),
        types_(geometry.elements.size()) {
    const RingSearch rings(geometry, neighbours_);
    for (std::size_t i = 0; i < types_.size(); ++i) {
      if (rings.aromatic(i)) classes_[i].emplace(built_in_class);
    }
  }

  void apply(const Rule& rule) {
    for (std::size_t i = 0; i < types_.size(); ++i) {
      const bool fits = geometry_.elements[i] == rule.element &&
                        std::all_of(rule.conditions.begin(), rule.conditions.end(),
                                    [&](const Condition& c) { return holds(c, i); });
      if (!fits) continue;
      if (rule.is_class) {
        classes_[i].insert(rule.name);
      } else if (types_[i].name.empty()) {
        types_[i] = {rule.name, rule.is_guess, rule.comment};
      }
    }
  }

  std::vector<AssignedType> finish(const std::filesystem::path& table) && {
    for (std::size_t i = 0; i < types_.size(); ++i) {
      if (types_[i].name.empty()) {
        std::vector<std::string> around;
        for (std::size_t j : neighbours_[i]) around.push_back(geometry_.elements[j]);
        throw InputError(
            table.string(),
            fmt::format("no rule gives a Lennard-Jones type for atom {} of the solute", i + 1),
            fmt::format("{} bonded to [{}]", geometry_.elements[i], fmt::join(around, " ")),
            "check the geometry, or add a rule to a copy of the table and give it by "
            "--table");
      }
    }
    return std::move(types_);
  }

 private:
  bool holds(const Condition& condition, std::size_t atom) const {
    if (condition.comparison.empty()) {
      return classes_[atom].contains(condition.subject) != condition.negated;
    }
    long count = 0;
    for (std::size_t other : neighbours_[atom]) {
      const bool named = condition.subject == "bonds" ||
                         geometry_.elements[other] == condition.subject ||
                         classes_[other].contains(condition.subject);
      const bool bonds =
          condition.subject_bonds < 0 ||
          neighbours_[other].size() == static_cast<std::size_t>(condition.subject_bonds);
      count += named && bonds ? 1 : 0;
    }
    if (condition.comparison == "=") return count == condition.count;
    return condition.comparison == ">=" ? count >= condition.count : count <= condition.count;
  }

  const Geometry& geometry_;
  Neighbours neighbours_;
  std::vector<std::set<std::string>> classes_;
  std::vector<AssignedType> types_;
};

/// No other element's parameters stand in for an element that the table does not have.
void check_elements(const Geometry& geometry, std::span<const Rule> rules,
                    const std::filesystem::path& table) {
  std::set<std::string> known;
  for (const Rule& rule : rules) {
    if (!rule.is_class) known.insert(rule.element);
  }
  for (std::size_t i = 0; i < geometry.elements.size(); ++i) {
    const std::string& element = geometry.elements[i];
    if (known.contains(element)) continue;
    throw InputError(
        table.string(),
        fmt::format("the table has no Lennard-Jones type for atom {} of the solute", i + 1),
        element,
        fmt::format(
            "add a rule, for example 'type TYPE {}', with a type of GROMACS's oplsaa.ff to a "
            "copy of the table and give it by --table",
            element));
  }
}

}  // namespace

std::vector<std::vector<std::size_t>> bonded_neighbours(const Geometry& geometry) {
  const std::size_t count = geometry.elements.size();
  std::vector<double> radii;
  for (const std::string& symbol : geometry.elements) {
    radii.push_back(element_by_symbol(symbol)->covalent_radius_angstrom);
  }
  Neighbours neighbours(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      const double distance = norm(geometry.positions[i] - geometry.positions[j]);
      if (distance < radii[i] + radii[j] + kBondToleranceAngstrom) {
        neighbours[i].push_back(j);
        neighbours[j].push_back(i);
      }
    }
  }
  return neighbours;
}

std::vector<AssignedType> assign_atom_types(const Geometry& geometry,
                                            const std::filesystem::path& table) {
  const std::vector<Rule> rules = read_rules(table);
  check_elements(geometry, rules, table);
  Typing typing(geometry);
  for (const Rule& rule : rules) {
    typing.apply(rule);
  }
  return std::move(typing).finish(table);
}

}  // namespace starpmc
