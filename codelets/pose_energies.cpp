#include "codelets/operations.hpp"

namespace starpmc::codelets {
namespace {

constexpr const char* kName = "pose_energies";

struct Arguments : TaskArguments {
  PoseInteraction interaction;
  opencl::PoseExtent extent;
};

template <class Real, void (*kKernel)(const PoseEnergiesArguments<Real>&)>
void on_cpu(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    kKernel({a.interaction, a.extent.sites, a.extent.poses, span_of<const double>(buffers[0]),
             span_of<const double>(buffers[1]), span_of<const double>(buffers[2]),
             span_of<const Real>(buffers[3]), span_of<double>(buffers[4])});
  });
}

template <class Real>
void on_opencl(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    const OpenclPlace place = opencl_place(kPrecisionOf<Real>);
    opencl::pose_energies(
        place.program, place.queue, a.interaction, a.extent,
        {opencl_buffer(buffers[0]), opencl_buffer(buffers[1]), opencl_buffer(buffers[2]),
         opencl_buffer(buffers[3]), opencl_buffer(buffers[4])});
  });
}

/// A codelet, and so a history, for each kind of interaction: their pairs take different times.
template <class Real, bool kLennardJones, bool kCutoff>
PotentialCodelet& codelet() {
  constexpr bool kNone = !kLennardJones && !kCutoff;
  const std::string kind = kNone                      ? ""
                           : kLennardJones && kCutoff ? "_12_6_cutoff"
                           : kLennardJones            ? "_12_6"
                                                      : "_cutoff";
  static PotentialCodelet codelet(operation_name<Real>((kName + kind).c_str()),
                                  {on_cpu<Real, simd::pose_energies<Real>>,
                                   on_cpu<Real, scalar::pose_energies<Real>>, on_opencl<Real>});
  return codelet;
}

template <class Real>
PotentialCodelet& codelet_for(const PoseInteraction& interaction) {
  if (interaction.lennard_jones != 0) {
    return interaction.cutoff != 0 ? codelet<Real, true, true>() : codelet<Real, true, false>();
  }
  return interaction.cutoff != 0 ? codelet<Real, false, true>() : codelet<Real, false, false>();
}

}  // namespace

template <class Real>
const std::string& pose_energies_model(const PoseInteraction& interaction) {
  return codelet_for<Real>(interaction).name();
}

template <class Real>
void pose_energies(const PoseInteraction& interaction, const opencl::PoseExtent& extent,
                   double pairs, const PoseHandles& handles, starpu_data_handle_t energies) {
  const Arguments a{{work_bucket(pairs)}, interaction, extent};
  const Access accesses[] = {{handles.ligand, STARPU_R},
                             {handles.positions, STARPU_R},
                             {handles.receptor_blocks, STARPU_R},
                             {handles.receptor_sites, STARPU_R},
                             {energies, STARPU_W}};
  codelet_for<Real>(interaction).submit(accesses, a);
}

STARPMC_FOR_ALL_PRECISIONS(pose_energies_model)
STARPMC_FOR_ALL_PRECISIONS(pose_energies)

}  // namespace starpmc::codelets
