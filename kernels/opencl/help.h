/* Groups of the launch that decides a window help the one that decides with exact changes, where a chain has
   a GPU to itself: by itself that group takes 0.1 us for each molecule of the box.

   They wait for its questions. It gives out a question's parts, takes those that nobody claims, and waits
   only for what is claimed: a group that does not run any more, or not yet, is not waited for. A group that
   waits ends after MOST_POLLS looks, so that it never keeps others from starting. */
#ifndef STARPMC_OPENCL_HELP_H
#define STARPMC_OPENCL_HELP_H

/* What a group wrote is seen by one that learns of it. */
#ifdef __NV_CL_C_VERSION
#define DEVICE_FENCE asm volatile("membar.gl;" ::: "memory")
#else
#define DEVICE_FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

/* No more questions will come. */
static inline void end_help(const Doubts *doubts) {
  if (doubts->parts > 1 && get_local_id(0) == 0) doubts->board[BOARD_ASKED] = BOARD_END;
}

#if LAST_GROUP_GOES_ON

#define MOST_POLLS 16384 /* some 10 ms */

/* What item 0 tells all. */
static inline int told_by_first(int value, __local ulong *shared) {
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (get_local_id(0) == 0) shared[0] = (ulong)(uint)value;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  const int told = (int)(uint)shared[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return told;
}

static inline int claimed_part(volatile __global int *board, int question, __local ulong *shared) {
  int part = 0;
  if (get_local_id(0) == 0) part = atomic_inc(board + BOARD_CLAIMED + question);
  return told_by_first(part, shared);
}

/* An item's share of an exact change without points that other groups help with. */
static inline ulong helped_change_part(const ExactSources *sources, const Doubts *doubts, int index,
                                       int from, int to, __local ulong *shared) {
  volatile __global int *board = doubts->board;
  const int question = doubts->met;
  const int first = get_local_id(0) == 0;
  DEVICE_FENCE; /* what the steps before did (tell_taken) */
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (first) {
    board[BOARD_INDEX] = index;
    board[BOARD_FROM] = from;
    board[BOARD_TO] = to;
    DEVICE_FENCE;
    board[BOARD_ASKED] = question + 1;
  }
  ulong units = 0;
  int own = 0;
  int part = claimed_part(board, question, shared);
  while (part < doubts->parts) {
    units += exact_change_share(sources, index, from, to, 0, part, doubts->parts);
    if (first) doubts->parts_of_others[part] = 0;
    ++own;
    part = claimed_part(board, question, shared);
  }
  if (first) {
    while (board[BOARD_DONE + question] < doubts->parts - own) {
    }
    DEVICE_FENCE;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  DEVICE_FENCE;
  volatile __global const ulong *parts = doubts->parts_of_others;
  for (int i = (int)get_local_id(0); i < doubts->parts; i += (int)get_local_size(0)) {
    units += parts[i];
  }
  return units;
}

/* Takes parts of exact changes until there are no more questions. */
static inline void help(const ExactSources *sources, volatile __global int *board, int parts,
                        __global ulong *parts_of_others, __local ulong *shared) {
  int known = 0;
  for (;;) {
    int asked = known;
    if (get_local_id(0) == 0) {
      for (int polls = 0; asked == known && polls < MOST_POLLS; ++polls) {
        asked = board[BOARD_ASKED];
      }
      if (asked == known) asked = BOARD_END;
      DEVICE_FENCE;
    }
    known = told_by_first(asked, shared);
    if (known == BOARD_END) return;
    DEVICE_FENCE;
    const int question = known - 1;
    const int part = claimed_part(board, question, shared);
    if (part >= parts) continue;
    const ulong share = exact_change_share(sources, board[BOARD_INDEX], board[BOARD_FROM],
                                           board[BOARD_TO], 0, part, parts);
    const ulong units = group_sum_units(share, shared);
    if (get_local_id(0) == 0) {
      parts_of_others[part] = units;
      DEVICE_FENCE;
      atomic_inc(board + BOARD_DONE + question);
    }
  }
}

/* In kernels that decide: all groups but the first help. */
#define HELP_UNLESS_FIRST                                                          \
  if (get_group_id(0) > 0) {                                                       \
    help(&deciding.exact, help_board(doubt_list, window), parts, answers, shared); \
    return;                                                                        \
  }
#else
#define HELP_UNLESS_FIRST
#endif

#endif
