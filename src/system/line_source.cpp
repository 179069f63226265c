#include "system/line_source.hpp"

#include <algorithm>

#include "base/input_file.hpp"
#include "kernels/base/error.hpp"
#include "system/text.hpp"

namespace starpmc {
namespace {

constexpr std::size_t longest_line = std::size_t{1} << 20U;

}  // namespace

LineSource::LineSource(const std::filesystem::path& path, std::string_view remedy)
    : path_(path), stream_(open_input_file(path, remedy)), buffer_(longest_line + 2) {
  skip_byte_order_mark(stream_, path_);
  std::error_code ignored;
  bytes_ = std::filesystem::file_size(path, ignored);
}

bool LineSource::next(std::string_view& line) {
  // Unlike std::getline() of a string it stops where its buffer ends.
  stream_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  if (stream_.bad()) throw RunError(path_.string() + ": cannot be read any further");
  const auto count = static_cast<std::size_t>(stream_.gcount());
  if (stream_.fail() && !stream_.eof()) {
    throw InputError(place_of(path_, number_ + 1), "the line is longer than a mebibyte",
                     std::string_view(buffer_.data(), count),
                     "is this a text file? Write shorter lines");
  }
  if (count == 0 && stream_.eof()) return false;
  ++number_;
  bytes_read_ += count;
  // The line's end counts, but at the end of a file without one.
  line = trim(std::string_view(buffer_.data(), stream_.eof() ? count : count - 1));
  return true;
}

std::string LineSource::place() const { return place_of(path_, number_); }

double LineSource::share_read() const {
  return static_cast<double>(bytes_read_) / static_cast<double>(std::max<std::size_t>(bytes_, 1));
}

}  // namespace starpmc
