#include "mpi/launch.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace starpmc {
namespace {

/// 0: not set, or not a number
unsigned number_in(const char* variable) {
  const char* const value = std::getenv(variable);
  if (value == nullptr) return 0;
  const std::string_view text = value;
  unsigned number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool is_set(const char* variable) { return std::getenv(variable) != nullptr; }

}  // namespace

Launch launch_of_this_process() {
  // Open MPI's mpirun; those of MPICH and Intel, and srun --mpi=pmi2; srun --mpi=pmix.
  if (is_set("OMPI_COMM_WORLD_SIZE")) {
    return {Launch::Kind::mpi, "mpirun", number_in("OMPI_COMM_WORLD_SIZE")};
  }
  const unsigned tasks = number_in("SLURM_STEP_NUM_TASKS");
  const char* const launcher = tasks > 0 ? "srun" : "mpirun";
  if (is_set("PMI_RANK")) {
    return {Launch::Kind::mpi, launcher, is_set("PMI_SIZE") ? number_in("PMI_SIZE") : tasks};
  }
  if (is_set("PMIX_RANK")) return {Launch::Kind::mpi, launcher, tasks};
  if (tasks > 1 && is_set("SLURM_PROCID")) return {Launch::Kind::without_mpi, "srun", tasks};
  return {};
}

}  // namespace starpmc
