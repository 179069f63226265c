#include "io/timeline.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <queue>

#include "kernels/base/error.hpp"

namespace starpmc {

nlohmann::json TimelinePart::state() const {
  nlohmann::json document{{"spool", spool.string()}, {"end_ns", end_ns}};
  document["workers"] = nlohmann::json::array();
  for (const auto& worker : workers) document["workers"].push_back({worker.id, worker.name});
  document["codelets"] = nlohmann::json::array();
  for (const auto& codelet : codelets) {
    document["codelets"].push_back({codelet.codelet, codelet.name, codelet.colour});
  }
  return document;
}

TimelinePart TimelinePart::from(const nlohmann::json& state) {
  TimelinePart part{state.at("spool").get<std::string>(), state.at("end_ns"), {}, {}};
  for (const auto& worker : state.at("workers")) {
    part.workers.push_back({worker.at(0), worker.at(1)});
  }
  for (const auto& codelet : state.at("codelets")) {
    part.codelets.push_back({codelet.at(0), codelet.at(1), codelet.at(2)});
  }
  return part;
}

/// A spool with the places of each worker's blocks.
class Timeline::SpoolFile {
 public:
  struct Place {
    std::int64_t offset;
    std::uint32_t tasks;
  };

  SpoolFile(const TimelinePart& part, std::size_t first_worker, std::vector<std::size_t> codelets)
      : path_(part.spool),
        first_worker_(first_worker),
        places_(part.workers.size()),
        codelets_(std::move(codelets)),
        stream_(part.spool, std::ios::binary) {
    std::error_code error;
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path_, error));
    if (!stream_ || error) throw RunError(path_.string() + ": cannot read the recorded tasks");
    std::map<std::uint32_t, std::size_t> places;
    for (std::size_t i = 0; i < part.workers.size(); ++i) {
      places[static_cast<std::uint32_t>(part.workers[i].id)] = i;
    }
    for (std::int64_t at = 0; at < size;) {
      TimelineBlock block{};
      read(at, &block, sizeof block);
      at += static_cast<std::int64_t>(sizeof block);
      places_.at(places.at(block.worker)).push_back({at, block.tasks});
      at += static_cast<std::int64_t>(sizeof(TimelineTask)) * block.tasks;
      if (at > size) fail();
    }
  }

  std::size_t workers() const { return places_.size(); }
  std::size_t first_worker() const { return first_worker_; }
  const std::vector<Place>& places(std::size_t worker) const { return places_[worker]; }
  /// In the timeline's list of codelets.
  std::size_t codelet(std::uint32_t number) const { return codelets_.at(number); }

  void read(const Place& place, std::vector<TimelineTask>& tasks) {
    tasks.resize(place.tasks);
    read(place.offset, tasks.data(), tasks.size() * sizeof(TimelineTask));
  }

 private:
  void read(std::int64_t offset, void* to, std::size_t bytes) {
    stream_.seekg(offset);
    if (!stream_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes))) fail();
  }
  [[noreturn]] void fail() const {
    throw RunError(path_.string() + ": the recorded tasks are cut short");
  }

  std::filesystem::path path_;
  std::size_t first_worker_;
  std::vector<std::vector<Place>> places_;  ///< by worker
  std::vector<std::size_t> codelets_;
  std::ifstream stream_;
};

/// One worker's tasks, in order.
class Timeline::Cursor {
 public:
  Cursor(SpoolFile& file, std::size_t worker) : file_(&file), worker_(worker) { load(); }

  bool done() const { return at_ == tasks_.size(); }
  std::int64_t shown_start_ns() const { return std::max(tasks_[at_].started_ns, last_end_ns_); }

  Visit take() {
    const TimelineTask& task = tasks_[at_];
    const std::int64_t start = shown_start_ns();
    const std::int64_t end = std::max(start, task.ended_ns);
    const Visit visit{file_->first_worker() + worker_, file_->codelet(task.codelet), task, start,
                      end};
    last_end_ns_ = end;
    if (++at_ == tasks_.size()) load();
    return visit;
  }

 private:
  void load() {
    at_ = 0;
    tasks_.clear();
    const auto& places = file_->places(worker_);
    if (block_ < places.size()) file_->read(places[block_++], tasks_);
  }

  SpoolFile* file_;
  std::size_t worker_;
  std::size_t block_ = 0;
  std::vector<TimelineTask> tasks_;
  std::size_t at_ = 0;
  std::int64_t last_end_ns_ = 0;
};

Timeline::Timeline(const std::vector<TimelinePart>& parts) {
  for (const TimelinePart& part : parts) {
    std::vector<std::size_t> places;
    for (const TimelineCodelet& codelet : part.codelets) {
      const auto found = std::ranges::find(codelets_, codelet);
      places.push_back(static_cast<std::size_t>(found - codelets_.begin()));
      if (found == codelets_.end()) codelets_.push_back(codelet);
    }
    files_.push_back(std::make_unique<SpoolFile>(part, workers_.size(), std::move(places)));
    workers_.insert(workers_.end(), part.workers.begin(), part.workers.end());
    end_ns_ = std::max(end_ns_, part.end_ns);
  }
}

Timeline::~Timeline() = default;

void Timeline::for_each(const std::function<void(const Visit&)>& visit) const {
  std::vector<Cursor> cursors;
  for (const auto& file : files_) {
    for (std::size_t worker = 0; worker < file->workers(); ++worker) {
      cursors.emplace_back(*file, worker);
    }
  }
  using Head = std::pair<std::int64_t, std::size_t>;
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  for (std::size_t i = 0; i < cursors.size(); ++i) {
    if (!cursors[i].done()) heads.emplace(cursors[i].shown_start_ns(), i);
  }
  while (!heads.empty()) {
    const std::size_t next = heads.top().second;
    heads.pop();
    visit(cursors[next].take());
    if (!cursors[next].done()) heads.emplace(cursors[next].shown_start_ns(), next);
  }
}

void write_long_file_atomically(const std::filesystem::path& path,
                                const std::function<void(CheckedFile&)>& write) {
  const std::filesystem::path temporary = temporary_path(path);
  try {
    CheckedFile file(temporary, CheckedFile::Mode::create_new);
    write(file);
    file.synchronise();
    file.close();
    rename_durably(temporary, path);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw;
  }
}

}  // namespace starpmc
