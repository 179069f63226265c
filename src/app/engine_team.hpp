#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "qm/engine.hpp"

namespace starpmc {

/// QM engines that share independent pieces of work. Each piece is a task of one of StarPU's CPU
/// workers, done by one engine; which does which is chance, so what a piece gives must be a
/// function of the piece alone. What an engine had begun when its workers were lost for good
/// (WorkersLost) another one does, and the team goes on without it; the caller's own is not spared.
/// The caller's own may also be at something else: then the others do all pieces, while there are
/// any. Without CPU workers the calling thread does all, with its own engine.
class EngineTeam {
  struct Member;

 public:
  using Start = std::function<std::unique_ptr<QmEngine>()>;

  struct Work {
    std::size_t pieces = 0;
    double size = 0;  ///< of a piece, for the performance model
    /// Before the first piece of an engine other than the caller's; may be empty.
    std::function<void(QmEngine&)> prepare;
    std::function<void(QmEngine&, std::size_t piece)> piece;
  };
  using Progress = std::function<void(std::size_t done)>;

  EngineTeam() = default;
  /// Waits for the engines that are about to start.
  ~EngineTeam();
  EngineTeam(const EngineTeam&) = delete;
  EngineTeam& operator=(const EngineTeam&) = delete;

  /// So many more, each started by a task and at work as soon as it is ready. One that does not
  /// start is told in the log, and the others do its part.
  void start(unsigned count, const Start& start);
  /// Ends those that start() has begun.
  void dismiss();

  /// How many engines can do pieces at a time while the calling thread's own is busy.
  std::size_t helpers(const QmEngine& own);

  /// An engine that nobody needs meanwhile, until the object ends; waits for what it is at.
  class Loan {
   public:
    Loan(EngineTeam& team, QmEngine& engine);
    ~Loan();
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

   private:
    EngineTeam& team_;
    QmEngine& engine_;
  };

  /// Pieces that come up one by one, while the calling thread is busy with something else. One at a
  /// time; waits for the pieces at work when it ends before finish().
  class Batch {
   public:
    /// @param own of the calling thread; null: it has no part in this
    /// @param work its number of pieces does not count
    Batch(EngineTeam& team, QmEngine* own, Work work);
    ~Batch();
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    /// One more piece. One CPU worker is left to what the calling thread does; where the team
    /// falls far behind, the call waits with all of them at work. Throws as finish().
    void add();
    /// Waits for those so far; throws as finish(). @return false: no engine is left to do them
    bool wait();
    /// How many engines have taken part.
    std::size_t engines() const;
    /// Waits for all of them, of a batch with an engine of its own.
    /// @param progress told by the calling thread, may be empty
    /// @return how many engines took part
    /// @throws the first failure of a piece, once no engine is at work any more
    std::size_t finish(const Progress& progress);

   private:
    friend class EngineTeam;
    std::size_t waiting() const { return known_ - next_ + again_.size(); }
    void end_piece(Member& member, const std::exception_ptr& error);
    void hand_out(std::unique_lock<std::mutex>& lock);
    void wait_for(std::unique_lock<std::mutex>& lock, std::size_t most_waiting,
                  const Progress& progress);
    void close(std::unique_lock<std::mutex>& lock);
    std::size_t count_engines() const;
    void throw_if_failed(std::unique_lock<std::mutex>& lock);

    EngineTeam& team_;
    QmEngine* const own_;
    const Work work_;
    std::size_t known_ = 0;           ///< pieces
    std::size_t next_ = 0;            ///< the first that nobody has begun
    std::vector<std::size_t> again_;  ///< begun by engines that are lost
    std::size_t done_ = 0;
    std::size_t at_work_ = 0;  ///< engines at a piece
    std::size_t at_once_;      ///< at most so many
    bool open_ = true;
    std::exception_ptr error_;
    std::thread foreman_;  ///< hands out the pieces
  };

  /// All of the work's pieces; parameters as of Batch.
  std::size_t run(QmEngine& own, const Work& work, const Progress& progress);

 private:
  struct Member {
    explicit Member(EngineTeam& its_team) : team(its_team) {}
    EngineTeam& team;
    std::unique_ptr<QmEngine> started = {};
    QmEngine* engine = nullptr;  ///< none: it is about to start
    Start start = {};
    bool busy = false;
    bool prepared = false;
    bool lost = false;
    std::size_t piece = 0;

    /// Now, or when it has started.
    bool serves() const { return !lost && (engine != nullptr || busy); }
  };
  void submit(Member& member, double size);
  void task(Member& member) noexcept;
  void start_engine(Member& member);
  void do_piece(Member& member);
  void remove(std::unique_lock<std::mutex>& lock, QmEngine& engine);
  Member* idle_member();

  std::mutex mutex_;  ///< of all that follows
  std::condition_variable changed_;
  std::list<Member> members_;
  Batch* batch_ = nullptr;  ///< under way
};

}  // namespace starpmc
