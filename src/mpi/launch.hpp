#pragma once

#include <memory>
#include <string>

namespace starpmc {

class Ranks;

/// How this process was started, as its environment tells.
struct Launch {
  enum class Kind { alone, mpi, without_mpi };
  Kind kind = Kind::alone;
  std::string launcher;  ///< "mpirun", "srun"
  unsigned size = 1;     ///< processes it started; 0: not told
};

/// `without_mpi`: srun has started several copies, but no MPI plugin of it has told them so.
Launch launch_of_this_process();

/// Joins the ranks of the launch.
/// @throws InputError where that cannot be
std::unique_ptr<Ranks> join_mpi(const Launch& launch);

std::string host_name();

}  // namespace starpmc
