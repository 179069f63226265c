"""Mean fields that threads use beside each other, for Coulomb's and exchange matrices.

PySCF's keeps what screens the integrals of its last density, and changes its molecule for a while where it
makes integrals of long range: two threads must not use the same one.
"""

# Of the fitting's functions, whose matrices each thread keeps: 50 MB for 264 functions in place of 270.
FITTED_AT_ONCE = 48


def with_own_integrals(mean_field):
    """A copy that shares what is large, its fitted integrals, or those that it has in memory."""
    own = mean_field.copy()
    own.mol = mean_field.mol.copy()
    own._opt = {None: None}
    fitting = getattr(mean_field, "with_df", None)
    if fitting is not None:
        own.with_df = _copy(fitting, own.mol)
    return own


def _copy(fitting, molecule):
    own = fitting.copy()
    own.mol = molecule
    own.auxmol = None  # integrals are made of
    own.blockdim = FITTED_AT_ONCE
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
