/* Sums of virial terms. */
#include "opencl/moves.h"
#define INTEGER64 long
#include "common/virial_total.h"

static inline VirialTotal no_terms(void) {
  VirialTotal none;
  none.coarse = 0;
  none.fine = 0;
  return none;
}

static inline void add_term(VirialTotal *total, double value) {
  const double term = virial_term(value);
  add_digits(total, coarse_units(term), fine_units(term));
}
