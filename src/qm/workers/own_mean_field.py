"""Mean fields that threads use beside each other, for Coulomb's and exchange matrices.

PySCF's keeps what screens the integrals of its last density, and changes its molecule for a while where it
makes integrals of long range: two threads must not use the same one.
"""

# Matrices of the fitting's functions that each thread unpacks at a time. PySCF's own 240 take five times the
# memory; many basis functions have fewer matrices at a time, so that threads and not matrices fill it.
MOST_FITTED_AT_ONCE, LEAST_FITTED_AT_ONCE = 48, 8
FITTED_BYTES = 30e6


def with_own_integrals(mean_field):
    """A copy that shares what is large, its fitted integrals, or those that it has in memory."""
    own = mean_field.copy()
    own.mol = mean_field.mol.copy()
    own._opt = {None: None}
    fitting = getattr(mean_field, "with_df", None)
    if fitting is not None:
        own.with_df = _copy(fitting, own.mol)
    return own


def _fitted_at_once(functions):
    """By nothing else, for the same bits in all workers."""
    fit = int(FITTED_BYTES / (8 * functions**2))
    return max(LEAST_FITTED_AT_ONCE, min(MOST_FITTED_AT_ONCE, fit))


def _copy(fitting, molecule):
    own = fitting.copy()
    own.mol = molecule
    own.auxmol = None  # integrals are made of
    own.blockdim = _fitted_at_once(molecule.nao)
    own._rsh_df = {key: _copy(one, molecule) for key, one in fitting._rsh_df.items()}
    return own


def prepare_for_copies(mean_field, omega):
    """Makes the fitted integrals of long range, which all copies share."""
    fitting = getattr(mean_field, "with_df", None)
    if fitting is None:
        return
    with fitting.range_coulomb(omega) as long_range:
        if long_range._cderi is None:
            long_range.build()
