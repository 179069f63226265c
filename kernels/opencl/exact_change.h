/* Exact energy change of one step (kernels/exact_energies.hpp), shared out over any number of items:
   the sum of their units is the change, whoever adds what. */
#ifndef STARPMC_OPENCL_EXACT_CHANGE_H
#define STARPMC_OPENCL_EXACT_CHANGE_H

#include "opencl/moves.h"
#include "opencl/reduction.h"
#include "opencl/exact_terms.h"
#include "opencl/window.h"

/* What an exact change is computed from. */
typedef struct {
  WindowShape window;
  Interaction interaction;
  double inverse_box[3];
  double coulomb_squared, vdw_squared, inverse_cutoff, reach;
  int nuclei;
  int blocks;
  __global const double *topology_reals;
  __global const int *topology_integers;
  __global const int *plan;
  __global const double *entries;
  __global const double *lattice;
  __global const double *solute;
  __global const double *exact_blocks;
  __global const double *exact_points;
  __global const int *taken; /* per step: the candidate it moved to, or -1 */
} ExactSources;

static inline double3 exact_image3(const ExactSources *s, double3 d) {
  return (double3)(exact_image(d.x, s->interaction.box[0], s->inverse_box[0]),
                   exact_image(d.y, s->interaction.box[1], s->inverse_box[1]),
                   exact_image(d.z, s->interaction.box[2], s->inverse_box[2]));
}

static inline double exact_squared(const ExactSources *s, double3 displacement) {
  const double3 d = exact_image3(s, displacement);
  return exact_distance_squared(d.x, d.y, d.z);
}

/* Whether two molecules' centres are near enough for any energy. A pair of sites is never nearer than
   the centres' nearest images less both radii, so this holds in small boxes, too. */
static inline int exact_in_reach(const ExactSources *s, double3 a, double3 b) {
  const double3 d = exact_image3(s, a - b);
  return d.x * d.x + (d.y * d.y + d.z * d.z) < s->reach * s->reach;
}

static inline ExactSources exact_sources(
    WindowShape window, Interaction interaction, int nuclei, int blocks,
    __global const double *topology_reals, __global const int *topology_integers,
    __global const int *plan, __global const double *entries, __global const double *lattice,
    __global const double *solute, __global const double *exact_blocks,
    __global const double *exact_points, __global const int *taken) {
  ExactSources s;
  s.window = window;
  s.interaction = interaction;
  for (int k = 0; k < 3; ++k) s.inverse_box[k] = 1.0 / interaction.box[k];
  s.coulomb_squared = interaction.coulomb_cutoff * interaction.coulomb_cutoff;
  s.vdw_squared = interaction.vdw_cutoff * interaction.vdw_cutoff;
  s.inverse_cutoff = 1.0 / interaction.coulomb_cutoff;
  s.nuclei = nuclei;
  s.blocks = blocks;
  s.topology_reals = topology_reals;
  s.topology_integers = topology_integers;
  s.plan = plan;
  s.entries = entries;
  s.lattice = lattice;
  s.solute = solute;
  s.exact_blocks = exact_blocks;
  s.exact_points = exact_points;
  s.taken = taken;
  s.reach = fmax(interaction.coulomb_cutoff, interaction.vdw_cutoff) +
            2 * window.topology.largest_radius + BLOCK_MARGIN;
  return s;
}

/* Whether a step has put its molecule where it is before step `index`. */
static inline int holds_until(const ExactSources *s, int step, int index) {
  __global const int *slots = s->plan + plan_step_slot(s->window.layout);
  int holds = s->taken[step] >= 0;
  for (int later = step + 1; later < index; ++later) {
    if (slots[later] == slots[step] && s->taken[later] >= 0) holds = 0;
  }
  return holds;
}

/* A molecule in the lattice or at an entry (-1: in the lattice). */
typedef struct {
  int molecule;
  int entry;
  int type;
  double pose[POSE_FIELDS];
} Placed;

/* A field of its pose. */
static inline double placed_field(const ExactSources *s, int molecule, int entry, int field) {
  return entry < 0 ? s->lattice[field * s->window.layout.molecules + molecule]
                   : entry_field(s->window, s->entries, field, entry);
}

static inline Placed placed_molecule(const ExactSources *s, int molecule, int entry) {
  Placed placed;
  placed.molecule = molecule;
  placed.entry = entry;
  placed.type = s->topology_integers[molecule];
  for (int field = 0; field < POSE_FIELDS; ++field) {
    placed.pose[field] = placed_field(s, molecule, entry, field);
  }
  return placed;
}

static inline double3 centre_of(const Placed *placed) {
  return (double3)(placed->pose[0], placed->pose[1], placed->pose[2]);
}

static inline double3 exact_site(const ExactSources *s, const Placed *placed, int site) {
  if (placed->entry >= 0) {
    return centre_of(placed) + entry_displacement(s->window, s->entries, placed->entry, site);
  }
  __global const double *r =
      s->topology_reals + topology_site(s->window.topology, placed->type, site);
  const double reference[3] = {r[0], r[1], r[2]};
  double displacement[3];
  rotate_site(placed->pose, reference, displacement);
  return centre_of(placed) + (double3)(displacement[0], displacement[1], displacement[2]);
}

static inline ulong exact_with_molecule(const ExactSources *s, const Placed *a, const Placed *b) {
  const TopologyShape topology = s->window.topology;
  double coulomb = 0;
  double vdw = 0;
  for (int i = 0; i < site_count(topology, s->topology_integers, a->type); ++i) {
    const double3 site_a = exact_site(s, a, i);
    const double charge_a = site_charge(topology, s->topology_reals, a->type, i);
    for (int j = 0; j < site_count(topology, s->topology_integers, b->type); ++j) {
      const double r2 = exact_squared(s, site_a - exact_site(s, b, j));
      const double charge = STARPMC_COULOMB_CONSTANT *
                            (charge_a * site_charge(topology, s->topology_reals, b->type, j));
      coulomb += exact_pair_coulomb(r2, charge, s->coulomb_squared, s->inverse_cutoff);
      vdw += exact_mm_vdw(
          r2,
          s->topology_reals + topology_pair(topology,
                                            site_type(topology, s->topology_integers, a->type, i),
                                            site_type(topology, s->topology_integers, b->type, j)),
          topology.pairs, s->vdw_squared);
    }
  }
  return UNITS_OF_MOLECULES(coulomb) + UNITS_OF_MOLECULES(vdw);
}

static inline ulong exact_with_nucleus(const ExactSources *s, const Placed *placed, int site,
                                       int nucleus) {
  const TopologyShape topology = s->window.topology;
  const double3 position = (double3)(s->solute[nucleus], s->solute[s->nuclei + nucleus],
                                     s->solute[2 * s->nuclei + nucleus]);
  const double charge = STARPMC_COULOMB_CONSTANT *
                        site_charge(topology, s->topology_reals, placed->type, site);
  const double r2 = exact_squared(s, exact_site(s, placed, site) - position);
  const double coulomb = exact_pair_coulomb(r2, charge * s->solute[3 * s->nuclei + nucleus],
                                            s->coulomb_squared, s->inverse_cutoff);
  const double vdw = exact_qmmm_vdw(
      r2,
      s->topology_reals + topology_pair(topology,
                                        site_type(topology, s->topology_integers, placed->type,
                                                  site),
                                        (int)s->solute[4 * s->nuclei + nucleus]),
      topology.pairs, s->vdw_squared);
  return UNITS_OF_NUCLEUS(coulomb) + UNITS_OF_NUCLEUS(vdw);
}

/* Charged sites of a molecule before and after its step that meet the points together: each loaded
   point serves all of them. */
#define MOVED_SITES 6
/* Items that share a block's points. */
#define EXACT_TEAM 64

typedef struct {
  double3 position;
  double factor; /* the Coulomb constant times its charge; 0: no site */
} MovedSite;

static inline MovedSite moved_site(const ExactSources *s, const Placed *before, const Placed *after,
                                   int at, int sites) {
  MovedSite moved = {(double3)(0.0, 0.0, 0.0), 0.0};
  if (at >= 2 * sites) return moved;
  const Placed *placed = at < sites ? after : before;
  moved.factor = STARPMC_COULOMB_CONSTANT * site_charge(s->window.topology, s->topology_reals,
                                                        placed->type, at % sites);
  if (moved.factor != 0) moved.position = exact_site(s, placed, at % sites);
  return moved;
}

/* One bit for each site that may be in reach of a block. */
static inline uint sites_near(const ExactSources *s, const MovedSite *moved,
                              __global const double *header) {
  const double reach = s->interaction.coulomb_cutoff + header[BLOCK_RADIUS] + BLOCK_MARGIN;
  const double3 origin = (double3)(header[0], header[1], header[2]);
  uint near = 0;
  _Pragma("unroll") for (int k = 0; k < MOVED_SITES; ++k) {
    const double3 d = exact_image3(s, moved[k].position - origin);
    const int in_reach = d.x * d.x + (d.y * d.y + d.z * d.z) < reach * reach;
    near |= (uint)(moved[k].factor != 0 && in_reach) << k;
  }
  return near;
}

static inline ulong exact_with_point(const ExactSources *s, MovedSite site, double3 point,
                                     double charge, double inverse_square) {
  const double r2 = exact_squared(s, site.position - point);
  const double charges = site.factor * charge;
  const ulong units =
      exact_units(exact_pair_coulomb(r2, charges, s->coulomb_squared, s->inverse_cutoff));
  if (!(r2 * inverse_square < 1)) return units;
  return units + exact_units(charges * STARPMC_COULOMB_POLE * exact_extent(r2, inverse_square));
}

/* Share of one group out of `groups` in the change of the grid term, shared among teams of its
   items. */
static inline ulong exact_grid_change(const ExactSources *s, const Placed *before,
                                      const Placed *after, int group, int groups) {
  const int item = (int)get_local_id(0);
  const int team = min((int)get_local_size(0), EXACT_TEAM);
  const int teams = (int)get_local_size(0) / team;
  const int sites = site_count(s->window.topology, s->topology_integers, after->type);
  ulong units = 0;
  for (int first = 0; first < 2 * sites; first += MOVED_SITES) {
    MovedSite moved[MOVED_SITES];
    _Pragma("unroll") for (int k = 0; k < MOVED_SITES; ++k) {
      moved[k] = moved_site(s, before, after, first + k, sites);
    }
    for (int block = group * teams + item / team; block < s->blocks; block += groups * teams) {
      const uint near = sites_near(s, moved, s->exact_blocks + block * BLOCK_FIELDS);
      if (near == 0) continue;
      __global const double *points = s->exact_points + (ulong)block * STARPMC_BLOCK_VALUES;
      for (int i = item % team; i < STARPMC_BLOCK_POINTS; i += team) {
        const double3 point = (double3)(points[i], points[STARPMC_BLOCK_POINTS + i],
                                        points[2 * STARPMC_BLOCK_POINTS + i]);
        const double charge = points[3 * STARPMC_BLOCK_POINTS + i];
        const double inverse_square = points[4 * STARPMC_BLOCK_POINTS + i];
        _Pragma("unroll") for (int k = 0; k < MOVED_SITES; ++k) {
          if ((near >> k & 1) == 0) continue;
          const ulong pair = exact_with_point(s, moved[k], point, charge, inverse_square);
          units += first + k < sites ? pair : (ulong)0 - pair;
        }
      }
    }
  }
  return units;
}

/* Share of one group out of `groups` in the energy of a molecule with the nuclei, shared among the
   group's items. */
static inline ulong exact_with_nuclei(const ExactSources *s, const Placed *placed, int group,
                                      int groups) {
  const int sites = site_count(s->window.topology, s->topology_integers, placed->type);
  ulong units = 0;
  for (int pair = (int)get_local_id(0) * groups + group; pair < sites * s->nuclei;
       pair += groups * (int)get_local_size(0)) {
    units += exact_with_nucleus(s, placed, pair / s->nuclei, pair % s->nuclei);
  }
  return units;
}

/* An energy with another molecule, before step `index` or after it, in the change that this makes: with all
   molecules where the lattice has them, and what is otherwise since the window has moved some. */
typedef struct {
  int molecule;
  int entry; /* -1: in the lattice */
  int is_after;
  int is_left; /* the window has moved it from there */
} OtherEnergy;

static inline int other_energies(const ExactSources *s, int index) {
  return 2 * s->window.topology.molecules + 4 * index;
}

static inline OtherEnergy other_energy(const ExactSources *s, int task) {
  const int molecules = s->window.topology.molecules;
  const int place = task / 2;
  const int step = max(place - molecules, 0) / 2;
  const int in_lattice = place < molecules || (place - molecules) % 2;
  OtherEnergy other;
  other.molecule = place < molecules
                       ? place
                       : s->plan[plan_step_molecule(s->window.layout) + step];
  other.entry = in_lattice ? -1 : s->taken[step];
  other.is_after = task % 2;
  other.is_left = place >= molecules && in_lattice;
  return other;
}

/* Whether it is one, and the molecule in reach. */
static inline int counts(const ExactSources *s, int index, int task, const Placed *before,
                         const Placed *after) {
  const OtherEnergy other = other_energy(s, task);
  const Placed *self = other.is_after ? after : before;
  const int step = task / 2 - s->window.topology.molecules;
  if (other.molecule == self->molecule) return 0;
  if (step >= 0 && !holds_until(s, step / 2, index)) return 0;
  double centre[3];
  for (int k = 0; k < 3; ++k) {
    centre[k] = placed_field(s, other.molecule, other.entry, k);
  }
  return exact_in_reach(s, centre_of(self), (double3)(centre[0], centre[1], centre[2]));
}

/* Share of one group in the energy change with other molecules, shared among its items. Each looks for its
   next molecule in reach first: then neighbouring items evaluate together, on a GPU in the time of one. Few
   molecules are for some items of each group, not for all of some. */
static inline ulong exact_with_molecules(const ExactSources *s, int index, const Placed *before,
                                         const Placed *after, int group, int groups) {
  const int items = groups * (int)get_local_size(0);
  const int tasks = other_energies(s, index);
  ulong units = 0;
  int task = (int)get_local_id(0) * groups + group;
  while (task < tasks) {
    while (task < tasks && !counts(s, index, task, before, after)) task += items;
    if (task < tasks) {
      const OtherEnergy other = other_energy(s, task);
      const Placed placed = placed_molecule(s, other.molecule, other.entry);
      const ulong energy = exact_with_molecule(s, other.is_after ? after : before, &placed);
      units += other.is_after != other.is_left ? energy : (ulong)0 - energy;
      task += items;
    }
  }
  return units;
}

/* Share of one group in the energy change of step `index`, shared among the group's items.
   with_points: with the density's points, too */
static inline ulong exact_change_share(const ExactSources *s, int index, int from, int to,
                                       int with_points, int group, int groups) {
  const int moved = s->plan[plan_step_molecule(s->window.layout) + index];
  const Placed before = placed_molecule(s, moved, from);
  const Placed after = placed_molecule(s, moved, to);
  ulong units = exact_with_molecules(s, index, &before, &after, group, groups) +
                exact_with_nuclei(s, &after, group, groups) -
                exact_with_nuclei(s, &before, group, groups);
  if (with_points) units += exact_grid_change(s, &before, &after, group, groups);
  return units;
}

#endif
