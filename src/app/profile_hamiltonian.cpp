#include "app/profile_hamiltonian.hpp"

#include <starpu.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "app/run_reference.hpp"
#include "io/reference_file.hpp"
#include "potential/dispersion_correction.hpp"
#include "sampling/reference_tables.hpp"

namespace starpmc {
namespace {

/// Threads that evaluate frames, for each worker: one prepares or reads while another's are
/// computed.
constexpr unsigned kThreadsPerWorker = 2;
constexpr unsigned kMostThreads = 32;
/// That a thread takes at a time.
constexpr std::size_t kFramesOfThread = 8;

}  // namespace

ImageHamiltonian::ImageHamiltonian(const ProfileImages& images, std::size_t image) {
  const auto file = RunReference::path_in(images.folder(image));
  const SoluteReference reference = read_reference(
      file, file.string(), "put it back, or remove the folder so that the image is sampled again");
  const auto tables = std::make_shared<const ReferenceTables>(reference);
  const System system = images.system_of(image);
  // As a run's total energy has it: a constant, but one of the image's Lennard-Jones types.
  own_energy_ = reference.solute_energy_kj_per_mol +
                dispersion_correction(system, images.inputs().settings).energy_kj_per_mol;
  const unsigned count =
      std::clamp(kThreadsPerWorker * starpu_worker_get_count(), 1U, kMostThreads);
  for (unsigned k = 0; k < count; ++k) {
    evaluators_.push_back(
        std::make_unique<SoluteEnergies>(system, images.inputs().settings, tables));
  }
}

std::vector<double> ImageHamiltonian::operator()(std::span<const std::vector<Molecule>> frames) {
  std::vector<double> energies(frames.size());
  std::vector<std::exception_ptr> failures(evaluators_.size());
  std::atomic<std::size_t> next = 0;
  const auto evaluate = [&](std::size_t own) {
    try {
      for (std::size_t first = next.fetch_add(kFramesOfThread); first < frames.size();
           first = next.fetch_add(kFramesOfThread)) {
        const auto some = frames.subspan(first, std::min(kFramesOfThread, frames.size() - first));
        std::ranges::transform(
            evaluators_[own]->of(some), &energies[first],
            [this](const EnergyTerms& terms) { return own_energy_ + terms.total(); });
      }
    } catch (...) {
      failures[own] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    const std::size_t pieces = (frames.size() + kFramesOfThread - 1) / kFramesOfThread;
    const std::size_t count = std::min(evaluators_.size(), pieces);
    for (std::size_t own = 1; own < count; ++own) others.emplace_back(evaluate, own);
    evaluate(0);
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return energies;
}

}  // namespace starpmc
