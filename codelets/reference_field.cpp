#include "codelets/operations.hpp"

namespace starpmc::codelets {
namespace {

constexpr const char* kName = "reference_field";

struct Arguments : WindowArguments {
  ReferenceLattices lattices;
};

enum Buffers : std::size_t {
  kPotentialValues = kWindowBuffers,
  kEnergies,
  kResponseValues,  // with a response
  kResponses
};

template <void (*kKernel)(const ReferenceFieldArguments&)>
void on_cpu(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    ReferenceFieldArguments field{window_view(buffers, a),
                                  a.lattices.potential,
                                  span_of<const float>(buffers[kPotentialValues]),
                                  a.lattices.response,
                                  {},
                                  span_of<double>(buffers[kEnergies]),
                                  {}};
    if (a.lattices.has_response()) {
      field.response_values = span_of<const float>(buffers[kResponseValues]);
      field.responses = span_of<std::int32_t>(buffers[kResponses]);
    }
    kKernel(field);
  });
}

template <class Real>
void on_opencl(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    const OpenclPlace place = opencl_place(kPrecisionOf<Real>);
    opencl::ReferenceField field{a.lattices.potential,
                                 a.lattices.response,
                                 opencl_buffer(buffers[kPotentialValues]),
                                 {},
                                 opencl_buffer(buffers[kEnergies]),
                                 {}};
    if (a.lattices.has_response()) {
      field.response_values = opencl_buffer(buffers[kResponseValues]);
      field.responses = opencl_buffer(buffers[kResponses]);
    }
    opencl::reference_field(place.program, place.queue, opencl_window(buffers, a), field);
  });
}

}  // namespace

template <class Real>
void reference_field(const WindowHandles& window, const WindowArguments& arguments,
                     const ReferenceLattices& lattices, const ReferenceHandles& handles,
                     starpu_data_handle_t energies, starpu_data_handle_t responses) {
  static PotentialCodelet codelet(
      operation_name<Real>(kName),
      {on_cpu<simd::reference_field>, on_cpu<scalar::reference_field>, on_opencl<Real>});
  Arguments a{arguments, lattices};
  a.work_bucket =
      work_bucket(Work::reference_field(arguments.extent.candidates, lattices.response.components));
  std::vector<Access> accesses =
      accesses_of(window, {{handles.potential_values, STARPU_R}, {energies, STARPU_W}});
  if (lattices.has_response()) {
    accesses.push_back({handles.response_values, STARPU_R});
    accesses.push_back({responses, STARPU_W});
  }
  codelet.submit(accesses, a);
}

STARPMC_FOR_ALL_PRECISIONS(reference_field)

}  // namespace starpmc::codelets
