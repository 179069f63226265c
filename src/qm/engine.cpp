#include "qm/engine.hpp"

#include <fmt/format.h>

namespace starpmc {

void QmEngine::restore(std::span<const double> state) {
  if (state.empty()) return;
  throw RunError(fmt::format("the QM engine {} has no state, found {} numbers to restore", name(),
                             state.size()));
}

}  // namespace starpmc
