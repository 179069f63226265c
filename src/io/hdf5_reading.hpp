#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5_handle.hpp"
#include "system/geometry.hpp"

/// Parts of a file that anyone may have made: nothing is allocated or filled before its shape is
/// known to be the one wanted, and all throw RunError naming the part. The caller holds
/// library_mutex().
namespace starpmc::hdf5 {

/// Of a file, whatever it says: more than any system has, and little enough for the memory.
inline constexpr hsize_t kMostAtoms = 10'000'000;

bool exists(hid_t file, const std::string& name);
Handle open_dataset(hid_t file, const std::string& name);
/// @param dimensions how many it must have
std::vector<hsize_t> shape_of(hid_t file, const std::string& name, std::size_t dimensions);

/// A single text of variable length.
std::string text_attribute(hid_t file, const std::string& object, const std::string& name);
/// A list of texts of fixed length, kMostAtoms at most.
std::vector<std::string> texts(hid_t file, const std::string& name);
/// A list, kMostAtoms at most.
std::vector<std::int64_t> integers(hid_t file, const std::string& name);
/// @param expected how many there must be, kMostAtoms at most
std::vector<Vector3> points(hid_t file, const std::string& name, std::size_t expected);
/// One frame of a dataset whose frames must have this shape.
std::vector<double> frame_of(hid_t file, const std::string& name, std::uint64_t frame,
                             const std::vector<hsize_t>& frame_shape);

}  // namespace starpmc::hdf5
