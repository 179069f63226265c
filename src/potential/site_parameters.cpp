#include "potential/site_parameters.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "expression/functions.hpp"
#include "kernels/base/error.hpp"
#include "system/text.hpp"

namespace starpmc {
namespace {

constexpr std::array<std::string_view, 3> kOfTopology{"sigma", "epsilon", "charge"};

bool is_name(std::string_view text) {
  const auto letter = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, letter);
}

}  // namespace

ParameterTable::ParameterTable(const std::filesystem::path& file) : file_(file) {
  if (file.empty()) return;
  const std::vector<std::string> lines =
      read_lines(file, "write the path of a table in potential.parameters");
  bool begun = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = trim(std::string_view(lines[i]).substr(
        0, std::min(lines[i].find_first_of("#;"), lines[i].size())));
    if (line.empty()) continue;
    if (begun) {
      read_values(line, place_of(file, i + 1));
    } else {
      read_names(line, place_of(file, i + 1));
    }
    begun = true;
  }
  if (!begun) {
    throw InputError(file.string(), "the table of parameters is empty", "",
                     "begin it with a line of names: type, then the parameters");
  }
}

void ParameterTable::read_names(std::string_view line, const std::string& place) {
  const std::vector<std::string_view> words = split_words(line);
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string name(words[i]);
    if (!is_name(name) || expression::find_function(name) != nullptr || name == "charge") {
      throw InputError(place, "not a name for a parameter", name,
                       "write letters, digits and _, beginning with a letter; no function's name; "
                       "charges come from the topology");
    }
    if (std::ranges::find(names_, name) != names_.end()) {
      throw InputError(place, "a parameter is named twice", name, "remove one of the columns");
    }
    names_.push_back(name);
  }
  if (names_.empty()) {
    throw InputError(place, "no column of parameters after that of the atom types", line,
                     "the first line names the columns: type, then the parameters");
  }
}

void ParameterTable::read_values(std::string_view line, const std::string& place) {
  const std::vector<std::string_view> words = split_words(line);
  if (words.size() != names_.size() + 1) {
    throw InputError(place, "not as many values as there are names",
                     std::to_string(words.size() - 1) + " values",
                     "write an atom type and " + std::to_string(names_.size()) + " numbers");
  }
  std::vector<double> values;
  for (std::size_t i = 1; i < words.size(); ++i) {
    values.push_back(parse_number(words[i], place, "the parameter " + names_[i - 1]));
  }
  if (!values_.emplace(words[0], std::move(values)).second) {
    throw InputError(place, "an atom type is given twice", words[0], "remove one of the lines");
  }
}

const std::vector<double>& ParameterTable::values(const std::string& type) const {
  const auto found = values_.find(type);
  if (found == values_.end()) {
    throw InputError(file_.string(), "the table lacks an atom type of the system", type,
                     "add a line for it; atom types are those of the topology's [ atoms ]");
  }
  return found->second;
}

std::vector<std::string> SiteParameterReader::names() const {
  std::vector<std::string> names(kOfTopology.begin(), kOfTopology.end());
  for (const std::string& name : table_.names()) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

double SiteParameterReader::value(const SiteKind& site, const std::string& name) const {
  if (const auto column = std::ranges::find(table_.names(), name); column != table_.names().end()) {
    return table_.values(force_field_.site_type_names.at(site.type))
        .at(static_cast<std::size_t>(column - table_.names().begin()));
  }
  if (name == "charge") return site.charge;
  const SiteParameters& parameters = force_field_.parameters.at(site.type);
  if (!parameters.undefined_place.empty()) {
    throw InputError(parameters.undefined_place,
                     "an atom type with only one of c6 and c12 has no sigma and epsilon, which an "
                     "expression uses",
                     force_field_.site_type_names.at(site.type),
                     "give c6 and c12, or neither; or give sigma and epsilon in a table "
                     "(potential.parameters)");
  }
  return name == "sigma" ? parameters.sigma_angstrom : parameters.epsilon;
}

}  // namespace starpmc
