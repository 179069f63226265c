#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "system/system.hpp"

namespace starpmc {

/// A table of parameters by atom type.
///
/// The first line that is no comment (# or ;) names the columns; the first is the atom type's. The
/// others are numbers.
class ParameterTable {
 public:
  ParameterTable() = default;
  /// @param file empty: a table without columns
  /// @throws InputError naming file and line
  explicit ParameterTable(const std::filesystem::path& file);

  /// Of the columns but the first.
  const std::vector<std::string>& names() const { return names_; }
  /// The values of an atom type, in the order of names().
  /// @throws InputError where the table has no such type
  const std::vector<double>& values(const std::string& type) const;

 private:
  void read_names(std::string_view line, const std::string& place);
  void read_values(std::string_view line, const std::string& place);

  std::filesystem::path file_;
  std::vector<std::string> names_;
  std::map<std::string, std::vector<double>> values_;
};

/// A site as pair functions see it.
struct SiteKind {
  std::size_t type = 0;  ///< index into ForceField::site_type_names
  double charge = 0;     ///< 0 where no function asks for it
};

/// The parameters a site of some kind has: sigma (A), epsilon (kJ/mol), charge (e), and the table's
/// columns, which go before.
class SiteParameterReader {
 public:
  SiteParameterReader(const ForceField& force_field, const ParameterTable& table)
      : force_field_(force_field), table_(table) {}

  /// All names there are.
  std::vector<std::string> names() const;
  /// @throws InputError where the table lacks the site's type
  double value(const SiteKind& site, const std::string& name) const;

 private:
  const ForceField& force_field_;
  const ParameterTable& table_;
};

}  // namespace starpmc
