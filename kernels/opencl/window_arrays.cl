#include "opencl/portable.h"
#include "opencl/kernel_arguments.h"

#if LAST_GROUP_GOES_ON

/* What a task's windows read and write again and again lies in memory of its own for each array; each
   memory object costs each launch half a microsecond. So it is brought to where the windows hand
   things to each other, once for a task, and what they have written back. */
#define COPY_ARRAY(K, COPY)                                                  \
  do {                                                                       \
    __global uint *array = (__global uint *)OF_BUFFER(array##K);             \
    __global uint *place = (__global uint *)handed_memory + arrays.place[K]; \
    for (int word = item; word < arrays.words[K]; word += items) COPY;       \
  } while (0)
/* Two kernels: each remembers its arguments from task to task. */
#define DEFINE_COPIES(NAME, COPY)                                                             \
  __kernel void NAME(__global char *handed_memory, HandedArrays arrays, BUFFER(array0),       \
                     BUFFER(array1), BUFFER(array2), BUFFER(array3), BUFFER(array4),          \
                     BUFFER(array5), BUFFER(array6), BUFFER(array7), BUFFER(array8),          \
                     BUFFER(array9)) {                                                        \
    const int item = (int)get_global_id(0);                                                   \
    const int items = (int)get_global_size(0);                                                \
    COPY_ARRAY(0, COPY);                                                                      \
    COPY_ARRAY(1, COPY);                                                                      \
    COPY_ARRAY(2, COPY);                                                                      \
    COPY_ARRAY(3, COPY);                                                                      \
    COPY_ARRAY(4, COPY);                                                                      \
    COPY_ARRAY(5, COPY);                                                                      \
    COPY_ARRAY(6, COPY);                                                                      \
    COPY_ARRAY(7, COPY);                                                                      \
    COPY_ARRAY(8, COPY);                                                                      \
    COPY_ARRAY(9, COPY);                                                                      \
  }
DEFINE_COPIES(bring_window_arrays, place[word] = array[word])
DEFINE_COPIES(put_window_arrays_back, array[word] = place[word])

#endif
