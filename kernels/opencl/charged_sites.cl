#include "opencl/compact_block.h"
#include "opencl/window.h"

/* An item per candidate and site of its molecule. Sites without charge, or beyond a molecule's
   last, are nowhere: their distances compare as false. */
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
  const int candidate = index / window.layout.sites;
  const int site = index - candidate * window.layout.sites;
  double charge = 0;
  double3 position = (double3)(NAN, NAN, NAN);
  if (candidate < window.candidates) {
    const int type = topology_integers[molecule_of_candidate(window, plan, candidate)];
    if (site < site_count(window.topology, topology_integers, type)) {
      charge = site_charge(window.topology, topology_reals, type, site);
    }
    if (charge != 0) {
      position = entry_centre(window, entries, candidate) +
                 entry_displacement(window, entries, candidate, site);
    }
  }
  sites[index] = position.x;
  sites[capacity + index] = position.y;
  sites[2 * capacity + index] = position.z;
  sites[3 * capacity + index] = charge;
  __global real *rounded = (__global real *)(sites + CHARGED_SITE_FIELDS * capacity);
  rounded[index] = (real)position.x;
  rounded[capacity + index] = (real)position.y;
  rounded[2 * capacity + index] = (real)position.z;
}
