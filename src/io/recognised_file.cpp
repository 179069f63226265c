#include "io/recognised_file.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <string_view>

#include "io/stored_state_reader.hpp"

namespace starpmc {
namespace {

constexpr std::size_t kLookedAt = std::size_t{1} << 16;

/// How a file of this name begins, and what it holds soon after.
struct Mark {
  std::string_view name;
  std::string_view beginning;
  std::string_view within = {};
};

constexpr auto kMarks = std::to_array<Mark>({
    {"energies.csv", "# starpmc:"},
    {"trajectory.h5md", kHdf5Signature, "starpmc"},
    {"trajectory.h5", kHdf5Signature, "starpmc"},
    {"reference.h5", kHdf5Signature, "starpmc"},
    {"blocks.csv", "# starpmc:"},
    {"system.pdb", "TITLE     ", "P 1           1\nHETATM    1 "},
    {"final.pdb", "TITLE     ", "by starpmc\n"},
    {"final.gro", "", "by starpmc\n"},
    {"summary.json", "{", "\"decisions_sha256\""},
    {"settings.cfg", "# Every option of this run"},
    {"checkpoint.cbor", "starpmc checkpoint "},
    {"checkpoint.previous.cbor", "starpmc checkpoint "},
    {"reference-preparation.cbor", "starpmc checkpoint "},
    {"report.html", "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta ",
     "Content-Security-Policy"},
    {"timeline.csv", "worker,worker_name,"},
    {"timeline.svg", "<svg"},
    {"paje.trace", "%EventDef"},
    {"run.log", "20", ": "},
    {"report-rdf.csv", "pair,r_angstrom,"},
    {"report-coordination.csv", "pair,first_maximum_angstrom,"},
});
constexpr Mark kGridMark = {"", "STARPMCG"};
constexpr Mark kPlotMark = {"", "\211PNG"};

/// A file that was torn may be shorter than its beginning.
bool bears(const Mark& mark, std::string_view text) {
  if (text.size() < mark.beginning.size()) return mark.beginning.starts_with(text);
  return text.starts_with(mark.beginning) && text.find(mark.within) != std::string_view::npos;
}

/// The mark of a file's name; null: it has none.
const Mark* mark_of(std::string_view name) {
  if (name.starts_with("grid-")) return &kGridMark;
  if (name.starts_with("report-") && name.ends_with(".png")) return &kPlotMark;
  const auto* const mark = std::ranges::find(kMarks, name, &Mark::name);
  return mark == kMarks.end() ? nullptr : mark;
}

}  // namespace

bool looks_like_a_runs(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto status = std::filesystem::symlink_status(path, ignored);
  const std::string name = path.filename().string();
  const Mark* const mark = mark_of(name);
  if (!std::filesystem::is_regular_file(status) || mark == nullptr) return true;
  std::ifstream file(path, std::ios::binary);
  std::string text(kLookedAt, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text.empty() || bears(*mark, text);
}

}  // namespace starpmc
