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
/// That a thread takes at a time, under one Hamiltonian.
constexpr std::size_t kFramesOfThread = 8;

}  // namespace

ImageHamiltonian::ImageHamiltonian(const ProfileImages& images, std::size_t image)
    : settings_(images.inputs().settings), system_(images.system_of(image)) {
  const auto file = RunReference::path_in(images.folder(image));
  const SoluteReference reference = read_reference(
      file, file.string(), "put it back, or remove the folder so that the image is sampled again");
  tables_ = std::make_shared<const ReferenceTables>(reference);
  // As a run's total energy has it: a constant, but one of the image's Lennard-Jones types.
  own_energy_ = reference.solute_energy_kj_per_mol +
                dispersion_correction(system_, settings_).energy_kj_per_mol;
}

std::unique_ptr<SoluteEnergies> ImageHamiltonian::take_evaluator() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<SoluteEnergies> evaluator = std::move(idle_.back());
      idle_.pop_back();
      return evaluator;
    }
  }
  return make_solute_energies(system_, settings_, tables_);
}

void ImageHamiltonian::evaluate(std::span<const std::vector<Molecule>> frames,
                                std::span<double> energies) {
  std::unique_ptr<SoluteEnergies> evaluator = take_evaluator();
  std::ranges::transform(evaluator->of(frames), energies.begin(),
                         [this](const EnergyTerms& terms) { return own_energy_ + terms.total(); });
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(evaluator));
}

ImageHamiltonians::ImageHamiltonians(const ProfileImages& images) {
  for (std::size_t image = 0; image < images.count(); ++image) {
    images_.push_back(std::make_unique<ImageHamiltonian>(images, image));
  }
}

std::vector<std::vector<double>> ImageHamiltonians::operator()(
    std::span<const std::vector<Molecule>> frames, const std::function<bool()>& stop) {
  std::vector<std::vector<double>> energies(images_.size(), std::vector<double>(frames.size()));
  const std::size_t pieces =
      images_.size() * ((frames.size() + kFramesOfThread - 1) / kFramesOfThread);
  std::vector<std::exception_ptr> failures(
      std::clamp(kThreadsPerWorker * starpu_worker_get_count(), 1U, kMostThreads));
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stopped = false;
  const auto evaluate = [&](std::size_t thread) {
    try {
      for (std::size_t piece = next++; piece < pieces && !stopped; piece = next++) {
        // Neighbours in time are of other images: none has many evaluators at work.
        const std::size_t image = piece % images_.size();
        const std::size_t first = piece / images_.size() * kFramesOfThread;
        const std::size_t count = std::min(kFramesOfThread, frames.size() - first);
        images_[image]->evaluate(frames.subspan(first, count),
                                 std::span(energies[image]).subspan(first, count));
        if (stop()) stopped = true;
      }
    } catch (...) {
      failures[thread] = std::current_exception();
      stopped = true;
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t thread = 1; thread < std::min(failures.size(), pieces); ++thread) {
      others.emplace_back(evaluate, thread);
    }
    evaluate(0);
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  if (stopped) energies.clear();
  return energies;
}

}  // namespace starpmc
