/* Where the list of a window's steps in doubt has what. */
#ifndef STARPMC_OPENCL_DOUBT_LIST_H
#define STARPMC_OPENCL_DOUBT_LIST_H

#include "opencl/window.h"

/* Steps to evaluate again, exactly: a header, then per step of the list (index, from, to), then what
   every step of the window did. */
#define DOUBTS_COUNT 0
#define DOUBTS_ARRIVED 1 /* groups, in launches whose last group goes on */
#define DOUBTS_HEADER 4
#define DOUBT_INDEX 0
#define DOUBT_FROM 1
#define DOUBT_TO 2
#define DOUBT_FIELDS 3
#define DOUBTS_TAKEN (DOUBTS_HEADER + DOUBT_FIELDS * MOST_DOUBTS)

/* Behind that: where the group that decides asks others of its launch to take parts of an exact change, and
   they tell what they took (help.h). All 0 as a launch begins. */
#define BOARD_ASKED 0 /* questions so far; BOARD_END: no more will come */
#define BOARD_INDEX 1 /* of the last one */
#define BOARD_FROM 2
#define BOARD_TO 3
#define BOARD_CLAIMED 4 /* per question: parts given out */
#define BOARD_DONE (BOARD_CLAIMED + MOST_DOUBTS) /* and parts that others have written */
#define BOARD_SIZE (BOARD_DONE + MOST_DOUBTS)
#define BOARD_END 0x7FFFFFFF

static inline volatile __global int *help_board(__global int *doubt_list, WindowShape window) {
  return doubt_list + DOUBTS_TAKEN + window.layout.steps;
}

/* In a launch in which nobody asks or helps, by one group. */
static inline void clear_board(__global int *doubt_list, WindowShape window) {
  volatile __global int *board = help_board(doubt_list, window);
  for (int i = (int)get_local_id(0); i < BOARD_SIZE; i += (int)get_local_size(0)) board[i] = 0;
}

#endif
