#include "mpi/ranks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <iostream>

#include "kernels/base/error.hpp"
#include "mpi/launch.hpp"
#include "mpi/rank_message.hpp"

namespace starpmc {
namespace {

/// This process alone.
class OneRank final : public Ranks {
 public:
  unsigned rank() const override { return 0; }
  unsigned size() const override { return 1; }
  unsigned on_this_host() const override { return 1; }
  const std::vector<std::string>& hosts() const override { return hosts_; }
  std::vector<nlohmann::json> all(const nlohmann::json& mine) override { return {mine}; }
  void send(unsigned, const nlohmann::json&) override {
    throw std::logic_error("a message to nobody");
  }
  std::optional<Message> receive() override { return std::nullopt; }
  void join_starpu() override {}
  void leave_starpu() override {}
  [[noreturn]] void abort(int status) override { std::_Exit(status); }

 private:
  std::vector<std::string> hosts_{host_name()};
};

nlohmann::json failure_of(const std::function<void()>& stage) {
  const auto document = [](const std::exception& error, int status) {
    return nlohmann::json{{"message", error.what()}, {"status", status}};
  };
  try {
    stage();
    return nullptr;
  } catch (const InputError& error) {
    return document(error, 2);
  } catch (const std::exception& error) {
    return document(error, 1);
  }
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "?";
  return name.data();
}

std::string Ranks::name(unsigned rank) const {
  return fmt::format("rank {} ({})", rank, hosts().at(rank));
}

std::string Ranks::launched(const std::string& command) const {
  return size() == 1 ? command : fmt::format("mpirun -np {} {}", size(), command);
}

std::unique_ptr<Ranks> join_ranks() {
  const Launch launch = launch_of_this_process();
  // A single process needs no MPI, whoever started it.
  if (launch.kind == Launch::Kind::alone || launch.size == 1) return std::make_unique<OneRank>();
  return join_mpi(launch);
}

void agree(Ranks& ranks, const std::function<void()>& stage) {
  if (ranks.size() == 1) {
    stage();
    return;
  }
  const std::vector<nlohmann::json> failures = ranks.all(failure_of(stage));
  for (unsigned rank = 0; rank < ranks.size(); ++rank) {
    const nlohmann::json& failure = failures[rank];
    if (failure.is_null()) continue;
    std::string message = failure.at("message");
    if (rank > 0) message.insert(0, ranks.name(rank) + ": ");
    throw AgreedFailure(message, failure.at("status"));
  }
}

void agree_first_before_others(Ranks& ranks, const std::function<void()>& stage) {
  agree(ranks, [&] {
    if (ranks.first()) stage();
  });
  agree(ranks, [&] {
    if (!ranks.first()) stage();
  });
}

nlohmann::json of_first(Ranks& ranks, const std::function<nlohmann::json()>& find) {
  nlohmann::json found;
  agree(ranks, [&] {
    if (ranks.first()) found = find();
  });
  return ranks.all(found).front();
}

int over_ranks(const std::function<int(Ranks&)>& body) {
  const std::unique_ptr<Ranks> ranks = join_ranks();
  if (ranks->size() == 1) return body(*ranks);
  try {
    return body(*ranks);
  } catch (const AgreedFailure& failure) {
    if (ranks->first()) std::cerr << "starpmc: error: " << failure.what() << '\n';
    return failure.status();
  } catch (const std::exception& error) {
    std::cerr << "starpmc: error: " << ranks->name(ranks->rank()) << ": " << error.what() << '\n';
    ranks->abort(1);
    return 1;
  }
}

}  // namespace starpmc
