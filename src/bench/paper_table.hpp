#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

namespace starpmc {

/// A number, a text, or nothing.
using TableCell = std::variant<std::monostate, double, std::string>;

/// A table or a figure's data of the paper, with this machine's numbers beside the published ones:
/// a row's first cell says whose it is ("starpmc" or "paper"). Columns carry their units.
struct PaperTable {
  std::string key;  ///< "table-3", "figure-11"
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<TableCell>> rows;
  std::vector<std::string> notes;  ///< how it was measured; or why it was not

  /// Adds a row of this machine.
  /// @param cells one for each column but the first
  void add(std::vector<TableCell> cells);
  /// Of this machine.
  bool has_own_rows() const;
};

/// A line of names, a line per row, empty cells for nothing; notes as comments (#) before.
std::string table_csv(const PaperTable& table);
/// {"title", "columns", "rows": [{column: value}], "notes"}
nlohmann::ordered_json table_json(const PaperTable& table);
/// Aligned columns for people; notes only where nothing was measured.
std::string table_text(const PaperTable& table);

}  // namespace starpmc
