/* Circular functions and their inverses with the same bits on every device; included after
   functions.h, under the same definitions. */

/* 2/pi in words of 32 bits, after two words of 0. */
STARPMC_TABLE two_over_pi[40] = {
    0x0,        0x0,        0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041,
    0xFE5163AB, 0xDEBBC561, 0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C, 0xFE1DEB1C, 0xB129A73E,
    0xE88235F5, 0x2EBB4484, 0xE99C7026, 0xB45F7E41, 0x3991D639, 0x835339F4, 0x9C845F8B, 0xBDF9283B,
    0x1FF897FF, 0xDE05980F, 0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7, 0x4F463F66, 0x9E5FEA2D,
    0x7527BAC7, 0xEBE5F17B, 0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1, 0x1F8D5D08, 0x56033046, 0xFC7B6BAB};

/* 2^20 quarter turns: beyond them their product with the first part of pi/2 is not exact. */
#define LARGE_ANGLE REAL(1647098.0)

/* Columns of the product of x 2^(-32 n), rounded to no bits, and 2/pi: column c is worth 2^(-32 c),
   column 0 has the integer part modulo 2^32 and more. n is chosen so that what is left out on the
   left is a multiple of 2^32 (the method of M. H. Payne and R. N. Hanek, ACM SIGNUM 18, 19, 1983).
   x finite and >= 2^20. */
STARPMC_FUNCTION void quarters_in_columns(real_t x, word_t column[6]) {
  const word_t low = WORD(0xFFFFFFFF);
  const word_t bits = r_bits(x);
  const word_t mantissa = (bits & WORD(0x000FFFFFFFFFFFFF)) | WORD(0x0010000000000000);
  /* exponent of the mantissa's last bit, plus 64 */
  const word_t exponent = (bits >> 52) + WORD(0xFFFFFFFFFFFFFC0D);
  const word_t first = (exponent >> 5) + WORD(0xFFFFFFFFFFFFFFFF);
  const real_t shift = power_of_two(real_from_word(exponent & WORD(31)));
  const word_t factor = w_from_real(shift);
  word_t parts[3];
  const word_t lower = w_product32(mantissa & low, factor);
  const word_t upper = w_product32(mantissa >> 32, factor) + (lower >> 32);
  parts[0] = lower & low;
  parts[1] = upper & low;
  parts[2] = upper >> 32;
  for (int c = 0; c < 6; ++c) column[c] = WORD(0);
  for (int j = 0; j < 8; ++j) {
    const word_t word = w_entry(two_over_pi, first + WORD((unsigned)j));
    for (int k = 0; k < 3; ++k) {
      const int c = j - k;
      if (c < 0 || c > 5) continue;
      const word_t product = w_product32(parts[k], word);
      column[c] = column[c] + (product & low);
      if (c > 0) column[c - 1] = column[c - 1] + (product >> 32);
    }
  }
  for (int c = 5; c > 0; --c) {
    column[c - 1] = column[c - 1] + (column[c] >> 32);
    column[c] = column[c] & low;
  }
}

/* x = (4 k + quarter) pi/2 + high + low, |high| <= pi/4, for x finite and >= 2^20. */
STARPMC_FUNCTION real_t reduce_large_angle(real_t x, real_t* high, real_t* low) {
  word_t column[6];
  quarters_in_columns(x, column);
  const word_t above_half = column[1] >> 31;
  const real_t quarter = real_from_word((column[0] + above_half) & WORD(3));
  real_t sum = real_from_word(column[1]) * REAL(2.3283064365386963e-10) - /* 2^-32 */
               real_from_word(above_half);
  real_t rest = REAL(0.0);
  real_t unit = REAL(5.421010862427522e-20); /* 2^-64 */
  for (int c = 2; c < 6; ++c) {
    real_t error;
    two_sum(sum, real_from_word(column[c]) * unit, &sum, &error);
    rest = rest + error;
    unit = unit * REAL(2.3283064365386963e-10);
  }
  real_t product, error;
  two_product(sum, REAL(1.5707963267948966), &product, &error);
  error = error + (sum * REAL(6.123233995736766e-17) + rest * REAL(1.5707963267948966));
  *high = product + error;
  *low = (product - *high) + error;
  return quarter;
}

/* x = (4 k + quarter) pi/2 + high + low, |high| <= pi/4 or little more, x >= 0; quarter 0 to 3. */
STARPMC_FUNCTION real_t reduce_angle(real_t x, real_t* high, real_t* low) {
  const mask_t finite = r_less(x, real_infinity());
  const mask_t large = r_both(r_less(LARGE_ANGLE, x), finite);
  const real_t angle = r_select(large, REAL(0.0), x);
  const real_t n = r_rint(angle * REAL(0.6366197723675814));
  real_t sum, error, more_error;
  two_sum(angle - n * REAL(1.5707963267341256), exact_negate(n * REAL(6.077100506303966e-11)), &sum,
          &error);
  two_sum(sum, exact_negate(n * REAL(2.0222662487111665e-21)), &sum, &more_error);
  error = (error + more_error) - n * REAL(8.4784276603689e-32);
  *high = sum + error;
  *low = (sum - *high) + error;
  real_t quarter = n - REAL(4.0) * r_floor(n * REAL(0.25));
  if (r_any(large)) {
    real_t large_high, large_low;
    const real_t large_quarter =
        reduce_large_angle(r_select(large, x, REAL(4194304.0)), &large_high, &large_low);
    quarter = r_select(large, large_quarter, quarter);
    *high = r_select(large, large_high, *high);
    *low = r_select(large, large_low, *low);
  }
  *high = r_select(finite, *high, real_nan());
  return quarter;
}

/* sin(x + low), |x| <= pi/4. */
STARPMC_FUNCTION real_t sine_near_0(real_t x, real_t low) {
  const real_t z = x * x;
  real_t s = REAL(-7.586636882825159e-13);
  s = s * z + REAL(1.6058530596645953e-10);
  s = s * z + REAL(-2.50521062259944e-08);
  s = s * z + REAL(2.755731921932058e-06);
  s = s * z + REAL(-0.0001984126984126504);
  s = s * z + REAL(0.008333333333333331);
  s = s * z + REAL(-0.16666666666666666);
  return x + (x * (z * s) + low * (REAL(1.0) - REAL(0.5) * z));
}

/* cos(x + low), |x| <= pi/4; 1 - z/2 with its rounding error. */
STARPMC_FUNCTION real_t cosine_near_0(real_t x, real_t low) {
  const real_t z = x * x;
  real_t c = REAL(4.745838412531023e-14);
  c = c * z + REAL(-1.1470460319209511e-11);
  c = c * z + REAL(2.0876755787492604e-09);
  c = c * z + REAL(-2.755731922139249e-07);
  c = c * z + REAL(2.4801587301584632e-05);
  c = c * z + REAL(-0.0013888888888888887);
  c = c * z + REAL(0.041666666666666664);
  const real_t halved = REAL(0.5) * z;
  const real_t most = REAL(1.0) - halved;
  return most + (((REAL(1.0) - most) - halved) + (z * z * c - x * low));
}

STARPMC_FUNCTION real_t exact_sin(real_t x) {
  real_t high, low;
  const real_t quarter = reduce_angle(exact_abs(x), &high, &low);
  const mask_t odd = r_either(r_equal(quarter, REAL(1.0)), r_equal(quarter, REAL(3.0)));
  const real_t value = r_select(odd, cosine_near_0(high, low), sine_near_0(high, low));
  const real_t signed_value = r_select(r_less(REAL(1.5), quarter), exact_negate(value), value);
  return with_flipped_sign(signed_value, sign_bit(x));
}

STARPMC_FUNCTION real_t exact_cos(real_t x) {
  real_t high, low;
  const real_t quarter = reduce_angle(exact_abs(x), &high, &low);
  const mask_t first = r_equal(quarter, REAL(1.0));
  const mask_t odd = r_either(first, r_equal(quarter, REAL(3.0)));
  const real_t value = r_select(odd, sine_near_0(high, low), cosine_near_0(high, low));
  const mask_t negative = r_either(first, r_equal(quarter, REAL(2.0)));
  return r_select(negative, exact_negate(value), value);
}

STARPMC_FUNCTION real_t exact_tan(real_t x) {
  real_t high, low;
  const real_t quarter = reduce_angle(exact_abs(x), &high, &low);
  const mask_t odd = r_either(r_equal(quarter, REAL(1.0)), r_equal(quarter, REAL(3.0)));
  const real_t sine = sine_near_0(high, low);
  const real_t cosine = cosine_near_0(high, low);
  const real_t tangent =
      r_select(odd, exact_negate(cosine), sine) / r_select(odd, sine, cosine);
  return with_flipped_sign(tangent, sign_bit(x));
}

/* atan(y / x) in [0, pi/2] for x, y >= 0. Where the lesser is more than tan(pi/8) of the greater,
   45 degrees are taken off: atan(q) = pi/4 + atan((q - 1) / (q + 1)). */
STARPMC_FUNCTION real_t angle_of_magnitudes(real_t y, real_t x) {
  const mask_t steep = r_less(x, y);
  real_t lesser = r_select(steep, x, y);
  real_t greater = r_select(steep, y, x);
  const mask_t both_infinite = r_equal(lesser, real_infinity());
  lesser = r_select(both_infinite, REAL(1.0), lesser);
  greater = r_select(both_infinite, REAL(1.0), greater);
  /* their sum must not overflow */
  const mask_t huge_values = r_less(REAL(1e300), greater);
  lesser = r_select(huge_values, lesser * REAL(0.25), lesser);
  greater = r_select(huge_values, greater * REAL(0.25), greater);
  const mask_t turned = r_less(greater * REAL(0.41421356237309503), lesser);
  const real_t quotient = r_select(turned, lesser - greater, lesser) /
                          r_select(turned, lesser + greater, greater);
  const real_t q = r_select(r_equal(greater, REAL(0.0)), REAL(0.0), quotient);
  const real_t z = q * q;
  real_t p = REAL(-0.013905374533113236);
  p = p * z + REAL(0.030622995553735516);
  p = p * z + REAL(-0.041038875468626876);
  p = p * z + REAL(0.04719259188242093);
  p = p * z + REAL(-0.05258020272656758);
  p = p * z + REAL(0.058819230561140225);
  p = p * z + REAL(-0.06666641869131183);
  p = p * z + REAL(0.07692306729194896);
  p = p * z + REAL(-0.0909090906681608);
  p = p * z + REAL(0.11111111110751482);
  p = p * z + REAL(-0.1428571428571149);
  p = p * z + REAL(0.19999999999999993);
  p = p * z + REAL(-0.3333333333333333);
  p = q * (z * p);
  const real_t base = r_select(turned, REAL(0.7853981633974483),
                               r_select(steep, REAL(1.5707963267948966), REAL(0.0)));
  const real_t base_low = r_select(turned, REAL(3.061616997868383e-17),
                                   r_select(steep, REAL(6.123233995736766e-17), REAL(0.0)));
  const real_t signed_q = r_select(steep, exact_negate(q), q);
  const real_t signed_p = r_select(steep, exact_negate(p), p);
  return base + (signed_q + (signed_p + base_low));
}

STARPMC_FUNCTION real_t exact_atan(real_t x) {
  return with_flipped_sign(angle_of_magnitudes(exact_abs(x), REAL(1.0)), sign_bit(x));
}

STARPMC_FUNCTION real_t exact_atan2(real_t y, real_t x) {
  const real_t angle = angle_of_magnitudes(exact_abs(y), exact_abs(x));
  const real_t obtuse = REAL(3.141592653589793) - (angle - REAL(1.2246467991473532e-16));
  /* of -0, too */
  const mask_t left = r_less(with_flipped_sign(REAL(1.0), sign_bit(x)), REAL(0.0));
  const real_t result = with_flipped_sign(r_select(left, obtuse, angle), sign_bit(y));
  return r_select(r_both(r_equal(x, x), r_equal(y, y)), result, real_nan());
}

/* asin(x) for 0 <= x <= 1/2, z = x^2. */
STARPMC_FUNCTION real_t arc_sine_near_0(real_t x, real_t z) {
  real_t p = REAL(0.030718768995191097);
  p = p * z + REAL(-0.024020544918554605);
  p = p * z + REAL(0.022553563638202982);
  p = p * z + REAL(0.000380853033290726);
  p = p * z + REAL(0.00879500607648843);
  p = p * z + REAL(0.008135829925501657);
  p = p * z + REAL(0.009792751320201996);
  p = p * z + REAL(0.011549086612987425);
  p = p * z + REAL(0.013965009932053607);
  p = p * z + REAL(0.017352757477819787);
  p = p * z + REAL(0.02237215927967998);
  p = p * z + REAL(0.030381944441363808);
  p = p * z + REAL(0.0446428571428834);
  p = p * z + REAL(0.07499999999999991);
  p = p * z + REAL(0.16666666666666666);
  return x + x * (z * p);
}

/* asin(m) where m = |x| <= 1/2, else asin(sqrt((1 - m)/2)): half of acos(m). */
STARPMC_FUNCTION real_t arc_sine_or_half_arc_cosine(real_t magnitude, mask_t large) {
  const real_t halved = REAL(0.5) * (REAL(1.0) - magnitude);
  const real_t z = r_select(large, halved, magnitude * magnitude);
  return arc_sine_near_0(r_select(large, r_sqrt(z), magnitude), z);
}

STARPMC_FUNCTION real_t exact_asin(real_t x) {
  const real_t magnitude = exact_abs(x);
  const mask_t large = r_less(REAL(0.5), magnitude);
  const real_t angle = arc_sine_or_half_arc_cosine(magnitude, large);
  const real_t complement =
      REAL(1.5707963267948966) - (REAL(2.0) * angle - REAL(6.123233995736766e-17));
  const real_t value = with_flipped_sign(r_select(large, complement, angle), sign_bit(x));
  return r_select(r_less(REAL(1.0), magnitude), real_nan(), value);
}

STARPMC_FUNCTION real_t exact_acos(real_t x) {
  const real_t magnitude = exact_abs(x);
  const mask_t large = r_less(REAL(0.5), magnitude);
  const real_t angle = arc_sine_or_half_arc_cosine(magnitude, large);
  const real_t sine = with_flipped_sign(angle, sign_bit(x));
  const real_t complement = REAL(1.5707963267948966) - (sine - REAL(6.123233995736766e-17));
  const real_t twice = REAL(2.0) * angle;
  const real_t obtuse = REAL(3.141592653589793) - (twice - REAL(1.2246467991473532e-16));
  const real_t from_large = r_select(r_less(x, REAL(0.0)), obtuse, twice);
  const real_t value = r_select(large, from_large, complement);
  return r_select(r_less(REAL(1.0), magnitude), real_nan(), value);
}

#undef LARGE_ANGLE
#undef STARPMC_FUNCTION
