#include "codelets/operation_codelet.hpp"

namespace starpmc::codelets {
namespace {

template <class Real>
struct PoseEnergies : TaskArguments {
  static constexpr const char* kName = "pose_energies";
  static constexpr auto kSimdKernel = simd::pose_energies<Real>;
  static constexpr auto kScalarKernel = scalar::pose_energies<Real>;
  enum : std::size_t { kLigand, kPositions, kReceptorBlocks, kReceptorSites, kEnergies };

  PoseInteraction interaction;
  opencl::PoseExtent extent;

  void host(Kernel<PoseEnergiesArguments<Real>> kernel, HostBuffers b) const {
    kernel({interaction, extent.sites, extent.poses, b.read<double>(kLigand),
            b.read<double>(kPositions), b.read<double>(kReceptorBlocks),
            b.read<Real>(kReceptorSites), b.write<double>(kEnergies)});
  }
  void device(OpenclPlace place, DeviceBuffers b) const {
    opencl::pose_energies(place.program, place.queue, interaction, extent,
                          {b.at(kLigand), b.at(kPositions), b.at(kReceptorBlocks),
                           b.at(kReceptorSites), b.at(kEnergies)});
  }
};

/// A codelet, and so a history, for each kind of interaction: their pairs take different times.
template <class Real, bool kLennardJones, bool kCutoff>
PotentialCodelet& codelet() {
  constexpr bool kNone = !kLennardJones && !kCutoff;
  const std::string kind = kNone                      ? ""
                           : kLennardJones && kCutoff ? "_12_6_cutoff"
                           : kLennardJones            ? "_12_6"
                                                      : "_cutoff";
  static PotentialCodelet codelet(operation_name<Real>((PoseEnergies<Real>::kName + kind).c_str()),
                                  implementations_of<Real, PoseEnergies<Real>>());
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
  const PoseEnergies<Real> task{{work_bucket(pairs)}, interaction, extent};
  const Access accesses[] = {{handles.ligand, STARPU_R},
                             {handles.positions, STARPU_R},
                             {handles.receptor_blocks, STARPU_R},
                             {handles.receptor_sites, STARPU_R},
                             {energies, STARPU_W}};
  codelet_for<Real>(interaction).submit(accesses, task);
}

STARPMC_FOR_ALL_PRECISIONS(pose_energies_model)
STARPMC_FOR_ALL_PRECISIONS(pose_energies)

}  // namespace starpmc::codelets
