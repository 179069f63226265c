"""The integrals that density fitting is made of, for a device that makes the factors.

On the host PySCF makes these itself; solving for them is most of that, and next to nothing of a
device's time.
"""

import dataclasses

import numpy
import scipy.linalg
from pyscf import df, gto

BLOCK_BYTES = 2**26
# Of memory_mb, as PySCF decides between memory and files.
MEMORY_SHARE = 0.9


@dataclasses.dataclass
class FittingIntegrals:
    """The factors are inverse @ (P|mn).

    inverse: of the Cholesky factor of (P|Q). blocks: pairs of functions m >= n, as a slice of all, and
    their integrals (auxiliary functions, pairs).
    """

    inverse: numpy.ndarray
    blocks: list


def fitting_integrals(density_fitting, memory_mb, stopped=lambda: False):
    """Of PySCF's density fitting, which need not be built. None: they do not fit into memory, the
    auxiliary functions are linearly dependent, or stopped() says that nobody wants them."""
    molecule = density_fitting.mol
    auxiliary = df.make_auxmol(molecule, density_fitting.auxbasis)
    ends = molecule.ao_loc_nr().astype(int)
    ends = ends * (ends + 1) // 2  # of pairs, by shell
    if 8 * ends[-1] * auxiliary.nao > MEMORY_SHARE * memory_mb * 2**20:
        return None
    try:
        root = scipy.linalg.cholesky(auxiliary.intor("int2c2e", hermi=1), lower=True)
    except scipy.linalg.LinAlgError:
        return None
    inverse, failed = scipy.linalg.lapack.dtrtri(root, lower=True)
    if failed:
        return None
    plan = gto.moleintor.make_cintopt(
        *gto.mole.conc_env(
            molecule._atm, molecule._bas, molecule._env, auxiliary._atm, auxiliary._bas, auxiliary._env
        ),
        "int3c2e_sph",
    )
    most = max(1, BLOCK_BYTES // (8 * auxiliary.nao))
    blocks, first = [], 0
    while first < molecule.nbas:
        if stopped():
            return None
        last = int(numpy.searchsorted(ends, ends[first] + most, side="right")) - 1
        last = max(last, first + 1)
        shells = (first, last, 0, molecule.nbas, 0, auxiliary.nbas)
        found = df.incore.aux_e2(
            molecule, auxiliary, "int3c2e", aosym="s2ij", cintopt=plan, shls_slice=shells
        )
        blocks.append((slice(int(ends[first]), int(ends[last])), found.T))
        first = last
    return FittingIntegrals(inverse, blocks)
