#pragma once

#include <hdf5.h>

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace starpmc::hdf5 {

/// To be held around every use of HDF5, which is not thread-safe (its error stack and its tables of
/// identifiers are the process's). Nothing in this header takes it.
std::mutex& library_mutex();

/// Owns one HDF5 identifier, whatever its kind.
class Handle {
 public:
  Handle() = default;
  /// @param name what it is, for the message
  /// @throws RunError if `identifier` is negative, with HDF5's own reason
  Handle(hid_t identifier, const std::string& name);
  ~Handle() { release(); }
  Handle(Handle&& other) noexcept : identifier_(std::exchange(other.identifier_, -1)) {}
  Handle& operator=(Handle&& other) noexcept {
    release();
    identifier_ = std::exchange(other.identifier_, -1);
    return *this;
  }

  hid_t get() const { return identifier_; }
  /// @throws RunError if HDF5 reports a failure in releasing it
  void close(const std::string& name);

 private:
  void release() noexcept;
  hid_t identifier_ = -1;
};

/// Stops HDF5 from printing its error stack for as long as the object lives.
class QuietErrors {
 public:
  QuietErrors();
  ~QuietErrors();
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

/// @throws RunError naming `action` and HDF5's innermost reason if `result` is negative
void check(herr_t result, const std::string& action);

/// Properties for opening a file of frames: the oldest format that the library writes, which has no
/// mark for "open for writing" (it would keep readers out after a kill), and no part of the file's
/// own directory written but by a flush, in an order that a process may be killed in
/// (ordered_file_driver.hpp): all that earlier flushes wrote stays.
/// @param locked whether other programs that use HDF5 are kept out while it is open
Handle frame_file_access(bool locked);

/// Writes an open file's data out and waits until it is on the disk.
/// @throws RunError with HDF5's or the system's reason
void synchronise_file(hid_t file);
/// Makes sure that a file can grow by so many bytes, so that a full disk is found before HDF5 has
/// changed anything. File systems that cannot tell are believed to have the room.
/// @throws RunError with the system's reason
void reserve_room(hid_t file, std::uint64_t bytes);
/// From here on HDF5 writes nowhere: after a failed write, closing the file would write what HDF5
/// still holds, and leave a file that cannot be opened. On the disk is what the last flush put
/// there.
void abandon_file(hid_t file) noexcept;

std::vector<hsize_t> shape_of(hid_t dataset);
Handle create_group(hid_t parent, const std::string& name);
void write_attribute(hid_t object, const std::string& name, const std::string& text);
void write_attribute(hid_t object, const std::string& name, std::span<const int> values);
/// A list of fixed-length strings.
void write_attribute(hid_t object, const std::string& name, std::span<const std::string> texts);
Handle write_dataset(hid_t parent, const std::string& name, hid_t file_type, hid_t memory_type,
                     const void* values, std::span<const hsize_t> shape);
Handle write_dataset(hid_t parent, const std::string& name, std::span<const double> values,
                     std::span<const hsize_t> shape);
Handle write_dataset(hid_t parent, const std::string& name, std::span<const std::int32_t> values,
                     std::span<const hsize_t> shape);
Handle write_dataset(hid_t parent, const std::string& name, std::span<const std::string> texts);
void hard_link(hid_t from, const std::string& name, hid_t parent, const std::string& link_name);

/// A dataset that grows by one frame at a time along its first dimension. Where it already has the
/// frame that is appended, as one that a killed run has left may, that one is written anew in its
/// place.
class FrameSeries {
 public:
  /// The room that one more frame may take, in frames.
  static constexpr hsize_t most_frames_per_chunk = 4;
  /// @param file_type        element type in the file
  /// @param frame_shape      shape of one frame; empty for one number per frame
  /// @param compression_level 0 to 9
  FrameSeries(hid_t parent, const std::string& name, hid_t file_type,
              std::vector<hsize_t> frame_shape, unsigned compression_level);
  /// Goes on after the first `frames` frames of a dataset that is there.
  /// @throws RunError if its frames have another shape, or are fewer
  FrameSeries(hid_t file, const std::string& path, std::vector<hsize_t> frame_shape,
              hsize_t frames);
  void append(std::span<const double> frame);
  void append(std::span<const float> frame);
  void append(std::int64_t value);
  /// Drops frames beyond those appended.
  void trim();

  hid_t get() const { return dataset_.get(); }
  hsize_t frame_count() const { return frames_; }

 private:
  void append(hid_t memory_type, const void* frame);
  std::vector<hsize_t> shape_of(hsize_t frames) const;

  std::string name_;
  Handle dataset_;
  std::vector<hsize_t> frame_shape_;
  hsize_t frames_ = 0;
  hsize_t present_ = 0;  ///< frames that the dataset has
};

}  // namespace starpmc::hdf5
