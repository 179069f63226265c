#include "bench/step_observers.hpp"

#include <chrono>

#include "base/seconds_since.hpp"

namespace starpmc {
namespace {

constexpr std::size_t kDecisionsKept = 1000;
constexpr std::uint64_t kEnergyInterval = 100;

}  // namespace

void CountingObserver::on_step(std::uint64_t, bool accepted, const EnergyTerms&) {
  ++steps_;
  accepted_ += accepted ? 1 : 0;
  if (first_decisions_.size() < kDecisionsKept) first_decisions_.push_back(accepted);
}

WritingObserver::WritingObserver(const System& system, const std::filesystem::path& folder)
    : energies_(folder / "energies.csv"), trajectory_(folder / "trajectory.h5md", system) {}

template <class Body>
void WritingObserver::timed(Body&& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  seconds_ += seconds_since(start);
}

void WritingObserver::on_step(std::uint64_t step, bool accepted, const EnergyTerms& totals) {
  CountingObserver::on_step(step, accepted, totals);
  if (step % kEnergyInterval != 0) return;
  const double acceptance = static_cast<double>(this->accepted()) / static_cast<double>(steps());
  timed([&] { energies_.append(step, totals, 0, acceptance); });
}

void WritingObserver::on_frame(std::uint64_t step, std::span<const Molecule> molecules) {
  timed([&] { trajectory_.append(step, molecules); });
}

void WritingObserver::close() {
  timed([&] {
    energies_.close();
    trajectory_.close();
  });
}

}  // namespace starpmc
