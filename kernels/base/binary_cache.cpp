#include "kernels/base/binary_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>

#include "kernels/base/file_descriptor.hpp"
#include "kernels/base/installation.hpp"
#include "kernels/base/logging.hpp"

namespace starpmc {
namespace {

constexpr std::string_view kMagic = "starpmc kernels 1\n";
constexpr off_t kLargestFile = off_t{1} << 30;

void log_failure(std::string_view what, const std::filesystem::path& path) {
  spdlog::debug("kernel cache: {} '{}': {}", what, path.string(),
                std::generic_category().message(errno));
}

/// FNV-1a.
std::uint64_t hash(std::string_view bytes) {
  std::uint64_t value = 0xCBF29CE484222325U;
  for (const char byte : bytes) {
    value = (value ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
  }
  return value;
}

std::string file_name(std::string_view key) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string name(16, '0');
  std::uint64_t rest = hash(key);
  for (auto digit = name.rbegin(); digit != name.rend(); ++digit, rest >>= 4) {
    *digit = kDigits[rest & 15];
  }
  return name + ".bin";
}

/// The user's own, and nobody else may write to it.
bool is_private(const struct stat& status) {
  return status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// The folder, if it can be trusted.
FileDescriptor open_cache_folder(const std::filesystem::path& folder) {
  FileDescriptor descriptor(
      ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (descriptor.get() < 0 || ::fstat(descriptor.get(), &status) != 0) {
    log_failure("cannot open", folder);
    return {};
  }
  if (!is_private(status)) {
    spdlog::debug("kernel cache: '{}' is left alone: others may write to it", folder.string());
    return {};
  }
  return descriptor;
}

std::optional<std::string> read_all(int file, std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t done = 0; done < size;) {
    const ssize_t part = ::read(file, bytes.data() + done, size - done);
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) return std::nullopt;
    done += static_cast<std::size_t>(part);
  }
  return bytes;
}

void append_number(std::string& text, std::uint64_t number) {
  std::array<char, sizeof number> bytes{};
  std::memcpy(bytes.data(), &number, sizeof number);
  text.append(bytes.data(), bytes.size());
}

/// Magic, lengths of key and binary, key, binary, checksum of it all.
std::string file_content(std::string_view key, std::string_view binary) {
  std::string content(kMagic);
  append_number(content, key.size());
  append_number(content, binary.size());
  content += key;
  content += binary;
  append_number(content, hash(content));
  return content;
}

/// The binary of such a content; empty where it is torn, or another key's.
std::string_view binary_in(std::string_view content, std::string_view key) {
  const std::size_t head = kMagic.size() + 2 * sizeof(std::uint64_t) + key.size();
  const std::size_t frame = head + sizeof(std::uint64_t);
  if (content.size() <= frame) return {};
  const std::string_view binary = content.substr(head, content.size() - frame);
  return file_content(key, binary) == content ? binary : std::string_view();
}

/// Removes the files that were written first.
void remove_oldest(const std::filesystem::path& folder, std::size_t most) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (auto entry = std::filesystem::directory_iterator(folder, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    files.push_back(entry->path());
  }
  if (files.size() <= most) return;
  const auto written = [](const std::filesystem::path& path) {
    std::error_code gone;
    return std::filesystem::last_write_time(path, gone);
  };
  std::ranges::sort(files, {}, written);
  files.resize(files.size() - most);
  for (const std::filesystem::path& path : files) std::filesystem::remove(path, error);
}

}  // namespace

std::optional<BinaryCache> BinaryCache::of_user() {
  const std::filesystem::path folder = user_cache_folder();
  if (folder.empty()) return std::nullopt;
  return BinaryCache(folder / "kernels");
}

std::filesystem::path BinaryCache::file_of(std::string_view key) const {
  return folder_ / file_name(key);
}

std::optional<std::vector<unsigned char>> BinaryCache::load(std::string_view key) const {
  std::error_code error;
  if (!std::filesystem::exists(folder_, error)) return std::nullopt;
  const FileDescriptor folder = open_cache_folder(folder_);
  if (folder.get() < 0) return std::nullopt;
  const FileDescriptor file(
      ::openat(folder.get(), file_name(key).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    if (errno != ENOENT) log_failure("cannot open", file_of(key));
    return std::nullopt;
  }
  if (!S_ISREG(status.st_mode) || !is_private(status) || status.st_size > kLargestFile) {
    spdlog::debug("kernel cache: '{}' is left alone: not a file of this user",
                  file_of(key).string());
    return std::nullopt;
  }
  const auto content = read_all(file.get(), static_cast<std::size_t>(status.st_size));
  const std::string_view binary = content ? binary_in(*content, key) : std::string_view();
  if (binary.empty()) {
    spdlog::debug("kernel cache: '{}' is not what was asked for", file_of(key).string());
    return std::nullopt;
  }
  return std::vector<unsigned char>(binary.begin(), binary.end());
}

FileDescriptor BinaryCache::make_folder() const {
  std::error_code error;
  std::filesystem::create_directories(folder_.parent_path(), error);
  if (::mkdir(folder_.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    log_failure("cannot make", folder_);
    return {};
  }
  return open_cache_folder(folder_);
}

bool BinaryCache::takes_files() const {
  const FileDescriptor folder = make_folder();
  return folder.get() >= 0 && ::faccessat(folder.get(), ".", W_OK, AT_EACCESS) == 0;
}

void BinaryCache::store(std::string_view key, std::span<const unsigned char> binary) const {
  const FileDescriptor folder = make_folder();
  if (folder.get() < 0) return;
  const std::string name = file_name(key);
  const std::string aside = name + "." + std::to_string(::getpid()) + ".new";
  ::unlinkat(folder.get(), aside.c_str(), 0);  // what a killed process of this number left
  const FileDescriptor file(::openat(folder.get(), aside.c_str(),
                                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                     S_IRUSR | S_IWUSR));
  const std::string_view bytes(reinterpret_cast<const char*>(binary.data()), binary.size());
  if (file.get() < 0 || !write_all(file.get(), file_content(key, bytes)) ||
      ::renameat(folder.get(), aside.c_str(), folder.get(), name.c_str()) != 0) {
    log_failure("cannot write", file_of(key));
    ::unlinkat(folder.get(), aside.c_str(), 0);
    return;
  }
  remove_oldest(folder_, kMostFiles);
}

}  // namespace starpmc
