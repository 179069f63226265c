/* Energies of a group of entries with molecules side by side, one per lane. Included once for each
   type of lanes, without a guard; the includer defines
     ROW(name)              a name for these lanes
     ROW_LANES              their number
     row_real, row_lanes    an element, and the vector
     row_from(values)       a vector of row_real from an array
     row_store(vector, to)  the reverse
     row_inverse_root(r2)   1/sqrt(r2)
     row_image(d, length, inverse)   the nearest image of a displacement
     ROW_USER_LANES         1: the user's functions are taken in these lanes, else in fp64 */

/* Energies of one entry with the molecules in the lanes. */
typedef struct {
  row_lanes coulomb, vdw;
} ROW(energies);

/* Displacements of the molecules' centres from the origin, along one axis. */
static inline row_lanes ROW(offsets)(const Sources *sources, const int *ids, int axis, double origin,
                                     PairConstants constants) {
  const double length = constants.box[axis];
  const double inverse = constants.inverse_box[axis];
  row_real values[ROW_LANES];
  for (int lane = 0; lane < ROW_LANES; ++lane) {
    const double d = sources->centres[axis * sources->stride + ids[lane]] - origin;
    values[lane] = (row_real)WIDE_MINIMUM_IMAGE(d, length, inverse);
  }
  return row_from(values);
}

/* Positions of a site from the origin, along one axis. */
static inline row_lanes ROW(positions)(const Sources *sources, const int *ids, int site, int axis,
                                       row_lanes offsets, int fixed_origin,
                                       PairConstants constants) {
  const int first = (3 * site + axis) * sources->stride;
  row_real values[ROW_LANES];
#if STARPMC_FIXED
  if (sources->lattice_sites != 0) {
    for (int lane = 0; lane < ROW_LANES; ++lane) {
      values[lane] = (row_real)(int)((uint)sources->lattice_sites[first + ids[lane]] -
                                     (uint)fixed_origin);
    }
    return row_from(values) * (row_real)fixed_unit(constants.box[axis]);
  }
#else
  if (sources->lattice_sites != 0) {
    for (int lane = 0; lane < ROW_LANES; ++lane) {
      values[lane] = (row_real)sources->lattice_sites[first + ids[lane]];
    }
    return offsets + row_from(values);
  }
#endif
  for (int lane = 0; lane < ROW_LANES; ++lane) {
    values[lane] = (row_real)sources->entry_sites[first + ids[lane]];
  }
  return offsets + row_from(values);
}

/* r beside 1/r: r2 times the rounded 1/r would be biased from binade to binade. */
static inline row_lanes ROW(root)(row_lanes r2, row_lanes inverse_r) {
  const row_lanes r = r2 * inverse_r;
  return r + ((row_real)0.5 * r) * ((row_real)1 - r * inverse_r);
}

/* (1 - r/rc)^2 / r, 0 beyond the cutoff: its rounding error shrinks with the energy. */
static inline row_lanes ROW(shifted_force)(PairConstants constants, row_lanes r2,
                                           row_lanes inverse_r) {
  const row_lanes r = ROW(root)(r2, inverse_r);
  const row_lanes remaining =
      fmax((row_real)1 - r * (row_real)(0.5 * constants.twice_inverse), (row_lanes)((row_real)0));
  return inverse_r * remaining * remaining;
}

static inline row_lanes ROW(lennard_jones)(__global const double *coefficients, row_lanes r2,
                                           row_lanes inverse_r) {
  const row_lanes inverse2 = inverse_r * inverse_r;
  const row_lanes inverse6 = inverse2 * inverse2 * inverse2;
  return ((row_real)coefficients[0] * inverse6 - (row_real)coefficients[1]) * inverse6 +
         ((row_real)coefficients[3] * ROW(root)(r2, inverse_r) + (row_real)coefficients[2]);
}

#if ROW_USER_LANES
/* Adds a pair of sites under functions of the user's. */
static inline void ROW(add_user_pair)(row_lanes r2, row_real charge,
                                      __global const double *coefficients, PairLayout layout,
                                      PairConstants constants, ROW(energies) *sum) {
  if (charge != 0) {
#if STARPMC_USER_COULOMB
    const row_lanes coulomb = sum->coulomb + charge * lanes_user_coulomb(r2);
    sum->coulomb =
        r2 < (row_lanes)((row_real)constants.coulomb_cutoff_squared) ? coulomb : sum->coulomb;
#else
    sum->coulomb += charge * ROW(shifted_force)(constants, r2, row_inverse_root(r2));
#endif
  }
  const row_lanes vdw_cutoff_squared = (row_lanes)((row_real)constants.vdw_cutoff_squared);
  if (coefficients[0] != 0 || coefficients[1] != 0) {
    const row_lanes vdw =
        sum->vdw + ROW(lennard_jones)(coefficients, r2, row_inverse_root(r2));
    sum->vdw = r2 < vdw_cutoff_squared ? vdw : sum->vdw;
  }
#if STARPMC_USER_MM
  if (coefficients[layout.mm_function] != 0) {
    const row_lanes vdw = sum->vdw + lanes_user_mm(r2, coefficients + layout.mm_function + 1);
    sum->vdw = r2 < vdw_cutoff_squared ? vdw : sum->vdw;
  }
#endif
}
#elif USER_MM
/* Adds a pair of sites under functions of the user's; only rows of fp64 are asked. */
static inline void ROW(add_user_pair)(row_lanes r2, row_real charge,
                                      __global const double *coefficients, PairLayout layout,
                                      PairConstants constants, ROW(energies) *sum) {
  row_real squared[ROW_LANES];
  row_real coulomb[ROW_LANES];
  row_real vdw[ROW_LANES];
  row_store(r2, squared);
  for (int lane = 0; lane < ROW_LANES; ++lane) {
    PairEnergy energy = {0, 0};
    add_user_mm_pair(constants, layout, (double)squared[lane], (double)charge, coefficients,
                     &energy);
    coulomb[lane] = (row_real)energy.coulomb;
    vdw[lane] = (row_real)energy.vdw;
  }
  sum->coulomb += row_from(coulomb);
  sum->vdw += row_from(vdw);
}
#endif

/* Adds a pair of sites. */
static inline void ROW(add_pair)(row_lanes dx, row_lanes dy, row_lanes dz, row_real charge,
                                 __global const double *coefficients, PairLayout layout,
                                 int images, PairConstants constants, ROW(energies) *sum) {
  if (images) {
    dx = row_image(dx, (row_real)constants.box[0], (row_real)constants.inverse_box[0]);
    dy = row_image(dy, (row_real)constants.box[1], (row_real)constants.inverse_box[1]);
    dz = row_image(dz, (row_real)constants.box[2], (row_real)constants.inverse_box[2]);
  }
  const row_lanes r2 = fmax(dx * dx + (dy * dy + dz * dz),
                            (row_lanes)((row_real)STARPMC_MINIMUM_DISTANCE_SQUARED));
#if USER_MM
  ROW(add_user_pair)(r2, charge, coefficients, layout, constants, sum);
#else
  const row_lanes inverse_r = row_inverse_root(r2);
  sum->coulomb += charge * ROW(shifted_force)(constants, r2, inverse_r);
  if (coefficients[0] == 0 && coefficients[1] == 0) return;
  const row_lanes energy = ROW(lennard_jones)(coefficients, r2, inverse_r);
  const row_lanes zero = (row_lanes)((row_real)0);
  sum->vdw += r2 < (row_lanes)((row_real)constants.vdw_cutoff_squared) ? energy : zero;
#endif
}

/* Energies of every entry of the group with the molecules `ids`, all of one type. */
static inline void ROW(add_energies)(const EntryGroup *group, const Sources *sources,
                                     const int *ids, int type, ROW(energies) *sums) {
  const TopologyShape topology = group->window.topology;
  const row_lanes zero = (row_lanes)((row_real)0);
  for (int m = 0; m < group->members; ++m) sums[m].coulomb = sums[m].vdw = zero;
  row_lanes offsets[3] = {zero, zero, zero};
  if (!STARPMC_FIXED || sources->lattice_sites == 0) {
    for (int axis = 0; axis < 3; ++axis) {
      offsets[axis] = ROW(offsets)(sources, ids, axis, group->origin[axis], group->constants);
    }
  }
  for (int j = 0; j < site_count(topology, group->topology_integers, type); ++j) {
    row_lanes place[3];
    for (int axis = 0; axis < 3; ++axis) {
      place[axis] = ROW(positions)(sources, ids, j, axis, offsets[axis],
                                   group->fixed_origin[axis], group->constants);
    }
    const double charge = site_charge(topology, group->topology_reals, type, j);
    const int type_j = site_type(topology, group->topology_integers, type, j);
    for (int i = 0; i < group->sites; ++i) {
      const int type_i = site_type(topology, group->topology_integers, group->type, i);
      __global const double *coefficients =
          group->topology_reals + topology_pair(topology, type_i, type_j);
      for (int m = 0; m < group->members; ++m) {
        const double4 target = group->targets[m * group->sites + i];
        ROW(add_pair)((row_real)target.x - place[0], (row_real)target.y - place[1],
                      (row_real)target.z - place[2], (row_real)(target.w * charge), coefficients,
                      topology.pairs, group->images, group->constants, &sums[m]);
      }
    }
  }
  const row_lanes largest = (row_lanes)((row_real)STARPMC_LARGEST_PAIR_ENERGY);
  for (int m = 0; m < group->members; ++m) {
#if USER_MM /* fmin takes what is no number for the greater */
    sums[m].coulomb = fmax(fmin(sums[m].coulomb, largest), -largest);
    sums[m].vdw = fmax(fmin(sums[m].vdw, largest), -largest);
#else
    sums[m].coulomb = fmin(sums[m].coulomb, largest);
    sums[m].vdw = fmin(sums[m].vdw, largest);
#endif
  }
}

/* Calls SINK for every molecule of a list. */
static inline void ROW(meet)(EntryGroup *group, const Sources *sources, const int *list, int count,
                             int type, Sink sink) {
  for (int first = 0; first < count; first += ROW_LANES) {
    int ids[ROW_LANES];
    for (int lane = 0; lane < ROW_LANES; ++lane) ids[lane] = list[min(first + lane, count - 1)];
    ROW(energies) sums[MOST_MEMBERS];
    ROW(add_energies)(group, sources, ids, type, sums);
    const int lanes_used = min(ROW_LANES, count - first);
    for (int m = 0; m < group->members; ++m) {
      row_real coulomb[ROW_LANES];
      row_real vdw[ROW_LANES];
      row_store(sums[m].coulomb, coulomb);
      row_store(sums[m].vdw, vdw);
      for (int lane = 0; lane < lanes_used; ++lane) {
        take_energies(group, m, ids[lane], (double)coulomb[lane], (double)vdw[lane], sink);
      }
    }
  }
}

#undef ROW
#undef ROW_USER_LANES
#undef ROW_LANES
#undef row_real
#undef row_lanes
#undef row_from
#undef row_store
#undef row_inverse_root
#undef row_image
