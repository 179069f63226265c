#include <starpu_opencl.h>

#include "codelets/operations.hpp"
#include "codelets/virial_programs.hpp"

namespace starpmc::codelets {
namespace {

constexpr const char* kName = "pair_virial";

struct Arguments : TaskArguments {
  PairVirialConstants constants;
  int first_molecule;
  int last_molecule;
  int blocks;
  bool solute;
  bool density;
};

/// Which of a task's buffers is what.
enum Place : std::size_t { kLattice = kTopologyIntegers + 1, kSums, kSolute, kBlocks, kPoints };

std::size_t place(const Arguments& a, Place wanted) {
  return wanted > kSolute && !a.solute ? wanted - 1U : wanted;
}

template <void (*kKernel)(const PairVirialArguments&)>
void on_cpu(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    const HostBuffers b(buffers);
    const PairVirialConstants& c = a.constants;
    kKernel({c.interaction,
             topology_view(b, c.topology),
             c.functions,
             b.read<double>(kLattice),
             a.first_molecule,
             a.last_molecule,
             b.read_if<double>(a.solute, kSolute),
             a.solute ? c.nuclei : 0,
             {c.solute_centre[0], c.solute_centre[1], c.solute_centre[2]},
             b.read_if<double>(a.density, place(a, kBlocks)),
             b.read_if<double>(a.density, place(a, kPoints)),
             b.write<double>(kSums)});
  });
}

void on_opencl(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    const DeviceBuffers b(buffers);
    const PairVirialConstants& c = a.constants;
    const opencl::VirialShape shape{c.interaction,
                                    c.topology,
                                    {c.solute_centre[0], c.solute_centre[1], c.solute_centre[2]},
                                    a.first_molecule,
                                    a.solute ? c.nuclei : 0,
                                    a.density ? a.blocks : 0,
                                    0};
    cl_command_queue queue = nullptr;
    starpu_opencl_get_queue(starpu_worker_get_devid(starpu_worker_get_id()), &queue);
    virial_program(*c.functions)
        .run(queue, shape, a.last_molecule,
             {b.at(kTopologyReals), b.at(kTopologyIntegers), b.at(kLattice),
              b.at_if(a.solute, kSolute), b.at_if(a.density, place(a, kBlocks)),
              b.at_if(a.density, place(a, kPoints)), b.at(kSums)});
  });
}

}  // namespace

template <class Real>
void pair_virial(const PairVirialConstants& constants, int first_molecule, int last_molecule,
                 const PairVirialHandles& handles) {
  static PotentialCodelet codelet(
      operation_name<Real>(kName),
      {on_cpu<simd::pair_virial>, on_cpu<scalar::pair_virial>, on_opencl});
  Arguments a{{},
              constants,
              first_molecule,
              last_molecule,
              static_cast<int>(handles.blocks),
              handles.solute != nullptr,
              handles.points != nullptr};
  const int molecules = last_molecule - first_molecule;
  a.work_bucket = work_bucket(Work::pair_virial(molecules, constants.topology.molecules,
                                                static_cast<double>(handles.blocks)));
  std::vector<Access> accesses{{handles.topology_reals, STARPU_R},
                               {handles.topology_integers, STARPU_R},
                               {handles.lattice, STARPU_R},
                               {handles.sums, STARPU_W}};
  if (a.solute) accesses.push_back({handles.solute, STARPU_R});
  if (a.density) {
    accesses.push_back({handles.block_headers, STARPU_R});
    accesses.push_back({handles.points, STARPU_R});
  }
  codelet.submit(accesses, a);
}

STARPMC_FOR_ALL_PRECISIONS(pair_virial)

}  // namespace starpmc::codelets
