#include "app/reference_lattices.hpp"

#include "kernels/base/error.hpp"

namespace starpmc {

void make_reference_lattices(const SoluteResponse&, const System&, const Settings&, Fineness,
                             QmEngine&, const WorkProgress&, SoluteReference&) {
  throw RunError("the exact ensemble's tables are not there yet");
}

}  // namespace starpmc
