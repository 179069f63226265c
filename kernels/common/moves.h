/* Random numbers and moves, written once for every implementation.

   Included, without a guard, by scalar C++, by SIMD C++ (lanes of doubles) and by OpenCL C. The
   includer defines, for one value or a vector of values:
     real_t, word_t (64 bits), mask_t and the operators + - * / on real_t, + & | ^ >> << on word_t,
     REAL(x), WORD(x)          constants
     r_sqrt, r_rint, r_floor   correctly rounded
     r_bits, w_real            reinterpretation
     w_product32(a, b)         64-bit product of two 32-bit values
     r_equal, r_less -> mask_t, r_select(mask, a, b)
     STARPMC_FUNCTION          qualifier of a function
   Only correctly rounded operations are used and no multiply-add may be contracted, so that every
   implementation computes the same bits. */

/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC11, 2011): counter (step, stream, chain), key seed. */
STARPMC_FUNCTION void philox_rounds(word_t counter[4], word_t key0, word_t key1) {
  const word_t low = WORD(0xFFFFFFFF);
  for (int i = 0; i < 10; ++i) {
    const word_t product0 = w_product32(WORD(0xD2511F53), counter[0]);
    const word_t product1 = w_product32(WORD(0xCD9E8D57), counter[2]);
    const word_t next0 = (product1 >> 32) ^ counter[1] ^ key0;
    const word_t next2 = (product0 >> 32) ^ counter[3] ^ key1;
    counter[0] = next0;
    counter[1] = product1 & low;
    counter[2] = next2;
    counter[3] = product0 & low;
    key0 = (key0 + WORD(0x9E3779B9)) & low;
    key1 = (key1 + WORD(0xBB67AE85)) & low;
  }
}

/* An integer below 2^52 as a real, exactly. */
STARPMC_FUNCTION real_t real_from_word(word_t value) {
  return w_real(value | WORD(0x4330000000000000)) - REAL(4503599627370496.0);
}

/* Uniform in [0, 1), 53 bits of two 32-bit words. */
STARPMC_FUNCTION real_t uniform_from_words(word_t high, word_t low) {
  return (real_from_word(high >> 5) * REAL(67108864.0) + real_from_word(low >> 6)) *
         REAL(1.1102230246251565e-16);
}

/* Streams of a step: what each pair of uniform numbers is for. */
#define STREAM_PICK 0        /* molecule; acceptance */
#define STREAM_TRANSLATION 1 /* x; y */
#define STREAM_ROTATION 2    /* translation z; rotation angle */
#define STREAM_AXIS 3        /* rotation axis: z; azimuth */

STARPMC_FUNCTION void draw_pair(word_t step, word_t stream, word_t chain, word_t seed,
                                real_t* first, real_t* second) {
  const word_t low = WORD(0xFFFFFFFF);
  word_t counter[4];
  counter[0] = step & low;
  counter[1] = step >> 32;
  counter[2] = stream;
  counter[3] = chain;
  philox_rounds(counter, seed & low, seed >> 32);
  *first = uniform_from_words(counter[0], counter[1]);
  *second = uniform_from_words(counter[2], counter[3]);
}

/* sin(pi x) and cos(pi x) for |x| <= 1: Taylor series on [-pi/4, pi/4], error below 1e-15. */
STARPMC_FUNCTION void sine_cosine_pi(real_t x, real_t* sine, real_t* cosine) {
  const real_t quarter = r_rint(x + x);
  const real_t angle = (x - REAL(0.5) * quarter) * REAL(3.141592653589793);
  const real_t z = angle * angle;
  real_t s = REAL(-7.647163731819816e-13);
  s = s * z + REAL(1.6059043836821613e-10);
  s = s * z + REAL(-2.505210838544172e-08);
  s = s * z + REAL(2.7557319223985893e-06);
  s = s * z + REAL(-0.0001984126984126984);
  s = s * z + REAL(0.008333333333333333);
  s = s * z + REAL(-0.16666666666666666);
  s = angle + angle * (z * s);
  real_t c = REAL(4.779477332387385e-14);
  c = c * z + REAL(-1.1470745597729725e-11);
  c = c * z + REAL(2.08767569878681e-09);
  c = c * z + REAL(-2.755731922398589e-07);
  c = c * z + REAL(2.48015873015873e-05);
  c = c * z + REAL(-0.001388888888888889);
  c = c * z + REAL(0.041666666666666664);
  c = REAL(1.0) - REAL(0.5) * z + z * (z * c);
  /* quarter is -2, -1, 0, 1 or 2 */
  const real_t odd = quarter * quarter;
  const mask_t swap = r_equal(odd, REAL(1.0));
  const real_t half_sine = r_select(swap, c * quarter, s);
  const real_t half_cosine = r_select(swap, REAL(0.0) - s * quarter, c);
  const mask_t opposite = r_equal(odd, REAL(4.0));
  *sine = r_select(opposite, REAL(0.0) - half_sine, half_sine);
  *cosine = r_select(opposite, REAL(0.0) - half_cosine, half_cosine);
}

/* Natural logarithm of a normal number in (0, 1]; series of atanh after reduction to
   [sqrt(1/2), sqrt(2)], error below 2e-16 relative (the method of fdlibm's e_log.c). */
STARPMC_FUNCTION real_t natural_logarithm(real_t x) {
  const word_t bits = r_bits(x);
  word_t exponent = bits >> 52;
  real_t mantissa = w_real((bits & WORD(0x000FFFFFFFFFFFFF)) | WORD(0x3FF0000000000000));
  const mask_t large = r_less(REAL(1.4142135623730951), mantissa);
  mantissa = r_select(large, mantissa * REAL(0.5), mantissa);
  const real_t power = real_from_word(exponent) - REAL(1023.0) +
                       r_select(large, REAL(1.0), REAL(0.0));
  const real_t f = mantissa - REAL(1.0);
  const real_t s = f / (REAL(2.0) + f);
  const real_t z = s * s;
  real_t r = REAL(0.1479819860511659);
  r = r * z + REAL(0.1531383769920937);
  r = r * z + REAL(0.1818357216161805);
  r = r * z + REAL(0.2222219843214978);
  r = r * z + REAL(0.2857142874366239);
  r = r * z + REAL(0.3999999999940942);
  r = r * z + REAL(0.6666666666666735);
  r = r * z;
  const real_t half_square = REAL(0.5) * (f * f);
  return power * REAL(0.6931471803691238) -
         ((half_square - (s * (half_square + r) + power * REAL(1.9082149292705877e-10))) - f);
}

/* -kT ln u, u uniform in (0, 1]: a step is accepted where its energy change is less. */
STARPMC_FUNCTION real_t acceptance_threshold(real_t uniform, real_t thermal_energy) {
  return REAL(0.0) - thermal_energy * natural_logarithm(uniform + REAL(1.1102230246251565e-16));
}

/* One coordinate of a centre, put back into [0, length). */
STARPMC_FUNCTION real_t wrap_coordinate(real_t x, real_t length) {
  const real_t wrapped = x - length * r_floor(x / length);
  return r_select(r_less(wrapped, length), wrapped, REAL(0.0));
}

/* The move of one step: pose (centre, quaternion) in, new pose out
   (src/sampling/README.md, "Steps"). */
STARPMC_FUNCTION void move_pose(word_t step, word_t chain, word_t seed, real_t maximum_translation,
                                real_t maximum_half_turns, real_t length_x, real_t length_y,
                                real_t length_z, const real_t pose[7], real_t moved[7]) {
  real_t x, y, z, angle, height, azimuth, sine, cosine;
  draw_pair(step, WORD(STREAM_TRANSLATION), chain, seed, &x, &y);
  draw_pair(step, WORD(STREAM_ROTATION), chain, seed, &z, &angle);
  draw_pair(step, WORD(STREAM_AXIS), chain, seed, &height, &azimuth);
  moved[0] = wrap_coordinate(pose[0] + maximum_translation * (x + x - REAL(1.0)), length_x);
  moved[1] = wrap_coordinate(pose[1] + maximum_translation * (y + y - REAL(1.0)), length_y);
  moved[2] = wrap_coordinate(pose[2] + maximum_translation * (z + z - REAL(1.0)), length_z);

  height = height + height - REAL(1.0);
  const real_t radius = r_sqrt(REAL(1.0) - height * height);
  sine_cosine_pi(azimuth + azimuth - REAL(1.0), &sine, &cosine);
  const real_t axis_x = radius * cosine;
  const real_t axis_y = radius * sine;
  /* half the rotation angle, in units of pi, is maximum_half_turns (2u - 1) */
  sine_cosine_pi(maximum_half_turns * (angle + angle - REAL(1.0)), &sine, &cosine);
  const real_t dw = cosine;
  const real_t dx = sine * axis_x;
  const real_t dy = sine * axis_y;
  const real_t dz = sine * height;
  const real_t w = dw * pose[3] - dx * pose[4] - dy * pose[5] - dz * pose[6];
  const real_t i = dw * pose[4] + dx * pose[3] + dy * pose[6] - dz * pose[5];
  const real_t j = dw * pose[5] - dx * pose[6] + dy * pose[3] + dz * pose[4];
  const real_t k = dw * pose[6] + dx * pose[5] - dy * pose[4] + dz * pose[3];
  const real_t norm = r_sqrt(w * w + i * i + j * j + k * k);
  moved[3] = w / norm;
  moved[4] = i / norm;
  moved[5] = j / norm;
  moved[6] = k / norm;
}

/* Whether a pose's centre lies in a sphere, by the nearest image. */
STARPMC_FUNCTION mask_t lies_in_sphere(const real_t pose[7], const real_t centre[3], real_t square,
                                       const real_t length[3]) {
  real_t distance = REAL(0.0);
  for (int k = 0; k < 3; ++k) {
    const real_t apart = pose[k] - centre[k];
    const real_t nearest = apart - length[k] * r_rint(apart / length[k]);
    distance = distance + nearest * nearest;
  }
  return r_less(distance, square);
}

/* A move out of the sphere is none. */
STARPMC_FUNCTION void confine_pose(const real_t centre[3], real_t square, const real_t length[3],
                                   const real_t pose[7], real_t moved[7]) {
  const mask_t inside = lies_in_sphere(moved, centre, square, length);
  for (int field = 0; field < 7; ++field) moved[field] = r_select(inside, moved[field], pose[field]);
}

/* Displacement of a site from the centre: R(q) reference. */
STARPMC_FUNCTION void rotate_site(const real_t pose[7], const real_t reference[3],
                                  real_t displacement[3]) {
  const real_t w = pose[3];
  const real_t i = pose[4];
  const real_t j = pose[5];
  const real_t k = pose[6];
  const real_t x = reference[0];
  const real_t y = reference[1];
  const real_t z = reference[2];
  /* t = 2 v x r; r' = r + w t + v x t */
  const real_t tx = REAL(2.0) * (j * z - k * y);
  const real_t ty = REAL(2.0) * (k * x - i * z);
  const real_t tz = REAL(2.0) * (i * y - j * x);
  displacement[0] = x + w * tx + (j * tz - k * ty);
  displacement[1] = y + w * ty + (k * tx - i * tz);
  displacement[2] = z + w * tz + (i * ty - j * tx);
}

#undef STARPMC_FUNCTION
