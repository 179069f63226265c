#include "io/hdf5_reading.hpp"

#include <fmt/format.h>

#include <memory>
#include <string_view>

#include "kernels/base/error.hpp"

namespace starpmc::hdf5 {
namespace {

constexpr hsize_t kMostCharacters = 32 * kMostAtoms;  // of a list of names

/// Length of a list.
std::size_t length_of(hid_t file, const std::string& name) {
  const hsize_t length = shape_of(file, name, 1).front();
  if (length > kMostAtoms)
    throw RunError(fmt::format("{} has {} entries, more than the {} that are allowed", name, length,
                               kMostAtoms));
  return length;
}

}  // namespace

bool exists(hid_t file, const std::string& name) {
  return H5Lexists(file, name.c_str(), H5P_DEFAULT) > 0;
}

Handle open_dataset(hid_t file, const std::string& name) {
  return {H5Dopen2(file, name.c_str(), H5P_DEFAULT), name};
}

std::vector<hsize_t> shape_of(hid_t file, const std::string& name, std::size_t dimensions) {
  std::vector<hsize_t> shape = shape_of(open_dataset(file, name).get());
  if (shape.size() != dimensions) throw RunError(name + " has another shape");
  return shape;
}

std::string text_attribute(hid_t file, const std::string& object, const std::string& name) {
  const std::string place = object + ", " + name;
  const Handle attribute(
      H5Aopen_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), place);
  const Handle type(H5Aget_type(attribute.get()), place);
  if (H5Tis_variable_str(type.get()) <= 0) throw RunError(place + " is not a text");
  // Of several texts HDF5 would write as many pointers.
  const Handle space(H5Aget_space(attribute.get()), place);
  if (H5Sget_simple_extent_type(space.get()) != H5S_SCALAR)
    throw RunError(place + " is not a single text");
  char* text = nullptr;
  check(H5Aread(attribute.get(), type.get(), &text), place);
  const std::unique_ptr<char, herr_t (*)(void*)> owner(
      text, [](void* memory) { return H5free_memory(memory); });
  return text == nullptr ? "" : text;
}

std::vector<std::string> texts(hid_t file, const std::string& name) {
  const Handle data = open_dataset(file, name);
  const Handle type(H5Dget_type(data.get()), name);
  const std::size_t length = H5Tget_size(type.get());
  if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) != 0 || length == 0)
    throw RunError(name + " has no texts of fixed length");
  const std::size_t count = length_of(file, name);
  if (count > kMostCharacters / length)
    throw RunError(
        fmt::format("{} has {} texts of {} characters, more than the {} characters "
                    "that are allowed",
                    name, count, length, kMostCharacters));
  std::vector<char> characters(count * length);
  check(H5Dread(data.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, characters.data()), name);
  std::vector<std::string> found;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view text(&characters[i * length], length);
    found.emplace_back(text.substr(0, text.find('\0')));
  }
  return found;
}

std::vector<std::int64_t> integers(hid_t file, const std::string& name) {
  std::vector<std::int64_t> numbers(length_of(file, name));
  check(H5Dread(open_dataset(file, name).get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                numbers.data()),
        name);
  return numbers;
}

std::vector<Vector3> points(hid_t file, const std::string& name, std::size_t expected) {
  if (expected > kMostAtoms || shape_of(file, name, 2) != std::vector<hsize_t>{expected, 3})
    throw RunError(name + " has another number of points than of names");
  std::vector<double> numbers(3 * expected);
  check(H5Dread(open_dataset(file, name).get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                numbers.data()),
        name);
  std::vector<Vector3> found;
  for (std::size_t i = 0; i < expected; ++i)
    found.push_back({numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]});
  return found;
}

std::vector<double> frame_of(hid_t file, const std::string& name, std::uint64_t frame,
                             const std::vector<hsize_t>& frame_shape) {
  const Handle data = open_dataset(file, name);
  std::vector<hsize_t> count{1};
  std::size_t numbers = 1;
  for (const hsize_t length : frame_shape) {
    count.push_back(length);
    numbers *= length;
  }
  std::vector<hsize_t> shape = shape_of(file, name, count.size());
  const bool has_it = shape.front() > frame;
  shape.front() = 1;
  if (!has_it || shape != count) throw RunError(name + " has another shape");
  std::vector<hsize_t> start(count.size(), 0);
  start.front() = frame;
  const Handle file_space(H5Dget_space(data.get()), name);
  check(H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                            nullptr),
        name);
  const Handle memory_space(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr),
                            name);
  std::vector<double> values(numbers);
  check(H5Dread(data.get(), H5T_NATIVE_DOUBLE, memory_space.get(), file_space.get(), H5P_DEFAULT,
                values.data()),
        name);
  return values;
}

}  // namespace starpmc::hdf5
