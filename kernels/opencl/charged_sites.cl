#include "opencl/window.h"

/* One work-group. Lists the charged sites of the window's candidates without gaps, in order:
   sites: x, y, z, charge arrays of `capacity` values; first_site: per candidate, and the end. */
__kernel GROUP_OF(LIST_GROUP) void list_charged_sites(
    WindowShape window, BUFFER(topology_reals), BUFFER(topology_integers), BUFFER(plan),
    BUFFER(entries), int capacity, BUFFER(sites), BUFFER(first_site)) {
  CONSTANT_ARRAY(double, topology_reals);
  CONSTANT_ARRAY(int, topology_integers);
  CONSTANT_ARRAY(int, plan);
  CONSTANT_ARRAY(double, entries);
  ARRAY(double, sites);
  ARRAY(int, first_site);
  __local int before[LIST_GROUP + 1];
  const int item = (int)get_local_id(0);
  /* each item lists a run of consecutive candidates */
  const int run = (window.candidates + LIST_GROUP - 1) / LIST_GROUP;
  const int begin = min(item * run, window.candidates);
  const int end = min(begin + run, window.candidates);
  int charged = 0;
  for (int candidate = begin; candidate < end; ++candidate) {
    const int type = topology_integers[molecule_of_candidate(window, plan, candidate)];
    for (int site = 0; site < site_count(window.topology, topology_integers, type); ++site) {
      charged += site_charge(window.topology, topology_reals, type, site) != 0 ? 1 : 0;
    }
  }
  before[item + 1] = charged;
  if (item == 0) before[0] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  int index = 0;
  for (int earlier = 0; earlier <= item; ++earlier) index += before[earlier];
  for (int candidate = begin; candidate < end; ++candidate) {
    const int type = topology_integers[molecule_of_candidate(window, plan, candidate)];
    const double3 centre = entry_centre(window, entries, candidate);
    first_site[candidate] = index;
    for (int site = 0; site < site_count(window.topology, topology_integers, type); ++site) {
      const double charge = site_charge(window.topology, topology_reals, type, site);
      if (charge == 0) continue;
      const double3 position = centre + entry_displacement(window, entries, candidate, site);
      sites[index] = position.x;
      sites[capacity + index] = position.y;
      sites[2 * capacity + index] = position.z;
      sites[3 * capacity + index] = charge;
      ++index;
    }
  }
  if (item == LIST_GROUP - 1) first_site[window.candidates] = index;
}
