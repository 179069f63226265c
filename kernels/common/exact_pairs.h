/* Exactly reproducible pair energies: what certified decisions fall back on, and what the potential
   handed to a QM engine is made of.

   Included after moves.h, under the same definitions and two more:
     w_from_real(x)   nearest integer of a real, ties to even, as a 64-bit word; |x| < 2^62
     r_max(a, b)
   Every operation is correctly rounded, none is contracted, and energies are summed as integers, in
   units of 2^-40 kJ/mol: a sum has the same bits on every device, in any order and any split. A sum
   that overflows wraps, and tells its energy but for a multiple of STARPMC_ENERGY_RANGE: several
   molecules that lie in each other are enough. Which one, its quick value tells (exact_near). */

/* Displacement by the nearest image along one edge. */
STARPMC_FUNCTION real_t exact_image(real_t displacement, real_t length, real_t inverse_length) {
  return displacement - length * r_rint(displacement * inverse_length);
}

STARPMC_FUNCTION real_t exact_distance_squared(real_t dx, real_t dy, real_t dz) {
  return r_max(dx * dx + (dy * dy + dz * dz), REAL(STARPMC_MINIMUM_DISTANCE_SQUARED));
}

/* charge (1 - r/rc)^2 / r inside the cutoff (eq. 2 of Miranda et al. 2016), 0 beyond it. */
STARPMC_FUNCTION real_t exact_coulomb(real_t r2, real_t charge, real_t cutoff_squared,
                                      real_t inverse_cutoff) {
  const real_t r = r_sqrt(r2);
  const real_t remaining = REAL(1.0) - r * inverse_cutoff;
  return r_select(r_less(r2, cutoff_squared), charge * (remaining * remaining) / r, REAL(0.0));
}

/* What a point's extent adds to 1/r of a unit charge, nothing outside it: phi(r) - 1/r
   (EXTENT_C0). inverse_square: 1/R^2, or 0 for a bare point; r2 is never below the minimum distance's
   square. */
STARPMC_FUNCTION real_t exact_extent(real_t r2, real_t inverse_square) {
  const real_t s2 = r2 * inverse_square;
  const real_t shape =
      REAL(EXTENT_C0) + s2 * (REAL(EXTENT_C1) + s2 * REAL(EXTENT_C2));
  const real_t change = shape * r_sqrt(inverse_square) - REAL(1.0) / r_sqrt(r2);
  return r_select(r_less(REAL(0.0), inverse_square),
                  r_select(r_less(s2, REAL(1.0)), change, REAL(0.0)), REAL(0.0));
}

/* Its derivative over r. */
STARPMC_FUNCTION real_t exact_extent_slope(real_t r2, real_t inverse_square) {
  const real_t s2 = r2 * inverse_square;
  const real_t shape = REAL(2 * EXTENT_C1) + s2 * REAL(4 * EXTENT_C2);
  const real_t change = shape * (inverse_square * r_sqrt(inverse_square)) +
                        REAL(1.0) / (r2 * r_sqrt(r2));
  return r_select(r_less(REAL(0.0), inverse_square),
                  r_select(r_less(s2, REAL(1.0)), change, REAL(0.0)), REAL(0.0));
}

/* The same by a function of the user's: `value` is of unit charges; nothing without charge. */
STARPMC_FUNCTION real_t exact_user_coulomb(real_t r2, real_t charge, real_t value,
                                           real_t cutoff_squared) {
  const real_t energy = r_select(r_equal(charge, REAL(0.0)), REAL(0.0), charge * value);
  return r_select(r_less(r2, cutoff_squared), energy, REAL(0.0));
}

/* c12/r^12 - c6/r^6 + shift + slope r inside the cutoff, 0 beyond it. */
STARPMC_FUNCTION real_t exact_lennard_jones(real_t r2, real_t c12, real_t c6, real_t shift,
                                            real_t slope, real_t cutoff_squared) {
  const real_t inverse2 = REAL(1.0) / r2;
  const real_t inverse6 = inverse2 * inverse2 * inverse2;
  const real_t energy = (c12 * inverse6 - c6) * inverse6 + (shift + slope * r_sqrt(r2));
  return r_select(r_less(r2, cutoff_squared), energy, REAL(0.0));
}

/* An energy in units; beyond 2^62 units (4e6 kJ/mol) it stays there, and so does what is no number. */
STARPMC_FUNCTION word_t exact_units(real_t energy) {
  const real_t limit = REAL(4611686018427387904.0);
  const real_t units = energy * REAL(STARPMC_ENERGY_UNITS);
  const real_t high = r_select(r_less(units, limit), units, limit);
  return w_from_real(r_select(r_less(high, REAL(0.0) - limit), REAL(0.0) - limit, high));
}

/* A virial, as an energy summed beside it, is a sum of integers in units of 2^-32 kJ/mol. One word
   holds too little: two molecules may have 10^6 kJ/mol (STARPMC_LARGEST_PAIR_ENERGY), and their virial
   is some 12 R/r times that. So a term is two digits, a multiple of 2^20 kJ/mol (2^52 units) and the
   rest, at most half of that. A term of two sites beyond 2^40 kJ/mol counts as that much, and so does
   what is no number. The upper digit is then at most 2^20, and a sum of fewer than 2^43 terms cannot
   wrap: a task has at most 128 molecules, and a term belongs to a site of theirs and another site,
   nucleus or point. With 1,000 sites a molecule these would be 2^26, with 3 sites 2^34. */
#define STARPMC_VIRIAL_UNITS 4294967296.0
#define STARPMC_VIRIAL_DIGIT 1048576.0
#define STARPMC_LARGEST_VIRIAL 1099511627776.0
STARPMC_FUNCTION real_t virial_term(real_t energy) {
  const real_t limit = REAL(STARPMC_LARGEST_VIRIAL);
  const real_t high = r_select(r_less(energy, limit), energy, limit);
  return r_select(r_less(high, REAL(0.0) - limit), REAL(0.0) - limit, high);
}
STARPMC_FUNCTION real_t coarse_digit(real_t term) {
  return r_rint(term * REAL(1.0 / STARPMC_VIRIAL_DIGIT));
}
STARPMC_FUNCTION word_t coarse_units(real_t term) { return w_from_real(coarse_digit(term)); }
STARPMC_FUNCTION word_t fine_units(real_t term) {
  const real_t rest = term - coarse_digit(term) * REAL(STARPMC_VIRIAL_DIGIT);
  return w_from_real(rest * REAL(STARPMC_VIRIAL_UNITS));
}

/* r . R of a pair of sites: r their displacement; R, that of their molecules' centres by the same
   image, is r less the difference of the sites' displacements from the centres. */
STARPMC_FUNCTION real_t exact_centre_product(real_t dx, real_t dy, real_t dz, real_t arm_x,
                                             real_t arm_y, real_t arm_z) {
  return dx * (dx - arm_x) + (dy * (dy - arm_y) + dz * (dz - arm_z));
}

/* - factor V'(r)/r (r . R). */
STARPMC_FUNCTION real_t exact_virial(real_t factor, real_t slope, real_t product) {
  return REAL(0.0) - factor * slope * product;
}

#undef STARPMC_FUNCTION
