#include "qm/message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/nested_json.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {

static_assert(std::endian::native == std::endian::little, "the protocol sends doubles as they lie");

namespace {

constexpr std::size_t max_header_bytes = 1 << 20;
constexpr std::size_t max_array_numbers = std::size_t{1} << 27;
constexpr std::size_t max_arrays = 16;

/// Without the multiplication that could overflow. @return false for an absurd size
bool count_numbers(const std::vector<std::size_t>& shape, std::size_t& count) {
  count = 1;
  for (const std::size_t length : shape) {
    if (length > max_array_numbers || (length > 0 && count > max_array_numbers / length)) {
      return false;
    }
    count *= length;
  }
  return !shape.empty() && shape.size() <= 2;
}

MessageArray parse_array(const nlohmann::json& description) {
  MessageArray array;
  array.name = description.at("name").get<std::string>();
  const auto& shape = description.at("shape");
  // get<size_t>() would let negative numbers through as huge ones and cut fractions.
  for (const auto& length : shape) {
    if (!length.is_number_unsigned())
      throw nlohmann::json::other_error::create(501, "shape", nullptr);
    array.shape.push_back(length.get<std::size_t>());
  }
  return array;
}

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(),
                     [](double value) { return std::isfinite(value); });
}

void check_header(WorkerProcess& worker, const nlohmann::json& header) {
  const bool has_type = header.is_object() && header.contains("type") && header["type"].is_string();
  if (!has_type) worker.fail("its answer has no type");
  if (header.contains("arrays") &&
      (!header["arrays"].is_array() || header["arrays"].size() > max_arrays)) {
    worker.fail("its answer has a malformed list of arrays");
  }
}

std::string excerpt(const std::string& line) {
  std::string text = line.substr(0, 80);
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 32 || c > 126; }, '?');
  return text;
}

}  // namespace

void send_message(WorkerProcess& worker, const Message& message, WorkerProcess::Deadline deadline) {
  nlohmann::json header = message.header;
  header["arrays"] = nlohmann::json::array();
  for (const auto& array : message.arrays) {
    if (!all_finite(array.values)) {
      throw RunError(fmt::format("the {} for the QM worker holds a non-finite number", array.name));
    }
    header["arrays"].push_back({{"name", array.name}, {"dtype", "f64"}, {"shape", array.shape}});
  }
  const std::string line = header.dump() + '\n';
  worker.write(std::as_bytes(std::span(line)), deadline);
  for (const auto& array : message.arrays) {
    worker.write(std::as_bytes(std::span(array.values)), deadline);
  }
}

Message receive_message(WorkerProcess& worker, WorkerProcess::Deadline deadline) {
  const std::string line = worker.read_line(max_header_bytes, deadline);
  Message message;
  try {
    message.header = parse_json(line);
  } catch (const nlohmann::json::exception& error) {
    const bool is_json = error.id == 501;  // parse_json() says what else is wrong with it
    worker.fail(
        fmt::format("its answer is {}: {}", is_json ? error.what() : "not JSON", excerpt(line)));
  }
  check_header(worker, message.header);
  for (const auto& description : message.header.value("arrays", nlohmann::json::array())) {
    MessageArray array;
    std::size_t count = 0;
    try {
      array = parse_array(description);
      if (description.at("dtype") != "f64") worker.fail("its answer has an array not of doubles");
    } catch (const nlohmann::json::exception&) {
      worker.fail(fmt::format("its answer describes an array badly: {}", excerpt(line)));
    }
    if (!count_numbers(array.shape, count)) {
      worker.fail(fmt::format("its answer has an array {} of absurd size", array.name));
    }
    array.values.resize(count);
    worker.read(std::as_writable_bytes(std::span(array.values)), deadline);
    if (!all_finite(array.values)) {
      worker.fail(fmt::format("its answer has a non-finite number in {}", array.name));
    }
    message.arrays.push_back(std::move(array));
  }
  return message;
}

}  // namespace starpmc
