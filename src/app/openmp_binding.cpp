#include "app/openmp_binding.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

#include "base/processors.hpp"

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

}  // namespace

void undo_openmp_binding() {
  bool any = false;
  for (const char* const name : kBindings) any = any || std::getenv(name) != nullptr;
  if (!any) return;
  if (const std::vector<int> numbers = processors_of_places(); !numbers.empty()) {
    processors_at_start() = Processors(numbers);
    processors_at_start().use();
  }
  for (const char* const name : kBindings) unsetenv(name);
}

}  // namespace starpmc
