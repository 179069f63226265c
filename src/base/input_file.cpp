#include "base/input_file.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20U;

}  // namespace

std::string kind_of_other_file(const std::filesystem::path& path) {
  std::error_code ignored;
  switch (std::filesystem::status(path, ignored).type()) {
    case std::filesystem::file_type::directory:
      return "a folder";
    case std::filesystem::file_type::fifo:
      return "a pipe";
    case std::filesystem::file_type::socket:
      return "a socket";
    case std::filesystem::file_type::character:
    case std::filesystem::file_type::block:
      return "a device";
    default:
      return "";
  }
}

std::ifstream open_input_file(const std::filesystem::path& path, std::string_view remedy) {
  // Asked before it is opened: to open a pipe that nobody writes to waits for ever.
  if (const std::string kind = kind_of_other_file(path); !kind.empty()) {
    throw InputError(path.string(), "is not a regular file", kind, remedy);
  }
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (stream) return stream;
  const int reason = errno;
  if (reason == ENOENT || reason == ENOTDIR) {
    throw InputError(path.string(), "there is no such file", "", remedy);
  }
  throw InputError(path.string(), "cannot be opened", std::generic_category().message(reason),
                   remedy);
}

void skip_byte_order_mark(std::istream& stream, const std::filesystem::path& path) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  std::array<char, mark.size()> buffer{};
  stream.read(buffer.data(), buffer.size());
  const std::string_view beginning(buffer.data(), static_cast<std::size_t>(stream.gcount()));
  if (beginning == mark) return;
  if (stream.bad()) return;
  if (beginning.starts_with("\xFF\xFE") || beginning.starts_with("\xFE\xFF")) {
    throw InputError(path.string(), "is a text in another encoding than UTF-8", "UTF-16",
                     "save it as UTF-8, or: iconv -f utf-16 -t utf-8 FILE > NEW");
  }
  stream.clear();  // a file of less than three bytes has ended
  stream.seekg(0);
}

std::size_t checked_file_size(const std::filesystem::path& path, std::size_t most,
                              std::string_view remedy) {
  std::error_code failure;
  const std::uintmax_t bytes = std::filesystem::file_size(path, failure);
  if (failure) throw InputError(path.string(), "cannot be read", failure.message(), remedy);
  if (bytes <= most) return static_cast<std::size_t>(bytes);
  throw InputError(path.string(),
                   "is larger than " + std::to_string(most / kMebibyte) + " MiB, the most allowed",
                   std::to_string(bytes / kMebibyte) + " MiB", remedy);
}

std::filesystem::path without_dots(const std::filesystem::path& path) {
  std::filesystem::path shorter;
  for (const std::filesystem::path& part : path) {
    const bool at_root = !shorter.empty() && !shorter.has_relative_path();
    if (part == "." || (part == ".." && at_root)) continue;
    const bool has_above = shorter.has_relative_path() && shorter.filename() != "..";
    std::error_code ignored;
    if (part == ".." && has_above && !std::filesystem::is_symlink(shorter, ignored)) {
      shorter = shorter.parent_path();
    } else {
      shorter /= part;
    }
  }
  return shorter;
}

bool is_found_by(const std::filesystem::path& path, const std::filesystem::path& file) {
  std::error_code ignored;
  // The name itself may be a link, which is then what counts.
  const auto place_of_name = [&](const std::filesystem::path& name) {
    const std::filesystem::path whole = std::filesystem::absolute(name, ignored);
    return std::filesystem::weakly_canonical(whole.parent_path(), ignored) / whole.filename();
  };
  const std::filesystem::path place = place_of_name(file);
  return place_of_name(path) == place || std::filesystem::weakly_canonical(path, ignored) == place;
}

}  // namespace starpmc
