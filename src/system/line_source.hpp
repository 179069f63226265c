#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace starpmc {

/// A text file line by line, however long the file is; no line may be longer than a mebibyte.
class LineSource {
 public:
  /// @param remedy what to do if the file cannot be read
  /// @throws InputError
  LineSource(const std::filesystem::path& path, std::string_view remedy);

  /// The next line without blanks at its ends, valid until the next call; false at the end.
  /// @throws InputError for a line that is too long, RunError if the file cannot be read on
  bool next(std::string_view& line);

  const std::filesystem::path& path() const { return path_; }
  /// The number of the line read last, from 1.
  std::size_t number() const { return number_; }
  /// The place of the line read last.
  std::string place() const;
  /// Share of the file read so far.
  double share_read() const;

 private:
  std::filesystem::path path_;
  std::ifstream stream_;
  std::vector<char> buffer_;
  std::size_t number_ = 0;
  std::size_t bytes_read_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace starpmc
