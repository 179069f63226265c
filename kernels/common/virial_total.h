/* A sum of virial terms (exact_pairs.h): its value is
     coarse STARPMC_VIRIAL_DIGIT + fine/STARPMC_VIRIAL_UNITS kJ/mol,
   coarse a signed integer and fine from 0 to below the digit, so that equal sums have equal bits.
   Included by C++ and OpenCL C; INTEGER64 is the signed type of 64 bits. */
typedef struct {
  STARPMC_WORD64 coarse;
  STARPMC_WORD64 fine;
} VirialTotal;

/* Adds the two digits of a term or of a sum of at most 2^11 terms; fine is signed. */
STARPMC_INLINE void add_digits(VirialTotal *total, STARPMC_WORD64 coarse, STARPMC_WORD64 fine) {
  const STARPMC_WORD64 sum = total->fine + fine;
  total->coarse += coarse + (STARPMC_WORD64)((INTEGER64)sum >> 52);
  total->fine = sum & (((STARPMC_WORD64)1 << 52) - 1);
}

STARPMC_INLINE double virial_value(VirialTotal total) {
  return (double)(INTEGER64)total.coarse * STARPMC_VIRIAL_DIGIT +
         (double)total.fine / STARPMC_VIRIAL_UNITS;
}
