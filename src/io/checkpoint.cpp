#include "io/checkpoint.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "base/checked_file.hpp"
#include "base/nested_json.hpp"
#include "io/sha256.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/file_descriptor.hpp"

namespace starpmc {
namespace {

constexpr const char* newest_name = "checkpoint.cbor";
constexpr const char* previous_name = "checkpoint.previous.cbor";
constexpr std::string_view magic = "starpmc checkpoint ";
constexpr unsigned format_version = 7;
constexpr std::size_t digest_characters = 64;

/// Why a file is no checkpoint.
struct Unusable {
  std::string reason;
};

/// A checkpoint of another release of starpmc.
struct OtherVersion {
  unsigned version;
};

/// @returns nothing if there is no such file
std::optional<std::string> read_whole_file(const std::filesystem::path& path) {
  // O_NONBLOCK: a pipe of that name must not be waited for.
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0 && errno == ENOENT) return std::nullopt;
  if (file.get() < 0 && errno == ELOOP)
    throw Unusable{"it is a symbolic link, which is not followed"};
  struct stat facts {};
  if (file.get() < 0 || fstat(file.get(), &facts) != 0)
    throw Unusable{"cannot be opened: " + std::generic_category().message(errno)};
  if (!S_ISREG(facts.st_mode)) throw Unusable{"it is not a regular file"};
  std::string text;
  constexpr std::size_t piece = std::size_t{1} << 16;
  std::array<char, piece> buffer;
  for (;;) {
    const ssize_t length = read(file.get(), buffer.data(), buffer.size());
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) throw Unusable{"cannot be read: " + std::generic_category().message(errno)};
    if (length == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(length));
  }
}

std::string digest_of(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hexadecimal_digest();
}

/// Takes the first line, without its end, off `text`.
/// @returns nothing if no line ends within `longest` characters
std::optional<std::string_view> take_line(std::string_view& text, std::size_t longest) {
  const std::size_t end = text.substr(0, longest + 1).find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

void check_version(std::string_view line) {
  line.remove_prefix(magic.size());
  unsigned version = 0;
  const auto result = std::from_chars(line.data(), line.data() + line.size(), version);
  if (result.ec != std::errc() || result.ptr != line.data() + line.size())
    throw Unusable{"it is damaged: its first line has no version"};
  if (version != format_version) throw OtherVersion{version};
}

nlohmann::json parse(std::string_view text) {
  constexpr std::size_t longest_first_line = magic.size() + 10;
  if (!magic.starts_with(text.substr(0, magic.size())))
    throw Unusable{"it is not a checkpoint of starpmc"};
  const auto first_line = take_line(text, longest_first_line);
  if (!first_line || first_line->size() < magic.size())
    throw Unusable{"it is torn or damaged: its first line has no end"};
  check_version(*first_line);
  const auto digest = take_line(text, digest_characters);
  if (!digest) throw Unusable{"it is damaged: its second line is not a SHA-256"};
  if (*digest != digest_of(text))
    throw Unusable{"it is torn or damaged: its SHA-256 is not the one it names"};
  try {
    return parse_cbor(text);
  } catch (const nlohmann::json::exception& error) {
    throw Unusable{std::string("its content is not CBOR: ") + error.what()};
  }
}

std::optional<nlohmann::json> read_one(const std::filesystem::path& path,
                                       std::vector<std::string>& reasons) {
  try {
    const std::optional<std::string> text = read_whole_file(path);
    if (!text) return std::nullopt;
    return std::make_optional(parse(*text));
  } catch (const Unusable& file) {
    reasons.push_back(fmt::format("{}: cannot be used: {}", path.string(), file.reason));
    return std::nullopt;
  } catch (const OtherVersion& found) {
    throw InputError(
        path.string(),
        fmt::format("the checkpoint has version {} of its format; this starpmc reads version {}",
                    found.version, format_version),
        "",
        "resume the run with the release of starpmc that wrote it (the last one that run.log "
        "names), or begin it anew in another folder: starpmc run settings.cfg --output.folder "
        "NAME; nothing has been changed");
  }
}

std::string text_of(const nlohmann::json& content) {
  std::string body;
  nlohmann::json::to_cbor(content, body);
  return fmt::format("{}{}\n{}\n", magic, format_version, digest_of(body)) + body;
}

}  // namespace

void write_checkpoint(const std::filesystem::path& folder, const nlohmann::json& content) {
  write_file_keeping_previous(folder / newest_name, folder / previous_name, text_of(content));
}

void write_checkpoint_file(const std::filesystem::path& path, const nlohmann::json& content) {
  write_file_atomically(path, text_of(content));
}

std::optional<nlohmann::json> read_checkpoint_file(const std::filesystem::path& path,
                                                   std::string& reason) {
  try {
    const std::optional<std::string> text = read_whole_file(path);
    if (text) return std::make_optional(parse(*text));
  } catch (const Unusable& file) {
    reason = file.reason;
  } catch (const OtherVersion& found) {
    reason = fmt::format("it has version {} of its format; this starpmc reads version {}",
                         found.version, format_version);
  }
  return std::nullopt;
}

std::optional<nlohmann::json> read_checkpoint(const std::filesystem::path& folder,
                                              std::vector<std::string>& warnings) {
  std::vector<std::string> reasons;
  std::optional<nlohmann::json> content = read_one(folder / newest_name, reasons);
  if (!content) content = read_one(folder / previous_name, reasons);
  if (!content && !reasons.empty()) {
    throw InputError(
        folder.string(),
        fmt::format("no checkpoint is left to go on from:\n  {}", fmt::join(reasons, "\n  ")), "",
        "put a copy of a checkpoint back, or begin the run anew in another folder: starpmc run "
        "settings.cfg --output.folder NAME; nothing has been changed");
  }
  warnings.insert(warnings.end(), reasons.begin(), reasons.end());
  return content;
}

void remove_previous_checkpoint(const std::filesystem::path& folder) {
  std::filesystem::remove(folder / previous_name);
}

std::filesystem::path checkpoint_path(const std::filesystem::path& folder) {
  return folder / newest_name;
}

}  // namespace starpmc
