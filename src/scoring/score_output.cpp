#include "scoring/score_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <system_error>

namespace starpmc {
namespace {

bool better(const ScoredPose& a, const ScoredPose& b) {
  const double difference = a.energy.total() - b.energy.total();
  return difference < 0 || (difference == 0 && a.number < b.number);
}

std::filesystem::path cleared(std::filesystem::path path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);  // left by a process of the same number
  return path;
}

}  // namespace

void BestPoses::add(const ScoredPose& pose) {
  if (most_ == 0) return;
  if (heap_.size() == most_) {
    if (!better(pose, heap_.front())) return;
    std::ranges::pop_heap(heap_, better);
    heap_.pop_back();
  }
  heap_.push_back(pose);
  std::ranges::push_heap(heap_, better);
}

std::vector<ScoredPose> BestPoses::sorted() const {
  std::vector<ScoredPose> poses = heap_;
  std::ranges::sort(poses, better);
  return poses;
}

PoseTable::PoseTable(const std::filesystem::path& path, bool vdw)
    : path_(path), temporary_(cleared(temporary_path(path))), vdw_(vdw) {
  file_.emplace(temporary_, CheckedFile::Mode::create_new);
  file_->write(vdw ? "pose,coulomb_kj_per_mol,vdw_kj_per_mol,total_kj_per_mol,closest_angstrom,"
                     "overlap\n"
                   : "pose,coulomb_kj_per_mol,closest_angstrom,overlap\n");
}

PoseTable::~PoseTable() {
  file_.reset();
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);  // after commit() there is none
}

void PoseTable::append(const ScoredPose& pose) {
  const PoseEnergy& energy = pose.energy;
  line_.clear();
  auto out = std::back_inserter(line_);
  fmt::format_to(out, "{},{}", pose.number, energy.coulomb_kj_per_mol);
  if (vdw_) fmt::format_to(out, ",{},{}", energy.vdw_kj_per_mol, energy.total());
  if (std::isnan(energy.closest_angstrom)) {
    line_ += ",,0\n";
  } else {
    fmt::format_to(out, ",{:.4f},{}\n", energy.closest_angstrom, energy.overlaps() ? 1 : 0);
  }
  file_->write(line_);
}

void PoseTable::complete() {
  file_->synchronise();
  file_->close();
}

void PoseTable::commit() { rename_durably(temporary_, path_); }

std::string poses_text(const std::vector<ScoredPose>& poses, bool vdw) {
  std::string text = fmt::format("{:>12} {:>16}", "pose", "Coulomb");
  if (vdw) text += fmt::format(" {:>16} {:>16}", "12-6", "total");
  text += fmt::format(" {:>12}\n", "closest (A)");
  for (const ScoredPose& pose : poses) {
    const PoseEnergy& energy = pose.energy;
    text += fmt::format("{:>12} {:>16.6g}", pose.number, energy.coulomb_kj_per_mol);
    if (vdw) text += fmt::format(" {:>16.6g} {:>16.6g}", energy.vdw_kj_per_mol, energy.total());
    const std::string closest =
        std::isnan(energy.closest_angstrom) ? "" : fmt::format("{:.3f}", energy.closest_angstrom);
    text += fmt::format(" {:>12}{}\n", closest, energy.overlaps() ? "  overlap" : "");
  }
  return text;
}

}  // namespace starpmc
