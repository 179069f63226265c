"""Auxiliary functions of density fitting, where those that PySCF would take are of no use."""

from pyscf import df, gto

# From Rb on the fitting sets that PySCF takes for all-electron bases (sto-3g, 3-21g) are made for the
# valence electrons beside an effective core potential: energies were off by 1e5 kJ/mol.
FIRST_WITHOUT_CORE = 37


def fitting_basis(molecule):
    """What density_fit(auxbasis=...) takes; None: PySCF's own choice is right."""
    heavy = {
        symbol for symbol in molecule.elements if gto.charge(symbol) >= FIRST_WITHOUT_CORE
    }
    if not heavy:
        return None
    chosen = df.make_auxbasis(molecule)
    of_own_basis = df.aug_etb(molecule)
    return {symbol: (of_own_basis if symbol in heavy else chosen)[symbol] for symbol in chosen}
