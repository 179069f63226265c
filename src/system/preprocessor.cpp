#include "system/preprocessor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>

#include "kernels/base/error.hpp"
#include "kernels/base/shown_text.hpp"
#include "system/gromacs_data.hpp"
#include "system/text.hpp"

namespace starpmc {
namespace {

constexpr std::size_t deepest_substitution = 32;
// Far beyond what force fields need, and little enough that a mistake (a doubling #define, files
// that include each other twice) is told within seconds.
constexpr std::size_t deepest_include = 64;
constexpr std::size_t most_files = 10'000;
constexpr std::size_t most_characters_of_a_line = std::size_t{64} << 10U;
constexpr std::size_t most_replaced_in_a_line = std::size_t{1} << 20U;
constexpr std::size_t most_replaced = std::size_t{128} << 20U;
constexpr std::size_t most_characters = std::size_t{256} << 20U;

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// An open #ifdef or #ifndef.
struct Conditional {
  std::string place;
  bool active = false;        ///< lines of the present branch are kept
  bool parent_active = true;  ///< lines around the conditional are kept
  bool has_else = false;
};

class Preprocessor {
 public:
  Preprocessor(std::span<const std::string> defines,
               std::span<const std::filesystem::path> include_folders)
      : include_folders_(include_folders.begin(), include_folders.end()) {
    for (const std::string& define : defines) {
      const std::size_t equals = define.find('=');
      const std::string name(trim(std::string_view(define).substr(0, equals)));
      defines_[name] = equals == std::string::npos ? "" : define.substr(equals + 1);
    }
    const std::vector<std::filesystem::path> shared = gromacs_folders();
    include_folders_.insert(include_folders_.end(), shared.begin(), shared.end());
  }

  std::vector<SourceLine> run(const std::filesystem::path& file) {
    read_file(file, "give the path of a GROMACS topology (.top)");
    return std::move(lines_);
  }

 private:
  bool active() const { return conditionals_.empty() || conditionals_.back().active; }

  void read_file(const std::filesystem::path& file, std::string_view remedy) {
    const std::vector<std::string> raw = read_byte_lines(file, remedy);
    count_file(raw, file);
    stack_.push_back(file);
    const std::size_t open_before = conditionals_.size();
    std::size_t next = 0;
    while (const auto line = next_kept(raw, next, file)) {
      const std::string place = place_of(file, *line + 1);
      read_line(joined_line(raw, *line, next, file), place);
    }
    if (conditionals_.size() > open_before) {
      throw InputError(conditionals_.back().place, "the conditional is never closed", "",
                       "add '#endif' before the end of the file");
    }
    stack_.pop_back();
  }

  static std::string_view without_comment(std::string_view line) {
    return trim(line.substr(0, line.find(';')));
  }

  /// The next line that is kept. Directives before it are carried out.
  /// @param next index of the line to begin with; becomes that of the line after the one found
  std::optional<std::size_t> next_kept(std::span<const std::string> raw, std::size_t& next,
                                       const std::filesystem::path& file) {
    while (next < raw.size()) {
      const std::size_t line = next++;
      if (trim(raw[line]).starts_with('#')) {
        const std::string place = place_of(file, line + 1);
        run_directive(joined_directive(raw, line, next, place), place);
      } else if (active()) {
        return line;
      }
    }
    return std::nullopt;
  }

  /// A directive and the lines that continue it; a backslash in its comment continues nothing.
  static std::string joined_directive(std::span<const std::string> raw, std::size_t first,
                                      std::size_t& next, const std::string& place) {
    std::string text(without_comment(raw[first]));
    while (text.ends_with('\\')) {
      text.pop_back();
      if (next == raw.size()) refuse_continued_end(place);
      text.append(" ").append(without_comment(raw[next++]));
      check_length(text, place);
    }
    check_length(text, place);
    return text;
  }

  /// A line and those that continue it. As in GROMACS, lines are joined before comments are cut
  /// off, so that a comment that ends in a backslash takes the next line with it.
  std::string joined_line(std::span<const std::string> raw, std::size_t first, std::size_t& next,
                          const std::filesystem::path& file) {
    const std::string place = place_of(file, first + 1);
    std::string text(trim(raw[first]));
    while (text.ends_with('\\')) {
      text.back() = ' ';
      const auto more = next_kept(raw, next, file);
      if (!more) refuse_continued_end(place);
      text += trim(raw[*more]);
      check_length(text, place);
    }
    const std::string_view kept = without_comment(text);
    check_length(kept, place);
    if (kept.ends_with('\\')) {
      throw InputError(place, "the line is not continued: a comment follows its backslash", text,
                       "end the line with the backslash, or remove the backslash");
    }
    return std::string(kept);
  }

  [[noreturn]] static void refuse_continued_end(const std::string& place) {
    throw InputError(place, "the line is continued, but the file ends", "\\",
                     "remove the backslash at the end of the line");
  }

  void count_file(std::span<const std::string> raw, const std::filesystem::path& file) {
    constexpr std::string_view remedy = "remove what includes files again and again";
    if (++files_ > most_files) {
      throw InputError(place_of(file, 1),
                       fmt::format("the topology includes more than {} files", most_files), "",
                       remedy);
    }
    raw_lines_ += raw.size();
    for (const std::string& line : raw) characters_ += line.size();
    if (raw_lines_ > most_lines_of_a_file || characters_ > most_characters) {
      throw InputError(place_of(file, 1),
                       fmt::format("the topology has more than {} lines or {} MiB with this file",
                                   most_lines_of_a_file, most_characters >> 20U),
                       "", remedy);
    }
  }

  static void check_length(std::string_view text, const std::string& place) {
    if (text.size() <= most_characters_of_a_line) return;
    throw InputError(place,
                     fmt::format("the line has more than {} characters", most_characters_of_a_line),
                     text, "is this a topology? Write shorter lines");
  }

  void read_line(std::string_view text, const std::string& place) {
    // GROMACS takes lines that begin with '*' for comments; the AMBER force fields have some.
    if (text.starts_with('*')) return;
    replaced_in_line_ = 0;
    const std::string replaced = substitute(text, place, 0);
    if (!trim(replaced).empty()) {
      lines_.push_back({shown_text(trim(replaced), kBlanks), place});
    }
  }

  void run_directive(std::string_view text, const std::string& place) {
    const std::string_view body = trim(text.substr(1));
    const std::size_t end = std::min(body.find_first_of(" \t\"<"), body.size());
    const std::string_view name = body.substr(0, end);
    const std::string_view argument = trim(body.substr(end));
    if (name == "ifdef" || name == "ifndef") {
      const bool defined = defines_.contains(first_word(name, argument, place));
      const bool kept = active();
      conditionals_.push_back({place, kept && defined == (name == "ifdef"), kept, false});
    } else if (name == "else") {
      Conditional& open = innermost(name, place);
      if (open.has_else) {
        throw InputError(place, "a second #else", "", "the conditional began at " + open.place);
      }
      open.has_else = true;
      open.active = open.parent_active && !open.active;
    } else if (name == "endif") {
      innermost(name, place);
      conditionals_.pop_back();
    } else if (active()) {
      run_active_directive(name, argument, place);
    }
  }

  void run_active_directive(std::string_view name, std::string_view argument,
                            const std::string& place) {
    if (name == "define") {
      const std::string word = first_word(name, argument, place);
      defines_[word] = trim(argument.substr(word.size()));
    } else if (name == "undef") {
      defines_.erase(first_word(name, argument, place));
    } else if (name == "include") {
      include(argument, place);
    } else if (name == "error") {
      throw InputError(place, "the file says #error", argument, "follow its message");
    } else {
      const std::array<std::string, 8> known{"include", "define", "undef", "ifdef",
                                             "ifndef",  "else",   "endif", "error"};
      throw InputError(place, "unknown preprocessor directive", fmt::format("#{}", name),
                       suggest(name, known,
                               "GROMACS knows #include, #define, #undef, #ifdef, "
                               "#ifndef, #else, #endif"));
    }
  }

  Conditional& innermost(std::string_view name, const std::string& place) {
    if (conditionals_.empty()) {
      throw InputError(place, fmt::format("#{} without #ifdef or #ifndef", name), "",
                       "remove it, or add the #ifdef that belongs to it");
    }
    return conditionals_.back();
  }

  static std::string first_word(std::string_view directive, std::string_view argument,
                                const std::string& place) {
    const std::vector<std::string_view> words = split_words(argument);
    if (words.empty()) {
      throw InputError(place, fmt::format("#{} without a name", directive), "",
                       fmt::format("write '#{} NAME'", directive));
    }
    return std::string(words[0]);
  }

  void include(std::string_view argument, const std::string& place) {
    const char open = argument.empty() ? '\0' : argument.front();
    const char close = open == '<' ? '>' : '"';
    const std::size_t end = argument.find(close, 1);
    if ((open != '<' && open != '"') || end == std::string_view::npos || end == 1) {
      throw InputError(place, "#include without a file name in quotes", argument,
                       "write '#include \"file.itp\"'");
    }
    if (stack_.size() == deepest_include) {
      throw InputError(place, fmt::format("#include nested more than {} deep", deepest_include),
                       argument, "remove the chain of files that include one another");
    }
    const std::string_view name = argument.substr(1, end - 1);
    const std::filesystem::path file = find_include(name, place);
    for (const std::filesystem::path& outer : stack_) {
      std::error_code ignored;
      if (std::filesystem::equivalent(outer, file, ignored)) {
        throw InputError(
            place, "the file includes itself", name,
            fmt::format("remove this #include ({} is being read already)", outer.string()));
      }
    }
    read_file(file, gromacs_data_remedy);
  }

  std::filesystem::path find_include(std::string_view name, const std::string& place) const {
    std::vector<std::filesystem::path> candidates{stack_.back().parent_path() / name};
    for (const std::filesystem::path& folder : include_folders_) {
      candidates.push_back(folder / name);
    }
    for (const std::filesystem::path& candidate : candidates) {
      std::error_code ignored;
      if (std::filesystem::is_regular_file(candidate, ignored)) {
        return candidate;
      }
    }
    std::string searched;
    for (const std::filesystem::path& candidate : candidates) {
      const std::string folder = candidate.parent_path().string();
      searched += (searched.empty() ? "" : ", ") + (folder.empty() ? "." : folder);
    }
    throw InputError(
        place, "the included file is in none of " + searched, name,
        fmt::format("correct the name; {}; or name its folder in system.include-folders",
                    gromacs_data_remedy));
  }

  /// Replaces every whole word that is defined by its value, and again in what comes out.
  std::string substitute(std::string_view text, const std::string& place, std::size_t depth) {
    if (depth > deepest_substitution) {
      throw InputError(place, "a #define refers to itself", text, "remove the circle of #defines");
    }
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at + 1;
      if (is_word_character(text[at])) {
        while (end < text.size() && is_word_character(text[end])) {
          ++end;
        }
        const auto found = defines_.find(text.substr(at, end - at));
        if (found != defines_.end() && found->second != text.substr(at, end - at)) {
          count_replacement(found->second, place);
          result += substitute(found->second, place, depth + 1);
          at = end;
          continue;
        }
      }
      result += text.substr(at, end - at);
      at = end;
    }
    return result;
  }

  void count_replacement(std::string_view value, const std::string& place) {
    const std::size_t work = value.size() + 1;
    replaced_in_line_ += work;
    replaced_ += work;
    if (replaced_in_line_ <= most_replaced_in_a_line && replaced_ <= most_replaced) return;
    throw InputError(
        place,
        fmt::format("the values of #defines make up more than {} MiB {}",
                    (replaced_ <= most_replaced ? most_replaced_in_a_line : most_replaced) >> 20U,
                    replaced_ <= most_replaced ? "in this line" : "up to this line"),
        value, "remove #defines that name each other several times");
  }

  std::map<std::string, std::string, std::less<>> defines_;
  std::vector<std::filesystem::path> include_folders_;
  std::vector<std::filesystem::path> stack_;  ///< files being read, outermost first
  std::vector<Conditional> conditionals_;
  std::vector<SourceLine> lines_;
  std::size_t files_ = 0;             ///< read so far
  std::size_t raw_lines_ = 0;         ///< in them
  std::size_t characters_ = 0;        ///< in them
  std::size_t replaced_in_line_ = 0;  ///< characters of values put in the place of names
  std::size_t replaced_ = 0;          ///< ... in all lines
};

}  // namespace

std::vector<SourceLine> preprocess(const std::filesystem::path& file,
                                   std::span<const std::string> defines,
                                   std::span<const std::filesystem::path> include_folders) {
  return Preprocessor(defines, include_folders).run(file);
}

}  // namespace starpmc
