#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace starpmc {

/// A file open for writing whose every write, flush and close is checked.
/// Every failure is a RunError naming the file and the system's reason.
class CheckedFile {
 public:
  enum class Mode {
    create_new,  ///< fails if anything of that name exists; never follows a symbolic link
    existing     ///< appends to an existing file or device
  };

  CheckedFile(const std::filesystem::path& path, Mode mode);
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

 private:
  [[noreturn]] void fail(std::string_view action) const;

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::string buffer_;
};

/// Writes a whole file so that at any instant either the old or the new content is there: temporary
/// name in the same folder, fsync, rename, fsync of the folder.
/// @throws RunError naming the file and the system's reason; the temporary file is removed
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace starpmc
