#include "bench/paper_table.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench/report.hpp"

namespace starpmc {
namespace {

constexpr const char* kOwn = "starpmc";

/// @param exact as many digits as the number has
std::string cell_text(const TableCell& cell, bool exact) {
  if (const auto* text = std::get_if<std::string>(&cell)) return exact ? csv_cell(*text) : *text;
  if (const auto* number = std::get_if<double>(&cell)) {
    return exact ? fmt::format("{}", *number) : readable(*number);
  }
  return "";
}

}  // namespace

void PaperTable::add(std::vector<TableCell> cells) {
  if (cells.size() + 1 != columns.size()) {
    throw std::invalid_argument(key + ": a row with a wrong number of cells");
  }
  cells.insert(cells.begin(), std::string(kOwn));
  rows.push_back(std::move(cells));
}

bool PaperTable::has_own_rows() const {
  for (const auto& row : rows) {
    if (row.front() == TableCell(std::string(kOwn))) return true;
  }
  return false;
}

std::string table_csv(const PaperTable& table) {
  std::string text;
  for (const std::string& note : table.notes) text += "# " + note + '\n';
  text += fmt::format("{}\n", fmt::join(table.columns, ","));
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text.append(i == 0 ? "" : ",").append(cell_text(row[i], true));
    }
    text += '\n';
  }
  return text;
}

nlohmann::ordered_json table_json(const PaperTable& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    nlohmann::ordered_json object;
    for (std::size_t i = 0; i < row.size(); ++i) {
      nlohmann::ordered_json& value = object[table.columns[i]];
      if (const auto* text = std::get_if<std::string>(&row[i])) value = *text;
      if (const auto* number = std::get_if<double>(&row[i])) value = *number;
    }
    rows.push_back(std::move(object));
  }
  return {{"title", table.title},
          {"columns", table.columns},
          {"rows", std::move(rows)},
          {"notes", table.notes}};
}

std::string table_text(const PaperTable& table) {
  std::string text = table.title + '\n';
  std::vector<std::vector<std::string>> lines{table.columns};
  for (const auto& row : table.rows) {
    lines.emplace_back();
    for (const TableCell& cell : row) lines.back().push_back(cell_text(cell, false));
  }
  if (table.has_own_rows()) text += aligned(lines, 2);
  for (const std::string& note : table.notes) text += "  " + note + '\n';
  return text;
}

}  // namespace starpmc
