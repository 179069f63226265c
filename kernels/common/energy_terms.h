/* The terms of the energy: one table, in the common subset of C++ and OpenCL C, from which the layout
   of buffers, the columns of energies.csv, the keys of summary.json, the rows of the result and the
   charts of the report follow. README.md of this folder's parent maps them to equations and files.

   X(constant, name, symbol, unit, title)
     constant   TERM_constant is the term's place in every array of all terms
     name       in files and of C++ members
     symbol     in equations
     title      in tables and charts

   What a term depends on is the list it is in. The order of arrays and columns is that of the lists. */
#ifndef STARPMC_ENERGY_TERMS_H
#define STARPMC_ENERGY_TERMS_H

/* The moved molecule and all other MM molecules. Candidates of a window meet each other, so these have
   an energy outside the window (mm_pair) and a table of its entries (mm_pair_table). */
#define STARPMC_MM_TERMS(X)                                             \
  X(MM_COULOMB, mm_coulomb, "E(MM Coulomb)", "kJ/mol", "MM-MM Coulomb") \
  X(MM_VDW, mm_vdw, "E(MM vdW)", "kJ/mol", "MM-MM van der Waals")

/* The moved molecule and what stays for the whole run, as nuclei do (qmmm_nuclei_vdw). */
#define STARPMC_STATIC_TERMS(X)                                               \
  X(QMMM_VDW, qmmm_vdw, "E(QM/MM vdW)", "kJ/mol", "QM-MM van der Waals")      \
  X(QMMM_NUCLEI, qmmm_nuclei, "E(QM/MM nuclei)", "kJ/mol", "QM-MM nuclei")

/* The moved molecule and the density, which every QM update replaces (qmmm_coulomb_grid); or a fixed
   reference's density and nuclei (reference_field). */
#define STARPMC_DENSITY_TERMS(X) \
  X(QMMM_GRID, qmmm_grid, "E(QM/MM electrons)", "kJ/mol", "QM-MM electrons")

/* The sum over all molecules of what the solute's response to each is (metropolis_decide). There is none
   without a fixed reference: these come last, and what a run without one writes ends before them. */
#define STARPMC_RESPONSE_TERMS(X) \
  X(QMMM_POLARISATION, qmmm_polarisation, "E(QM/MM polarisation)", "kJ/mol", "QM-MM polarisation")

/* The moved molecule alone, whatever the others do: cached per molecule. */
#define STARPMC_FIELD_TERMS(X) STARPMC_STATIC_TERMS(X) STARPMC_DENSITY_TERMS(X)
#define STARPMC_ENERGY_TERMS(X) \
  STARPMC_MM_TERMS(X) STARPMC_FIELD_TERMS(X) STARPMC_RESPONSE_TERMS(X)

#define STARPMC_COUNT_TERM(constant, name, symbol, unit, title) +1
#define MM_TERMS (0 STARPMC_MM_TERMS(STARPMC_COUNT_TERM))
#define STATIC_TERMS (0 STARPMC_STATIC_TERMS(STARPMC_COUNT_TERM))
#define FIELDS (0 STARPMC_FIELD_TERMS(STARPMC_COUNT_TERM))
#define RESPONSE_TERMS (0 STARPMC_RESPONSE_TERMS(STARPMC_COUNT_TERM))
#define TERMS (0 STARPMC_ENERGY_TERMS(STARPMC_COUNT_TERM))

/* Place among all terms, and of a field term among these. The static ones come first. */
#define STARPMC_TERM_PLACE(constant, name, symbol, unit, title) TERM_##constant,
#define STARPMC_FIELD_PLACE(constant, name, symbol, unit, title) \
  FIELD_##constant = TERM_##constant - MM_TERMS,
#ifdef __cplusplus
namespace starpmc {
#endif
enum { STARPMC_ENERGY_TERMS(STARPMC_TERM_PLACE) };
enum { STARPMC_FIELD_TERMS(STARPMC_FIELD_PLACE) };
#ifdef __cplusplus
}  // namespace starpmc
#endif

#endif
