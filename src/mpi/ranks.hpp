#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace starpmc {

/// The processes ("ranks") of one run: those that mpirun or srun has started, or this one alone.
/// Everything they tell each other is a JSON document; doubles keep their bits.
class Ranks {
 public:
  struct Message;  ///< in rank_message.hpp

  virtual ~Ranks() = default;

  /// From 0; rank 0 speaks to the user.
  virtual unsigned rank() const = 0;
  virtual unsigned size() const = 0;
  /// How many of them share this one's host, itself included.
  virtual unsigned on_this_host() const = 0;
  /// Name of the host of each.
  virtual const std::vector<std::string>& hosts() const = 0;

  /// Every rank's document in the order of ranks. All ranks call it, in the same order.
  virtual std::vector<nlohmann::json> all(const nlohmann::json& mine) = 0;

  /// Does not wait. Messages from one rank to another arrive in order. send() and receive() are for
  /// one thread at a time, and not for use while all() is.
  virtual void send(unsigned to, const nlohmann::json& content) = 0;
  virtual std::optional<Message> receive() = 0;

  /// StarPU, which must be running, learns of the other ranks, where its MPI layer is there: its
  /// traces then are one per rank, on one clock. All ranks call these.
  virtual void join_starpu() = 0;
  virtual void leave_starpu() = 0;

  /// Ends this process and, as far as they can be reached, all others.
  [[noreturn]] virtual void abort(int status) = 0;

  bool first() const { return rank() == 0; }
  /// "rank 1 (node7)"
  std::string name(unsigned rank) const;
  /// A command as one writes it for as many ranks: "mpirun -np 2 starpmc ..."; itself for one.
  std::string launched(const std::string& command) const;
};

/// The ranks that the launcher of this process has started. MPI is touched only where there is one.
/// @throws InputError where a launcher has started several copies that cannot work together: this
///     program was built without MPI or with another one, or srun without its MPI plugin
std::unique_ptr<Ranks> join_ranks();

/// What made a rank fail, at every rank; the same message.
class AgreedFailure : public std::runtime_error {
 public:
  AgreedFailure(const std::string& message, int status)
      : std::runtime_error(message), status_(status) {}
  /// Exit status: 2 for bad input, 1 otherwise.
  int status() const { return status_; }

 private:
  int status_;
};

/// Does its part of a stage at every rank; where one fails, all do. All ranks call it.
/// @throws AgreedFailure with the message of the lowest rank that failed; what `stage` throws where
///     this process is alone
void agree(Ranks& ranks, const std::function<void()>& stage);

/// agree() at rank 0 first, then at the others, which find what it leaves in a folder for all.
void agree_first_before_others(Ranks& ranks, const std::function<void()>& stage);

/// What rank 0 finds, or does, at every rank. All ranks call it.
/// @throws as agree()
nlohmann::json of_first(Ranks& ranks, const std::function<nlohmann::json()>& find);

/// The exit status of `body`. A failure that all agree on is told by rank 0; one that they do not,
/// ends the others at once.
int over_ranks(const std::function<int(Ranks&)>& body);

}  // namespace starpmc
