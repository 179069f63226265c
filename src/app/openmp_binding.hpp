#pragma once

namespace starpmc {

/// Gives the process the processors back that it was started with, where OMP_PROC_BIND, OMP_PLACES
/// or the like are set, and unsets them: the OpenMP library, which comes with StarPU, binds the
/// first thread of every program to one of them as it is loaded, and threads and QM workers would
/// stay there. To be called before any thread is started.
void undo_openmp_binding();

}  // namespace starpmc
