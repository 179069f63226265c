#include "kernels/opencl/host/team_window.hpp"

#include "kernels/opencl/host/window_work.hpp"

namespace starpmc::opencl {
namespace {

constexpr int kShareItems = 64;

DecideWork work_of(const Program& program, const TeamWindow& member) {
  return decide_work(program, member.window, groups_of_exact_changes(program), 0);
}

void sum_energies(Program& program, cl_command_queue queue, const TeamWindow& member,
                  std::span<const Buffer> own_energies) {
  qmmm_coulomb_grid_reduce(program, queue, member.window.extent.candidates, own_energies,
                           member.whole.decide.grid_energies);
  const Buffer partials[] = {member.whole.mm_partial};
  mm_pair_reduce(program, queue, member.window, partials, member.whole.decide.table,
                 member.whole.decide.mm_energies);
}

}  // namespace

std::size_t team_scratch_bytes(const Program& program, const WindowLayout& layout) {
  const Window largest{layout, {}, {}, {layout.steps, layout.candidates, layout.steps},
                       {},     {}, {}, {}};
  return decide_work(program, largest, groups_of_exact_changes(program), 0).total_bytes;
}

void team_evaluate(Program& program, cl_command_queue queue, const TeamWindow& member,
                   const StepRange& range, Buffer own_energies) {
  const Window& window = member.window;
  const WholeWindow& whole = member.whole;
  const DecideBuffers& decide = whole.decide;
  if (program.shape().last_group_goes_on) {
    const GridWork work = grid_work(program, window, whole.blocks);
    const Buffer sites{program.scratch(queue, work.total_bytes), 0};
    const Buffer partials = behind(sites, work.partials_bytes);
    propose_moves_and_sites(program, queue, window, range, decide.chain_state, decide.lattice,
                            whole.outside, work.capacity, sites);
    window_energies(program, queue, window, work, member.certification, whole, sites, partials);
    qmmm_coulomb_grid_sum(program, queue, window, work, sites, partials, own_energies);
    return;
  }
  propose_moves(program, queue, window, range, decide.chain_state, decide.lattice, whole.outside);
  qmmm_coulomb_grid(program, queue, window, whole.blocks, whole.block_headers, whole.points,
                    own_energies);
  qmmm_nuclei_vdw(program, queue, window, member.certification.nuclei, member.certification.solute,
                  decide.nuclei_energies);
  mm_pair(program, queue, window, 0, window.topology.molecules, decide.lattice,
          decide.lattice_sites, whole.outside, whole.mm_partial);
  mm_pair_table(program, queue, window, decide.table);
}

void team_decide(Program& program, cl_command_queue queue, const TeamWindow& member,
                 const StepTuning& tuning, std::span<const Buffer> own_energies) {
  sum_energies(program, queue, member, own_energies);
  metropolis_decide(program, queue, member.window, tuning, member.certification,
                    member.whole.decide);
}

void team_find_doubts(Program& program, cl_command_queue queue, const TeamWindow& member,
                      const StepTuning& tuning, std::span<const Buffer> own_energies,
                      Buffer own_shares) {
  const Window& window = member.window;
  const Certification& certification = member.certification;
  const DecideWork work = work_of(program, member);
  const Buffer answers = behind(member.scratch, work.answers_bytes);
  const std::size_t shared_bytes = size_of(program.shape().exact_group) * sizeof(cl_ulong);
  sum_energies(program, queue, member, own_energies);
  decide_at_first(program, queue, window, tuning, certification, member.whole.decide, work,
                  member.scratch);
  Launch(program, queue, "exact_grid_shares")
      .with(window_shape(window), window.interaction, cl_int{member.first_block},
            cl_int{member.whole.blocks})
      .with_buffers_of(window)
      .with(certification.exact_blocks, certification.exact_points, member.scratch, answers)
      .with_local(shared_bytes)
      .run({size_of(work.groups), 1}, {size_of(program.shape().exact_group), 1});
  Launch(program, queue, "collect_grid_shares")
      .with(cl_int{window.extent.candidates}, cl_int{work.groups}, member.scratch, answers,
            own_shares)
      .with_local(shared_bytes)
      .run({1, 1}, {size_of(program.shape().exact_group), 1});
}

void team_settle(Program& program, cl_command_queue queue, const TeamWindow& member,
                 const StepTuning& tuning, std::span<const Buffer> own_shares) {
  const Window& window = member.window;
  const Certification& certification = member.certification;
  const DecideWork work = work_of(program, member);
  const int candidates = window.extent.candidates;
  const Buffer sums{program.scratch(queue, size_of(candidates) * sizeof(cl_ulong)), 0};
  for (std::size_t i = 0; i < own_shares.size(); ++i) {
    Launch(program, queue, "add_grid_shares")
        .with(cl_int{candidates}, cl_int{i == 0}, own_shares[i], sums)
        .run({groups_for(candidates, kShareItems), 1}, {kShareItems, 1});
  }
  Launch(program, queue, "exact_changes_with_shares")
      .with(window_shape(window), window.interaction, cl_int{certification.nuclei},
            cl_int{certification.blocks})
      .with_buffers_of(window)
      .with(member.whole.decide.lattice, certification.solute, certification.exact_blocks,
            certification.exact_points, sums, member.scratch,
            behind(member.scratch, work.answers_bytes))
      .with_local(size_of(program.shape().exact_group) * sizeof(cl_ulong))
      .run({size_of(work.groups), 1}, {size_of(program.shape().exact_group), 1});
  settle_doubts(program, queue, window, tuning, certification, member.whole.decide, work,
                member.scratch);
}

}  // namespace starpmc::opencl
