#include <fmt/format.h>

#include "kernels/base/error.hpp"
#include "mpi/launch.hpp"
#include "mpi/ranks.hpp"

namespace starpmc {

std::unique_ptr<Ranks> join_mpi(const Launch& launch) {
  throw InputError(launch.launcher,
                   "several copies of this program were started, but it was built without MPI",
                   fmt::format("{} processes", launch.size),
                   "start it without " + launch.launcher +
                       ", or build it with MPI: install libopenmpi-dev and openmpi-bin, then "
                       "configure with -DSTARPMC_MPI=ON");
}

}  // namespace starpmc
