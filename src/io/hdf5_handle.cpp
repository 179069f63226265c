#include "io/hdf5_handle.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "io/ordered_file_driver.hpp"
#include "kernels/base/error.hpp"

namespace starpmc::hdf5 {
namespace {

/// Every file here has an owner that closes it. What HDF5 does beyond that at exit only harms:
/// after a failed write (a full disk) it tries to write again and crashes (1.10.8).
[[maybe_unused]] const bool without_exit_handler = H5dont_atexit() >= 0;

/// The innermost entry of HDF5's error stack is the cause.
std::string innermost_reason() {
  std::string reason;
  const auto visit = [](unsigned, const H5E_error2_t* entry, void* text) -> herr_t {
    if (entry->desc != nullptr) *static_cast<std::string*>(text) = entry->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, visit, &reason);
  // Of the driver's lines of addresses only the system's own words help: "No space left on device".
  constexpr std::string_view mark = "error message = '";
  if (const std::size_t start = reason.find(mark); start != std::string::npos) {
    reason.erase(0, start + mark.size());
    reason.resize(std::min(reason.size(), reason.find('\'')));
  }
  std::ranges::replace(reason, '\n', ' ');
  return reason.empty() ? "unknown reason" : reason;
}

[[noreturn]] void fail(const std::string& action) {
  throw RunError(action + ": HDF5: " + innermost_reason());
}

Handle simple_space(std::span<const hsize_t> shape) {
  return {H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), "shape"};
}

Handle text_type(std::size_t bytes) {
  Handle type(H5Tcopy(H5T_C_S1), "string type");
  check(H5Tset_size(type.get(), bytes), "string type");
  check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "string type");
  if (bytes != H5T_VARIABLE) check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "string type");
  return type;
}

Handle text_type_of(std::span<const std::string> texts) {
  std::size_t longest = 1;
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  return text_type(longest);
}

/// Texts one after the other, padded with zeros to the length of the longest.
std::vector<char> packed(std::span<const std::string> texts, std::size_t bytes) {
  std::vector<char> characters(std::max<std::size_t>(texts.size() * bytes, 1), '\0');
  for (std::size_t i = 0; i < texts.size(); ++i)
    std::ranges::copy(texts[i], characters.begin() + static_cast<std::ptrdiff_t>(i * bytes));
  return characters;
}

/// Creation without the time of day, so that equal runs give equal files.
Handle without_times(hid_t property_class) {
  Handle properties(H5Pcreate(property_class), "creation properties");
  check(H5Pset_obj_track_times(properties.get(), false), "creation properties");
  return properties;
}

int descriptor_of(hid_t file) {
  void* descriptor = nullptr;
  check(H5Fget_vfd_handle(file, H5P_DEFAULT, &descriptor), "descriptor of the file");
  return *static_cast<const int*>(descriptor);
}

}  // namespace

std::mutex& library_mutex() {
  static std::mutex mutex;
  return mutex;
}

Handle::Handle(hid_t identifier, const std::string& name) : identifier_(identifier) {
  if (identifier_ < 0) fail(name);
}

void Handle::release() noexcept {
  if (identifier_ >= 0) H5Idec_ref(std::exchange(identifier_, -1));
}

void Handle::close(const std::string& name) {
  if (identifier_ >= 0) check(H5Idec_ref(std::exchange(identifier_, -1)), name);
}

QuietErrors::QuietErrors() {
  H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietErrors::~QuietErrors() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }

void check(herr_t result, const std::string& action) {
  if (result < 0) fail(action);
}

Handle frame_file_access(bool locked) {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), "file access");
  check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_EARLIEST, H5F_LIBVER_V18), "file access");
  H5AC_cache_config_t cache{};
  cache.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  check(H5Pget_mdc_config(access.get(), &cache), "file access");
  cache.evictions_enabled = false;
  cache.incr_mode = H5C_incr__off;
  cache.flash_incr_mode = H5C_flash_incr__off;
  cache.decr_mode = H5C_decr__off;
  check(H5Pset_mdc_config(access.get(), &cache), "file access");
  if (!locked) check(H5Pset_file_locking(access.get(), false, true), "file access");
  write_in_safe_order(access.get());
  return access;
}

void synchronise_file(hid_t file) {
  check(H5Fflush(file, H5F_SCOPE_LOCAL), "flush");
  if (fsync(descriptor_of(file)) != 0 && errno != EINVAL)
    throw RunError("cannot write to the disk: " + std::generic_category().message(errno));
}

void reserve_room(hid_t file, std::uint64_t bytes) {
  hsize_t end = 0;
  check(H5Fget_filesize(file, &end), "size of the file");
  rlimit limit{};
  const bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  if (limited && end + bytes > limit.rlim_cur)
    throw RunError("cannot write to the disk: " + std::generic_category().message(EFBIG) +
                   " (ulimit -f)");
  const int result = fallocate(descriptor_of(file), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(end),
                               static_cast<off_t>(bytes));
  // Not every file system can; what is full then shows in the writing itself.
  const bool full = errno == ENOSPC || errno == EFBIG || errno == EDQUOT;
  if (result != 0 && full)
    throw RunError("cannot write to the disk: " + std::generic_category().message(errno));
}

void abandon_file(hid_t file) noexcept {
  void* descriptor = nullptr;
  if (file < 0 || H5Fget_vfd_handle(file, H5P_DEFAULT, &descriptor) < 0) return;
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  dup3(nowhere, *static_cast<const int*>(descriptor), O_CLOEXEC);
  ::close(nowhere);
}

std::vector<hsize_t> shape_of(hid_t dataset) {
  const Handle space(H5Dget_space(dataset), "shape");
  std::vector<hsize_t> shape(static_cast<std::size_t>(
      std::max(H5Sget_simple_extent_ndims(space.get()), 0)));  // a single value has none
  check(H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr), "shape");
  return shape;
}

Handle create_group(hid_t parent, const std::string& name) {
  const Handle properties = without_times(H5P_GROUP_CREATE);
  return {H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, properties.get(), H5P_DEFAULT), name};
}

void write_attribute(hid_t object, const std::string& name, const std::string& text) {
  // Variable length: h5py gives fixed-length text as bytes, which readers compare with str in vain.
  const Handle type = text_type(H5T_VARIABLE);
  const Handle space(H5Screate(H5S_SCALAR), name);
  const Handle attribute(
      H5Acreate2(object, name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), name);
  const char* characters = text.c_str();
  check(H5Awrite(attribute.get(), type.get(), &characters), name);
}

void write_attribute(hid_t object, const std::string& name, std::span<const int> values) {
  const hsize_t length = values.size();
  // One value is a scalar: readers compare `dimension` with a number.
  const Handle space =
      length == 1 ? Handle(H5Screate(H5S_SCALAR), name) : simple_space({&length, 1});
  const Handle attribute(
      H5Acreate2(object, name.c_str(), H5T_STD_I32LE, space.get(), H5P_DEFAULT, H5P_DEFAULT), name);
  check(H5Awrite(attribute.get(), H5T_NATIVE_INT, values.data()), name);
}

void write_attribute(hid_t object, const std::string& name, std::span<const std::string> texts) {
  const Handle type = text_type_of(texts);
  const hsize_t length = texts.size();
  const Handle space = simple_space({&length, 1});
  const Handle attribute(
      H5Acreate2(object, name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), name);
  const auto characters = packed(texts, H5Tget_size(type.get()));
  check(H5Awrite(attribute.get(), type.get(), characters.data()), name);
}

Handle write_dataset(hid_t parent, const std::string& name, hid_t file_type, hid_t memory_type,
                     const void* values, std::span<const hsize_t> shape) {
  const Handle space = simple_space(shape);
  const Handle properties = without_times(H5P_DATASET_CREATE);
  Handle dataset(H5Dcreate2(parent, name.c_str(), file_type, space.get(), H5P_DEFAULT,
                            properties.get(), H5P_DEFAULT),
                 name);
  check(H5Dwrite(dataset.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), name);
  return dataset;
}

Handle write_dataset(hid_t parent, const std::string& name, std::span<const double> values,
                     std::span<const hsize_t> shape) {
  return write_dataset(parent, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.data(), shape);
}

Handle write_dataset(hid_t parent, const std::string& name, std::span<const std::int32_t> values,
                     std::span<const hsize_t> shape) {
  return write_dataset(parent, name, H5T_STD_I32LE, H5T_NATIVE_INT32, values.data(), shape);
}

Handle write_dataset(hid_t parent, const std::string& name, std::span<const std::string> texts) {
  const Handle type = text_type_of(texts);
  const hsize_t length = texts.size();
  const auto characters = packed(texts, H5Tget_size(type.get()));
  return write_dataset(parent, name, type.get(), type.get(), characters.data(), {&length, 1});
}

void hard_link(hid_t from, const std::string& name, hid_t parent, const std::string& link_name) {
  check(H5Lcreate_hard(from, name.c_str(), parent, link_name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
        link_name);
}

FrameSeries::FrameSeries(hid_t parent, const std::string& name, hid_t file_type,
                         std::vector<hsize_t> frame_shape, unsigned compression_level)
    : name_(name), frame_shape_(std::move(frame_shape)) {
  std::vector<hsize_t> shape{0};
  std::vector<hsize_t> limit{H5S_UNLIMITED};
  // A compressed chunk holds one frame: written once, it is never touched again, so that a kill in
  // the middle of a write can hurt no earlier frame. Others hold several small ones: they are never
  // moved, and writing a frame again changes nothing. Fewer chunks make a smaller index.
  constexpr hsize_t numbers_per_chunk = 256;
  constexpr hsize_t chunk_bytes = 1 << 15;
  const bool is_number = frame_shape_.empty();
  hsize_t frame_bytes = H5Tget_size(file_type);
  for (hsize_t length : frame_shape_) frame_bytes *= std::max<hsize_t>(length, 1);
  const hsize_t small_frames = compression_level > 0 ? 1 : chunk_bytes / frame_bytes;
  std::vector<hsize_t> chunk{
      is_number ? numbers_per_chunk : std::clamp<hsize_t>(small_frames, 1, most_frames_per_chunk)};
  for (hsize_t length : frame_shape_) {
    shape.push_back(length);
    limit.push_back(length);
    chunk.push_back(std::max<hsize_t>(length, 1));
  }
  const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), limit.data()),
                     name_);
  const Handle properties = without_times(H5P_DATASET_CREATE);
  check(H5Pset_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data()), name_);
  if (compression_level > 0 && !is_number) {
    check(H5Pset_shuffle(properties.get()), name_);
    check(H5Pset_deflate(properties.get(), compression_level), name_);
  }
  dataset_ = Handle(H5Dcreate2(parent, name_.c_str(), file_type, space.get(), H5P_DEFAULT,
                               properties.get(), H5P_DEFAULT),
                    name_);
}

FrameSeries::FrameSeries(hid_t file, const std::string& path, std::vector<hsize_t> frame_shape,
                         hsize_t frames)
    : name_(path),
      dataset_(H5Dopen2(file, path.c_str(), H5P_DEFAULT), path),
      frame_shape_(std::move(frame_shape)),
      frames_(frames) {
  const std::vector<hsize_t> shape = hdf5::shape_of(dataset_.get());
  if (shape.empty() || !std::ranges::equal(frame_shape_, std::span(shape).subspan(1)))
    throw RunError(name_ + " has frames of another shape");
  present_ = shape.front();
  if (present_ < frames)
    throw RunError(name_ + " has " + std::to_string(present_) + " frames where there were " +
                   std::to_string(frames));
}

std::vector<hsize_t> FrameSeries::shape_of(hsize_t frames) const {
  std::vector<hsize_t> shape{frames};
  shape.insert(shape.end(), frame_shape_.begin(), frame_shape_.end());
  return shape;
}

void FrameSeries::append(std::span<const double> frame) { append(H5T_NATIVE_DOUBLE, frame.data()); }

void FrameSeries::append(std::span<const float> frame) { append(H5T_NATIVE_FLOAT, frame.data()); }

void FrameSeries::append(std::int64_t value) { append(H5T_NATIVE_INT64, &value); }

void FrameSeries::append(hid_t memory_type, const void* frame) {
  if (present_ == frames_) {
    check(H5Dset_extent(dataset_.get(), shape_of(frames_ + 1).data()), name_);
    present_ = frames_ + 1;
  }
  const std::vector<hsize_t> count = shape_of(1);
  std::vector<hsize_t> start(count.size(), 0);
  start.front() = frames_;
  const Handle file_space(H5Dget_space(dataset_.get()), name_);
  check(H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                            nullptr),
        name_);
  const Handle memory_space = simple_space(count);
  check(H5Dwrite(dataset_.get(), memory_type, memory_space.get(), file_space.get(), H5P_DEFAULT,
                 frame),
        name_);
  ++frames_;
}

void FrameSeries::trim() {
  if (present_ == frames_) return;
  check(H5Dset_extent(dataset_.get(), shape_of(frames_).data()), name_);
  present_ = frames_;
}

}  // namespace starpmc::hdf5
