#include "app/openmp_binding.hpp"

#include <dlfcn.h>
#include <sched.h>

#include <cstdlib>
#include <numeric>
#include <vector>

namespace starpmc {
namespace {

constexpr const char* kBindings[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY",
                                     "KMP_AFFINITY"};

/// Function of the OpenMP library, if there is one: the program itself does not need it.
template <class Function>
Function* openmp(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

/// Of all places, which OpenMP makes of the processors that a process may use.
std::vector<int> processors_of_places() {
  auto* const count = openmp<int()>("omp_get_num_places");
  auto* const size = openmp<int(int)>("omp_get_place_num_procs");
  auto* const numbers = openmp<void(int, int*)>("omp_get_place_proc_ids");
  std::vector<int> processors;
  if (count == nullptr || size == nullptr || numbers == nullptr) return processors;
  for (int place = 0; place < count(); ++place) {
    std::vector<int> here(static_cast<std::size_t>(size(place)));
    numbers(place, here.data());
    processors.insert(processors.end(), here.begin(), here.end());
  }
  return processors;
}

void run_on(const std::vector<int>& processors) {
  const int most = std::accumulate(processors.begin(), processors.end(), 0,
                                   [](int a, int b) { return a > b ? a : b; });
  constexpr std::size_t kBits = 8 * sizeof(unsigned long);
  std::vector<unsigned long> mask(static_cast<std::size_t>(most) / kBits + 1);
  for (const int processor : processors) {
    const auto bit = static_cast<std::size_t>(processor);
    mask[bit / kBits] |= 1UL << (bit % kBits);
  }
  // Where it fails the process stays where it is.
  sched_setaffinity(0, mask.size() * sizeof(unsigned long),
                    reinterpret_cast<const cpu_set_t*>(mask.data()));
}

}  // namespace

void undo_openmp_binding() {
  bool any = false;
  for (const char* const name : kBindings) any = any || std::getenv(name) != nullptr;
  if (!any) return;
  const std::vector<int> processors = processors_of_places();
  if (!processors.empty()) run_on(processors);
  for (const char* const name : kBindings) unsetenv(name);
}

}  // namespace starpmc
