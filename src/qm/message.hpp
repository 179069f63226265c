#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "qm/worker_process.hpp"

namespace starpmc {

/// An array of a message; row-major.
struct MessageArray {
  std::string name;
  std::vector<std::size_t> shape;
  std::vector<double> values;
};

/// One message of the worker protocol (protocol.md): a line of JSON and arrays of doubles.
struct Message {
  nlohmann::json header;
  std::vector<MessageArray> arrays;

  std::string type() const { return header.value("type", std::string()); }
};

constexpr int worker_protocol_version = 1;

/// Both throw WorkerLost with the worker's last lines: on the worker's end, on the deadline, and
/// when a message is not what the protocol allows (not JSON, absurd sizes, non-finite numbers).
/// send_message throws a plain RunError for non-finite numbers of this program.
void send_message(WorkerProcess& worker, const Message& message, WorkerProcess::Deadline deadline);
Message receive_message(WorkerProcess& worker, WorkerProcess::Deadline deadline);

}  // namespace starpmc
