#include "qm/density_grid.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <string>

#include "base/checked_file.hpp"
#include "base/input_file.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {

static_assert(std::endian::native == std::endian::little, "grid files are written as they lie");

namespace {

constexpr char magic[] = {'S', 'T', 'A', 'R', 'P', 'M', 'C', 'G'};
constexpr std::string_view remedy = "a density grid written by starpmc (output.save-grid)";
constexpr std::uint32_t file_version = 2;
constexpr std::uint32_t bare_points_version = 1;
constexpr std::size_t header_bytes =
    sizeof(magic) + 2 * sizeof(std::uint32_t) + sizeof(std::uint64_t);
constexpr std::size_t values_of_point(std::uint32_t version) {
  return version == bare_points_version ? 4 : 5;
}

std::array<std::vector<double>*, 5> columns(DensityGrid& grid) {
  return {&grid.x, &grid.y, &grid.z, &grid.charge, &grid.extent};
}

template <typename Value>
Value value_at(std::span<const char> bytes, std::size_t offset) {
  Value value;
  std::memcpy(&value, bytes.data() + offset, sizeof(Value));
  return value;
}

template <typename Value>
void append(std::string& bytes, const Value& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(Value));
}

std::uint32_t checksum(std::span<const char> bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

[[noreturn]] void refuse(const std::filesystem::path& path, std::string_view problem,
                         std::string_view found) {
  throw InputError(path.string(), problem, found, remedy);
}

struct Frame {
  std::uint32_t version;
  std::size_t count;  ///< points
};

Frame check_frame(const std::filesystem::path& path, std::span<const char> bytes) {
  if (bytes.size() < sizeof(magic) || std::memcmp(bytes.data(), magic, sizeof(magic)) != 0) {
    refuse(path, "not a density grid file", "");
  }
  if (bytes.size() < header_bytes + sizeof(std::uint32_t)) {
    refuse(path, "truncated density grid file", fmt::format("{} bytes", bytes.size()));
  }
  const auto version = value_at<std::uint32_t>(bytes, sizeof(magic));
  if (version != file_version && version != bare_points_version) {
    refuse(path, "density grid file of an unknown version", std::to_string(version));
  }
  const auto count = value_at<std::uint64_t>(bytes, sizeof(magic) + 2 * sizeof(std::uint32_t));
  const std::size_t point_bytes = values_of_point(version) * sizeof(double);
  const std::size_t data_bytes = bytes.size() - header_bytes - sizeof(std::uint32_t);
  if (data_bytes % point_bytes != 0 || count != data_bytes / point_bytes) {
    refuse(path, fmt::format("truncated density grid file: {} points announced", count),
           fmt::format("{} bytes of points", data_bytes));
  }
  const std::size_t end = bytes.size() - sizeof(std::uint32_t);
  if (value_at<std::uint32_t>(bytes, end) != checksum(bytes.first(end))) {
    refuse(path, "damaged density grid file (wrong checksum)", "");
  }
  return {version, count};
}

}  // namespace

double drop_small_charges(DensityGrid& grid, double charge_threshold) {
  double dropped = 0;
  std::size_t kept = 0;
  grid.extent.resize(grid.size());
  for (std::size_t point = 0; point < grid.size(); ++point) {
    if (std::abs(grid.charge[point]) < charge_threshold) {
      dropped += grid.charge[point];
      continue;
    }
    for (auto* values : columns(grid)) (*values)[kept] = (*values)[point];
    ++kept;
  }
  for (auto* values : columns(grid)) values->resize(kept);
  return dropped;
}

DensityGrid read_density_grid(const std::filesystem::path& path) {
  std::ifstream file = open_input_file(path, remedy);
  std::string bytes(checked_file_size(path, kMostGridFileBytes, remedy), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad()) throw RunError(fmt::format("{}: cannot be read on", path.string()));
  const Frame frame = check_frame(path, bytes);
  const std::size_t values_here = values_of_point(frame.version);
  DensityGrid grid;
  const auto all = columns(grid);
  for (auto* values : all) values->resize(frame.count);
  for (std::size_t point = 0; point < frame.count; ++point) {
    std::size_t offset = header_bytes + point * values_here * sizeof(double);
    for (auto* values : std::span(all).first(values_here)) {
      const auto value = value_at<double>(bytes, offset);
      if (!std::isfinite(value)) {
        refuse(path, fmt::format("non-finite number at point {}", point), std::to_string(value));
      }
      (*values)[point] = value;
      offset += sizeof(double);
    }
    if (!(grid.extent[point] >= 0 && grid.extent[point] <= kLargestExtentAngstrom)) {
      refuse(path,
             fmt::format("extent of point {} not from 0 to {} A", point, kLargestExtentAngstrom),
             std::to_string(grid.extent[point]));
    }
  }
  return grid;
}

void write_density_grid(const std::filesystem::path& path, const DensityGrid& grid) {
  std::string bytes(magic, sizeof(magic));
  bytes.reserve(header_bytes + grid.size() * 5 * sizeof(double) + sizeof(std::uint32_t));
  append(bytes, file_version);
  append(bytes, std::uint32_t{0});
  append(bytes, static_cast<std::uint64_t>(grid.size()));
  for (std::size_t point = 0; point < grid.size(); ++point) {
    for (const double value : {grid.x[point], grid.y[point], grid.z[point], grid.charge[point],
                               grid.extent.empty() ? 0.0 : grid.extent[point]}) {
      append(bytes, value);
    }
  }
  append(bytes, checksum(bytes));
  write_file_atomically(path, bytes);
}

}  // namespace starpmc
