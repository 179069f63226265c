/* Exponential, logarithm, power, hyperbolic and error functions with the same bits on every device.

   Included after moves.h, without a guard, by scalar C++, by SIMD C++ (lanes of doubles) and by
   OpenCL C, under the definitions that moves.h asks for and these:
     r_both(a, b), r_either(a, b)   of masks
     r_any(mask)                    whether it holds for any value
     w_entry(table, index)          an entry of a STARPMC_TABLE
     STARPMC_TABLE                  qualified type of the entries of a table of 64-bit words
     << on word_t, w_from_real(x)   as in exact_pairs.h
   + - * /, square roots and operations on bits only, none contracted. Errors are within 1 to 3 units
   in the last place (tests/kernels/functions_test.cpp measures them); zeros, infinities and NaN are
   those of C's <math.h>, but for the sign and payload of a NaN. The polynomials are printed by
   function_coefficients.py. */

STARPMC_FUNCTION word_t sign_bit(real_t x) { return r_bits(x) & WORD(0x8000000000000000); }
STARPMC_FUNCTION real_t with_flipped_sign(real_t x, word_t sign) {
  return w_real(r_bits(x) ^ sign);
}
STARPMC_FUNCTION real_t exact_negate(real_t x) {
  return with_flipped_sign(x, WORD(0x8000000000000000));
}
STARPMC_FUNCTION real_t exact_abs(real_t x) {
  return w_real(r_bits(x) & WORD(0x7FFFFFFFFFFFFFFF));
}
STARPMC_FUNCTION real_t real_infinity(void) { return w_real(WORD(0x7FF0000000000000)); }
STARPMC_FUNCTION real_t real_nan(void) { return w_real(WORD(0x7FF8000000000000)); }

/* a + b = sum + error, exactly (Knuth). */
STARPMC_FUNCTION void two_sum(real_t a, real_t b, real_t* sum, real_t* error) {
  const real_t s = a + b;
  const real_t b_part = s - a;
  *error = (a - (s - b_part)) + (b - b_part);
  *sum = s;
}

/* a b = product + error to 105 bits at least (Dekker), where nothing over- or underflows. */
STARPMC_FUNCTION void two_product(real_t a, real_t b, real_t* product, real_t* error) {
  const word_t upper = WORD(0xFFFFFFFFF8000000);
  const real_t a_high = w_real(r_bits(a) & upper);
  const real_t b_high = w_real(r_bits(b) & upper);
  const real_t a_low = a - a_high;
  const real_t b_low = b - b_high;
  const real_t p = a * b;
  *error = ((a_high * b_high - p) + (a_high * b_low + a_low * b_high)) + a_low * b_low;
  *product = p;
}

/* 2^n, n an integer in [-1022, 1023]. */
STARPMC_FUNCTION real_t power_of_two(real_t n) {
  return w_real(r_bits(n + REAL(6755399441056767.0)) << 52); /* 1.5 2^52 + 1023 */
}

/* x 2^n, rounded once, for x near 1 and |n| <= 2000. */
STARPMC_FUNCTION real_t scaled_by_power_of_two(real_t x, real_t n) {
  const real_t halved = r_floor(n * REAL(0.5));
  return x * power_of_two(halved) * power_of_two(n - halved);
}

/* The parts of a logarithm or exponential that are multiples of ln 2: the first is a multiple of
   2^-41, so that its product with an exponent is exact. */
#define LN2_HIGH REAL(0.693147180559663)
#define LN2_LOW REAL(2.8235290563031577e-13)

/* (e^r - 1 - r) / r^2 for |r| <= ln(2)/2. */
STARPMC_FUNCTION real_t exp_remainder(real_t r) {
  real_t p = REAL(2.0914898727175524e-09);
  p = p * r + REAL(2.5105513541847086e-08);
  p = p * r + REAL(2.755727313289604e-07);
  p = p * r + REAL(2.7557254685728803e-06);
  p = p * r + REAL(2.480158732595111e-05);
  p = p * r + REAL(0.0001984126987538548);
  p = p * r + REAL(0.0013888888888883633);
  p = p * r + REAL(0.008333333333325973);
  p = p * r + REAL(0.04166666666666667);
  p = p * r + REAL(0.1666666666666667);
  return p * r + REAL(0.5);
}

/* n = rint(x / ln 2) and e^(x + low - n ln 2) - 1, for |x| <= 800 and |low| below an ulp of x. */
STARPMC_FUNCTION real_t reduced_exp_minus_1(real_t x, real_t low, real_t* n) {
  *n = r_rint(x * REAL(1.4426950408889634));
  const real_t high = x - *n * LN2_HIGH;
  const real_t rest = low - *n * LN2_LOW;
  const real_t r = high + rest;
  const real_t r_error = (high - r) + rest;
  return r + (r_error + r * r * exp_remainder(r));
}

/* e^(x + low) 2^exponent, |low| below an ulp of x. */
STARPMC_FUNCTION real_t exp_of_sum(real_t x, real_t low, real_t exponent) {
  const real_t limit = REAL(800.0); /* beyond it the result is infinite or 0 */
  const real_t above = r_select(r_less(x, REAL(-800.0)), REAL(-800.0), x);
  const real_t bounded = r_select(r_less(limit, above), limit, above);
  real_t n;
  const real_t e = reduced_exp_minus_1(bounded, low, &n);
  return scaled_by_power_of_two(REAL(1.0) + e, n + exponent);
}

STARPMC_FUNCTION real_t exact_exp(real_t x) { return exp_of_sum(x, REAL(0.0), REAL(0.0)); }

/* e^x - 1 for 0 <= x <= 45. */
STARPMC_FUNCTION real_t exp_minus_1(real_t x) {
  real_t n;
  const real_t e = reduced_exp_minus_1(x, REAL(0.0), &n);
  const real_t factor = power_of_two(n);
  return factor * e + (factor - REAL(1.0));
}

/* x = mantissa 2^exponent, mantissa in [sqrt(1/2), sqrt(2)]; x positive and finite. */
STARPMC_FUNCTION void split_exponent(real_t x, real_t* mantissa, real_t* exponent) {
  const mask_t subnormal = r_less(x, REAL(2.2250738585072014e-308));
  const word_t bits = r_bits(r_select(subnormal, x * REAL(18014398509481984.0), x));
  const real_t m = w_real((bits & WORD(0x000FFFFFFFFFFFFF)) | WORD(0x3FF0000000000000));
  const mask_t large = r_less(REAL(1.4142135623730951), m);
  *mantissa = r_select(large, m * REAL(0.5), m);
  *exponent = real_from_word(bits >> 52) - r_select(subnormal, REAL(1077.0), REAL(1023.0)) +
              r_select(large, REAL(1.0), REAL(0.0));
}

/* log(1 + f) = 2 atanh(s), s = f / (2 + f); f - f^2/2 is summed last, for it is most of it. */
STARPMC_FUNCTION real_t exact_log(real_t x) {
  real_t mantissa, exponent;
  split_exponent(x, &mantissa, &exponent);
  const real_t f = mantissa - REAL(1.0);
  const real_t s = f / (REAL(2.0) + f);
  const real_t z = s * s;
  real_t r = REAL(0.13086626147840102);
  r = r * z + REAL(0.13268773138656886);
  r = r * z + REAL(0.15386239702814658);
  r = r * z + REAL(0.18181795640132906);
  r = r * z + REAL(0.22222222391713917);
  r = r * z + REAL(0.28571428570803614);
  r = r * z + REAL(0.4000000000000088);
  r = r * z + REAL(0.6666666666666666);
  r = r * z;
  const real_t half_square = REAL(0.5) * (f * f);
  const real_t logarithm =
      exponent * LN2_HIGH - ((half_square - (s * (half_square + r) + exponent * LN2_LOW)) - f);
  const real_t finite = r_select(r_less(x, real_infinity()), logarithm, x);
  const real_t positive = r_select(r_less(x, REAL(0.0)), real_nan(), finite);
  return r_select(r_equal(x, REAL(0.0)), exact_negate(real_infinity()), positive);
}

/* log(x) as a sum, to about 64 bits; x positive and finite. As above with the terms up to s^3 in
   twice the precision. */
STARPMC_FUNCTION void log_in_two(real_t x, real_t* high, real_t* low) {
  real_t mantissa, exponent, d, d_low, p, p_low, z, z_low, t, t_low, u, u_low, v, v_low, sum, rest;
  split_exponent(x, &mantissa, &exponent);
  const real_t f = mantissa - REAL(1.0);
  two_sum(REAL(1.0), mantissa, &d, &d_low);
  const real_t s = f / d;
  two_product(s, d, &p, &p_low);
  const real_t s_low = (((f - p) - p_low) - s * d_low) / d;
  two_product(s, s, &z, &z_low);
  z_low = z_low + REAL(2.0) * (s * s_low);
  /* z/3 */
  two_product(z, REAL(0.3333333333333333), &t, &t_low);
  t_low = t_low + (z * REAL(1.850371707708594e-17) + z_low * REAL(0.3333333333333333));
  real_t q = REAL(0.05381145709314322);
  q = q * z + REAL(0.052281709727126424);
  q = q * z + REAL(0.058834062330574734);
  q = q * z + REAL(0.06666648274786181);
  q = q * z + REAL(0.07692307880488732);
  q = q * z + REAL(0.09090909089829123);
  q = q * z + REAL(0.11111111111114212);
  q = q * z + REAL(0.14285714285714282);
  q = q * z + REAL(0.2);
  two_sum(t, z * z * q, &u, &u_low);
  u_low = u_low + t_low;
  two_product(s, u, &v, &v_low);
  v_low = v_low + (s * u_low + s_low * u);
  two_sum(s, v, &sum, &rest);
  rest = rest + (s_low + v_low);
  two_sum(exponent * LN2_HIGH, REAL(2.0) * sum, &u, &u_low);
  u_low = u_low + (REAL(2.0) * rest + exponent * LN2_LOW);
  *high = u + u_low;
  *low = (u - *high) + u_low;
}

/* |x|^y, also where x is 0 or infinite; |x| = 1 apart. */
STARPMC_FUNCTION real_t power_of_magnitude(real_t magnitude, real_t y) {
  const mask_t zero = r_equal(magnitude, REAL(0.0));
  const mask_t ordinary = r_both(r_less(REAL(0.0), magnitude), r_less(magnitude, real_infinity()));
  real_t high, low, product, rest;
  log_in_two(r_select(ordinary, magnitude, REAL(2.0)), &high, &low);
  const real_t edge = r_select(zero, exact_negate(real_infinity()), magnitude);
  high = r_select(ordinary, high, edge);
  const real_t estimate = y * high;
  const mask_t small = r_less(exact_abs(estimate), REAL(1000.0));
  two_product(r_select(small, y, REAL(0.0)), r_select(small, high, REAL(0.0)), &product, &rest);
  rest = rest + r_select(small, y, REAL(0.0)) * r_select(ordinary, low, REAL(0.0));
  /* the sum's parts as exp_of_sum wants them */
  const real_t sum = product + rest;
  const real_t sum_low = (product - sum) + rest;
  return exp_of_sum(r_select(small, sum, estimate), r_select(small, sum_low, REAL(0.0)), REAL(0.0));
}

STARPMC_FUNCTION real_t exact_power(real_t x, real_t y) {
  const real_t one = REAL(1.0);
  const real_t magnitude = exact_abs(x);
  const real_t halved = REAL(0.5) * y;
  const mask_t whole = r_equal(r_floor(y), y);
  const mask_t even = r_equal(r_floor(halved), halved);
  const mask_t x_is_one = r_equal(magnitude, one);
  const real_t power = r_select(x_is_one, one, power_of_magnitude(magnitude, y));
  const real_t flipped = with_flipped_sign(power, sign_bit(x));
  const real_t integer_power = r_select(even, power, flipped);
  /* not a whole power: of a negative number there is none, unless it is infinite; of -0, as of 0 */
  const mask_t negative =
      r_both(r_less(x, REAL(0.0)), r_less(magnitude, real_infinity()));
  const real_t broken_power = r_select(negative, real_nan(), power);
  const real_t result = r_select(whole, integer_power, broken_power);
  const mask_t numbers = r_both(r_equal(x, x), r_equal(y, y));
  const mask_t always_one = r_either(r_equal(y, REAL(0.0)), r_equal(x, one));
  return r_select(always_one, one, r_select(numbers, result, real_nan()));
}

STARPMC_FUNCTION real_t exact_sinh(real_t x) {
  const real_t magnitude = exact_abs(x);
  const real_t limit = REAL(22.0); /* beyond it e^-x is nothing beside e^x */
  const mask_t large = r_less(limit, magnitude);
  const real_t e = exp_minus_1(r_select(large, limit, magnitude));
  const real_t moderate = REAL(0.5) * (e + e / (e + REAL(1.0)));
  const real_t either = r_select(large, exp_of_sum(magnitude, REAL(0.0), REAL(-1.0)), moderate);
  return with_flipped_sign(either, sign_bit(x));
}

STARPMC_FUNCTION real_t exact_cosh(real_t x) {
  const real_t magnitude = exact_abs(x);
  const real_t halved = exp_of_sum(magnitude, REAL(0.0), REAL(-1.0));
  const real_t inverse = REAL(0.25) / halved;
  return halved + inverse;
}

STARPMC_FUNCTION real_t exact_tanh(real_t x) {
  const real_t magnitude = exact_abs(x);
  const real_t limit = REAL(22.0); /* beyond it tanh is 1 */
  const real_t e = exp_minus_1(REAL(2.0) * r_select(r_less(limit, magnitude), limit, magnitude));
  return with_flipped_sign(e / (e + REAL(2.0)), sign_bit(x));
}

/* erf(x)/x - 1 for x^2 = z, 0 <= x <= 0.75. */
STARPMC_FUNCTION real_t erf_remainder(real_t z) {
  real_t p = REAL(-9.502840894774706e-10);
  p = p * z + REAL(1.4413879289095029e-08);
  p = p * z + REAL(-1.63332293434337e-07);
  p = p * z + REAL(1.646038320985815e-06);
  p = p * z + REAL(-1.4925589383821143e-05);
  p = p * z + REAL(0.00012055331545294116);
  p = p * z + REAL(-0.0008548327001135946);
  p = p * z + REAL(0.005223977625222192);
  p = p * z + REAL(-0.026866170645118446);
  p = p * z + REAL(0.11283791670955087);
  p = p * z + REAL(-0.37612638903183754);
  return p * z + REAL(0.1283791670955126);
}

/* erfc(x) for x >= 0.75: e^(-x^2) / (1 + 2 x) times a smooth function of (x - 4) / (x + 4), as M. M.
   Shepherd and J. G. Laframboise do it (Math. Comp. 36, 249, 1981). */
STARPMC_FUNCTION real_t erfc_tail(real_t x) {
  const real_t limit = REAL(28.0); /* where erfc is below the least number */
  const real_t a = r_select(r_less(limit, x), limit, x);
  const real_t t = (a - REAL(4.0)) / (a + REAL(4.0));
  real_t p = REAL(-6.070258017187741e-10);
  p = p * t + REAL(1.5439344641047234e-09);
  p = p * t + REAL(4.369188538458241e-09);
  p = p * t + REAL(-1.4714542584971881e-08);
  p = p * t + REAL(-2.252316655292278e-08);
  p = p * t + REAL(1.1049899117032481e-07);
  p = p * t + REAL(7.943606494476912e-08);
  p = p * t + REAL(-8.254337714002876e-07);
  p = p * t + REAL(2.906465040770458e-07);
  p = p * t + REAL(5.7095479093817274e-06);
  p = p * t + REAL(-1.1220664138516015e-05);
  p = p * t + REAL(-2.4399086011951547e-05);
  p = p * t + REAL(0.00015062128675747232);
  p = p * t + REAL(-0.00019925673774300338);
  p = p * t + REAL(-0.0007577732163469348);
  p = p * t + REAL(0.005031969986084965);
  p = p * t + REAL(-0.016197734066263413);
  p = p * t + REAL(0.037167515536630995);
  p = p * t + REAL(-0.06633036581163101);
  p = p * t + REAL(0.0937328349983964);
  p = p * t + REAL(-0.10103906603632551);
  p = p * t + REAL(0.06809705425469155);
  p = p * t + REAL(0.015379652102620045);
  p = p * t + REAL(-0.1396211168405625);
  p = p * t + REAL(1.2329951186255526);
  real_t square, rest;
  two_product(a, a, &square, &rest);
  const real_t e = exp_of_sum(REAL(0.0) - square, REAL(0.0) - rest, REAL(0.0));
  return e * (p / (REAL(1.0) + REAL(2.0) * a));
}

STARPMC_FUNCTION real_t exact_erf(real_t x) {
  const real_t magnitude = exact_abs(x);
  const real_t near_0 = magnitude + magnitude * erf_remainder(magnitude * magnitude);
  const real_t far = REAL(1.0) - erfc_tail(magnitude);
  const real_t value = r_select(r_less(magnitude, REAL(0.75)), near_0, far);
  return with_flipped_sign(value, sign_bit(x));
}

STARPMC_FUNCTION real_t exact_erfc(real_t x) {
  const real_t magnitude = exact_abs(x);
  const real_t near_0 = (REAL(1.0) - x) - x * erf_remainder(x * x);
  const real_t tail = erfc_tail(magnitude);
  const real_t far = r_select(r_less(x, REAL(0.0)), REAL(2.0) - tail, tail);
  return r_select(r_less(magnitude, REAL(0.75)), near_0, far);
}

/* The rest of what expressions are made of. */
STARPMC_FUNCTION real_t exact_reciprocal_square_root(real_t x) { return REAL(1.0) / r_sqrt(x); }
STARPMC_FUNCTION real_t exact_ceil(real_t x) { return exact_negate(r_floor(exact_negate(x))); }
STARPMC_FUNCTION real_t exact_min(real_t a, real_t b) { return r_select(r_less(b, a), b, a); }
STARPMC_FUNCTION real_t exact_max(real_t a, real_t b) { return r_select(r_less(a, b), b, a); }
STARPMC_FUNCTION real_t exact_step(real_t x) {
  return r_select(r_less(x, REAL(0.0)), REAL(0.0), REAL(1.0));
}
STARPMC_FUNCTION real_t exact_delta(real_t x) {
  return r_select(r_equal(x, REAL(0.0)), REAL(1.0), REAL(0.0));
}
STARPMC_FUNCTION real_t exact_choice(real_t condition, real_t other, real_t where_zero) {
  return r_select(r_equal(condition, REAL(0.0)), where_zero, other);
}

#undef LN2_HIGH
#undef LN2_LOW
#undef STARPMC_FUNCTION
