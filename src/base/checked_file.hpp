#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace starpmc {

/// @throws RunError naming the file or folder, what was tried and the reason that errno has
[[noreturn]] void fail_with_errno(const std::filesystem::path& path, std::string_view action);

/// A file open for writing whose every write, flush and close is checked.
/// Every failure is a RunError naming the file and the system's reason.
class CheckedFile {
 public:
  enum class Mode {
    create_new,  ///< fails if anything of that name exists; never follows a symbolic link
    existing,    ///< appends to an existing file or device
    append       ///< appends to a file, created if missing; never follows a symbolic link
  };

  /// @param name what messages call it, where that is not its path
  CheckedFile(const std::filesystem::path& path, Mode mode, const std::filesystem::path& name = {});
  /// Opens an existing file, cuts it back to its first `bytes` bytes and appends from there; never
  /// follows a symbolic link.
  /// @throws RunError naming both sizes if the file is shorter; it is then left as it was
  static CheckedFile cut_back(const std::filesystem::path& path, std::uint64_t bytes);
  /// Writes what is buffered; a failure here cannot be reported, so call close() first.
  ~CheckedFile();
  CheckedFile(CheckedFile&& other) noexcept;
  CheckedFile& operator=(CheckedFile&&) = delete;

  /// Buffers `text`.
  void write(std::string_view text);
  /// Hands the buffer to the system.
  void flush();
  /// flush(), then waits until the data is on the disk.
  void synchronise();
  void close();

  const std::filesystem::path& path() const { return path_; }
  /// Size of the file once what is buffered has been written.
  std::uint64_t bytes() const { return written_ + buffer_.size(); }

 private:
  explicit CheckedFile(const std::filesystem::path& path) : path_(path) {}
  /// @returns the size of the open file
  /// @throws RunError if it is no regular file
  std::uint64_t size_of_regular_file() const;
  [[noreturn]] void fail(std::string_view action) const;

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t written_ = 0;
  std::string buffer_;
};

/// Writes a whole file so that at any instant either the old or the new content is there: temporary
/// name in the same folder, fsync, rename, fsync of the folder.
/// @throws RunError naming the file and the system's reason; the temporary file is removed
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// The same, and keeps the file replaced as `previous`, a name in the same folder. If one of the
/// two files was whole before, one is at every instant: see the comment in the source.
/// @throws RunError naming the file and the system's reason; both files are left whole
void write_file_keeping_previous(const std::filesystem::path& path,
                                 const std::filesystem::path& previous, std::string_view text);

/// Waits until what was handed to the system of this file is on the disk, by whomever.
/// @throws RunError naming the file and the system's reason
void synchronise_file(const std::filesystem::path& path);

/// .NAME.PID.temporary in the folder of `path`: what OutputFolder knows as its own.
std::filesystem::path temporary_path(const std::filesystem::path& path);

/// Gives `temporary`, already on the disk, the name `path`; an earlier file of that name is
/// replaced. Returns when the new name is on the disk too.
/// @throws RunError
void rename_durably(const std::filesystem::path& temporary, const std::filesystem::path& path);

}  // namespace starpmc
