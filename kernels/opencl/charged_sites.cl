#include "opencl/charged_site.h"

/* An item per candidate and site of its molecule. */
__kernel GROUP_OF(SITE_GROUP) void place_charged_sites(WindowShape window,
                                                       BUFFER(topology_reals),
                                                       BUFFER(topology_integers), BUFFER(plan),
                                                       BUFFER(entries), int capacity,
                                                       BUFFER(sites)) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(int, plan);
  CONSTANT_ARRAY(double, entries);
  ARRAY(double, sites);
  const int index = (int)get_global_id(0);
  if (index >= capacity) return;
  place_charged_site(window, topology_reals, topology_integers, plan, entries, capacity, index,
                     sites);
}
