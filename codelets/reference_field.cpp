#include "codelets/operation_codelet.hpp"

namespace starpmc::codelets {
namespace {

struct ReferenceField : WindowArguments {
  static constexpr const char* kName = "reference_field";
  static constexpr auto kSimdKernel = simd::reference_field;
  static constexpr auto kScalarKernel = scalar::reference_field;
  enum : std::size_t {
    kPotentialValues = kWindowBuffers,
    kEnergies,
    kResponseValues,  // with a response
    kResponses
  };

  ReferenceLattices lattices;

  void host(Kernel<ReferenceFieldArguments> kernel, HostBuffers b) const {
    const bool responds = lattices.has_response();
    kernel({window_view(b, *this), lattices.potential, b.read<float>(kPotentialValues),
            lattices.response, b.read_if<ResponseCoefficient>(responds, kResponseValues),
            b.write<double>(kEnergies), b.write_if<std::int32_t>(responds, kResponses)});
  }
  void device(OpenclPlace place, DeviceBuffers b) const {
    const bool responds = lattices.has_response();
    opencl::reference_field(
        place.program, place.queue, opencl_window(b, *this),
        {lattices.potential, lattices.response, b.at(kPotentialValues),
         b.at_if(responds, kResponseValues), b.at(kEnergies), b.at_if(responds, kResponses)});
  }
};

}  // namespace

template <class Real>
void reference_field(const WindowHandles& window, const WindowArguments& arguments,
                     const ReferenceLattices& lattices, const ReferenceHandles& handles,
                     starpu_data_handle_t energies, starpu_data_handle_t responses) {
  std::vector<Access> accesses =
      accesses_of(window, {{handles.potential_values, STARPU_R}, {energies, STARPU_W}});
  if (lattices.has_response()) {
    accesses.push_back({handles.response_values, STARPU_R});
    accesses.push_back({responses, STARPU_W});
  }
  submit<Real>(ReferenceField{arguments, lattices},
               Work::reference_field(arguments.extent.candidates, lattices.response.components),
               accesses);
}

STARPMC_FOR_ALL_PRECISIONS(reference_field)

}  // namespace starpmc::codelets
