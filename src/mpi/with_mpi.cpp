#include <fmt/format.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#ifdef STARPMC_STARPU_MPI
#include <starpu.h>
#include <starpu_mpi.h>
#endif

#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <list>
#include <thread>

#include "kernels/base/error.hpp"
#include "mpi/launch.hpp"
#include "mpi/rank_message.hpp"
#include "mpi/ranks.hpp"

namespace starpmc {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr int kTag = 1;

void check(int status, const char* what) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw RunError(fmt::format("MPI cannot {}: {}", what, text));
}

/// MPI's own waiting would keep a core busy that others sample on.
void wait(MPI_Request& request, const char* what) {
  int done = 0;
  for (;;) {
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
    if (done != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

int length_of(const Bytes& bytes) {
  if (bytes.size() > INT_MAX) throw RunError("a message between ranks is too long for MPI");
  return static_cast<int>(bytes.size());
}

class MpiRanks final : public Ranks {
 public:
  MpiRanks() {
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "start");
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "tell the rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "tell the number of ranks");
    // By MPI's own notion of a host: names may be alike.
    MPI_Comm host = MPI_COMM_NULL;
    check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
          "find the ranks of this host");
    check(MPI_Comm_size(host, &on_this_host_), "find the ranks of this host");
    MPI_Comm_free(&host);
    for (const nlohmann::json& name : all(host_name())) hosts_.push_back(name);
  }
  ~MpiRanks() override { MPI_Finalize(); }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  unsigned rank() const override { return static_cast<unsigned>(rank_); }
  unsigned size() const override { return static_cast<unsigned>(size_); }
  unsigned on_this_host() const override { return static_cast<unsigned>(on_this_host_); }
  const std::vector<std::string>& hosts() const override { return hosts_; }

  std::vector<nlohmann::json> all(const nlohmann::json& mine) override;
  void send(unsigned to, const nlohmann::json& content) override;
  std::optional<Message> receive() override;
  void join_starpu() override;
  void leave_starpu() override;
  [[noreturn]] void abort(int status) override {
    MPI_Abort(MPI_COMM_WORLD, status);
    std::_Exit(status);
  }

 private:
  struct Sent {
    Bytes bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  int rank_ = 0;
  int size_ = 1;
  int on_this_host_ = 1;
  std::vector<std::string> hosts_;
  std::list<Sent> under_way_;
};

std::vector<nlohmann::json> MpiRanks::all(const nlohmann::json& mine) {
  constexpr const char* kWhat = "gather what the ranks say";
  const Bytes bytes = nlohmann::json::to_cbor(mine);
  const int length = length_of(bytes);
  std::vector<int> lengths(size());
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD, &request),
        kWhat);
  wait(request, kWhat);
  std::vector<int> offsets;
  std::int64_t total = 0;
  for (const int each : lengths) {
    offsets.push_back(static_cast<int>(total));
    total += each;
    if (total > INT_MAX) throw RunError("what the ranks have to say is too long for MPI");
  }
  Bytes received(static_cast<std::size_t>(total));
  check(MPI_Iallgatherv(bytes.data(), length, MPI_BYTE, received.data(), lengths.data(),
                        offsets.data(), MPI_BYTE, MPI_COMM_WORLD, &request),
        kWhat);
  wait(request, kWhat);
  std::vector<nlohmann::json> documents;
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    const auto begin = received.begin() + offsets[r];
    documents.push_back(nlohmann::json::from_cbor(begin, begin + lengths[r]));
  }
  return documents;
}

void MpiRanks::send(unsigned to, const nlohmann::json& content) {
  constexpr const char* kWhat = "send a message";
  for (auto sent = under_way_.begin(); sent != under_way_.end();) {
    int done = 0;
    check(MPI_Test(&sent->request, &done, MPI_STATUS_IGNORE), kWhat);
    sent = done != 0 ? under_way_.erase(sent) : std::next(sent);
  }
  Sent& sent = under_way_.emplace_back();
  sent.bytes = nlohmann::json::to_cbor(content);
  check(MPI_Isend(sent.bytes.data(), length_of(sent.bytes), MPI_BYTE, static_cast<int>(to), kTag,
                  MPI_COMM_WORLD, &sent.request),
        kWhat);
}

std::optional<Ranks::Message> MpiRanks::receive() {
  constexpr const char* kWhat = "receive a message";
  int there = 0;
  MPI_Status status;
  check(MPI_Iprobe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &there, &status), kWhat);
  if (there == 0) return std::nullopt;
  int length = 0;
  check(MPI_Get_count(&status, MPI_BYTE, &length), kWhat);
  Bytes bytes(static_cast<std::size_t>(length));
  check(MPI_Recv(bytes.data(), length, MPI_BYTE, status.MPI_SOURCE, kTag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE),
        kWhat);
  return Message{static_cast<unsigned>(status.MPI_SOURCE), nlohmann::json::from_cbor(bytes)};
}

void MpiRanks::join_starpu() {
#ifdef STARPMC_STARPU_MPI
  // Not starpu_mpi_init_conf(): it takes a core from the sampling, for transfers we do not have.
  const int status = starpu_mpi_init_comm(nullptr, nullptr, 0, MPI_COMM_WORLD);
  if (status != 0) throw RunError(fmt::format("StarPU-MPI does not start: status {}", status));
#endif
}

void MpiRanks::leave_starpu() {
#ifdef STARPMC_STARPU_MPI
  starpu_mpi_shutdown();
#endif
}

/// MPI's own threads must not take the signals that Interruption waits for.
int start_mpi() {
  sigset_t signals;
  sigset_t before;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  int level = MPI_THREAD_SINGLE;
  const int status = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  check(status, "start");
  return level;
}

}  // namespace

std::unique_ptr<Ranks> join_mpi(const Launch& launch) {
  if (launch.kind == Launch::Kind::without_mpi) {
    throw InputError(launch.launcher,
                     "several copies of this program were started, but not as ranks of MPI",
                     fmt::format("{} processes", launch.size),
                     "add --mpi=pmix to srun (srun --mpi=list tells what it knows), or use mpirun");
  }
  const int level = start_mpi();
  if (level < MPI_THREAD_MULTIPLE) {
    MPI_Finalize();
    throw RunError("this MPI cannot be used by several threads (MPI_THREAD_MULTIPLE)");
  }
  auto ranks = std::make_unique<MpiRanks>();
  if (ranks->size() == 1 && launch.size > 1) {
    throw InputError(
        launch.launcher, "several copies of this program were started, but by another MPI's means",
        fmt::format("{} processes", launch.size),
        "use the mpirun of the MPI that starpmc was built with (Open MPI), or srun --mpi=pmix");
  }
  return ranks;
}

}  // namespace starpmc
