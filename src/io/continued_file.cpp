#include "io/continued_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 16;

[[noreturn]] void refuse(const std::filesystem::path& path, std::string_view problem,
                         std::string_view found) {
  throw InputError(path.string(), problem, found, how_to_put_right("the file as the run left it"));
}

void require_regular_file(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto status = std::filesystem::symlink_status(path, ignored);
  if (!std::filesystem::exists(status)) refuse(path, "is missing, and the run goes on with it", "");
  if (std::filesystem::is_symlink(status)) refuse(path, "is a symbolic link: not followed", "");
  if (!std::filesystem::is_regular_file(status)) refuse(path, "is not a regular file", "");
}

}  // namespace

std::string how_to_put_right(std::string_view what) {
  return fmt::format(
      "put {} back, or begin the run anew in another folder: starpmc run settings.cfg "
      "--output.folder NAME; nothing has been changed",
      what);
}

Sha256 hash_of_beginning(const std::filesystem::path& path, const FileExtent& extent) {
  require_regular_file(path);
  std::ifstream file(path, std::ios::binary);
  Sha256 hash;
  std::vector<char> piece(kPieceBytes);
  std::uint64_t read = 0;
  while (file && read < extent.bytes) {
    file.read(piece.data(), static_cast<std::streamsize>(
                                std::min<std::uint64_t>(piece.size(), extent.bytes - read)));
    const auto count = static_cast<std::size_t>(file.gcount());
    hash.add(std::string_view(piece.data(), count));
    read += count;
  }
  if (read < extent.bytes) {
    refuse(path,
           fmt::format("is shorter than the run's last checkpoint says: {} bytes where there were "
                       "{}",
                       read, extent.bytes),
           "");
  }
  const std::string found = hash.hexadecimal_digest();
  if (found == extent.sha256) return hash;
  refuse(path,
         fmt::format("is damaged or of another run or chain: the SHA-256 of its first {} bytes is "
                     "{} in the checkpoint",
                     extent.bytes, extent.sha256),
         found);
}

}  // namespace starpmc
