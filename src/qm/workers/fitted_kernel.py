"""An approximate inverse of the coupled-perturbed equations' matrix, in closed form.

In place of each change of the density stands its fit by auxiliary functions, for Coulomb's part and
the functional's. The equations then have the form (gaps + B^T K B) x = b with as many rows in B as
there are auxiliary functions, which Woodbury's identity solves. Without exact exchange that is
right to a percent or so.
"""

import numpy
import scipy.linalg
from point_blocks import KERNEL_SHARES, PointBlocks
from pyscf import df
from threads import for_each, gram

SHELLS_AT_ONCE = 24
COLUMNS_AT_ONCE = 512


class FittedKernel:
    """functional_kernel: a CachedKernel, or None; on its own points, as a small grid will do.

    Arrays are the host's; what takes long on the points is done by the kernel's backend.
    """

    def __init__(self, orbital_response, molecule, functional_kernel, points, threads):
        auxiliary = df.make_auxmol(molecule, "def2-universal-jfit")
        metric = auxiliary.intor("int2c2e")
        self._factor = scipy.linalg.cholesky(metric, lower=True)
        self._gaps = orbital_response.gaps
        spaces = orbital_response.spaces()
        blocks = self._transform(molecule, auxiliary, spaces, threads)
        kernel = self._kernel(auxiliary, functional_kernel, points, threads, len(spaces))
        count = len(metric)
        ends = numpy.cumsum([block.shape[1] for block in blocks])
        self._slices = [
            slice(end - block.shape[1], end) for block, end in zip(blocks, ends, strict=True)
        ]
        self._blocks = blocks
        screening = numpy.zeros((count * len(blocks),) * 2)
        for index, (block, part) in enumerate(zip(blocks, self._slices, strict=True)):
            place = slice(index * count, (index + 1) * count)
            screening[place, place] = gram(block / numpy.sqrt(self._gaps[part]), threads)
        coupled = orbital_response.weight * kernel
        self._inner = numpy.linalg.solve(numpy.eye(len(coupled)) + coupled @ screening, coupled)

    def _transform(self, molecule, auxiliary, spaces, threads):
        """Per spin: (auxiliary functions, amplitudes), orthogonal in Coulomb's metric."""
        functions = molecule.nao
        first_function = auxiliary.ao_loc_nr()
        integrals = [numpy.empty((auxiliary.nao, v.shape[1] * o.shape[1])) for o, v in spaces]

        def fill(first):
            last = min(first + SHELLS_AT_ONCE, auxiliary.nbas)
            some = df.incore.aux_e2(
                molecule, auxiliary, "int3c2e", "s1",
                shls_slice=(0, molecule.nbas, 0, molecule.nbas, first, last),
            )
            some = numpy.ascontiguousarray(some.reshape(functions, functions, -1).transpose(2, 0, 1))
            place = slice(first_function[first], first_function[last])
            for made, (occupied, virtual) in zip(integrals, spaces, strict=True):
                made[place] = (virtual.T @ (some @ occupied)).reshape(len(some), -1)

        for_each(fill, range(0, auxiliary.nbas, SHELLS_AT_ONCE), threads)
        for made in integrals:

            def solve(first, made=made):
                some = slice(first, first + COLUMNS_AT_ONCE)
                made[:, some] = scipy.linalg.solve_triangular(self._factor, made[:, some], lower=True)

            for_each(solve, range(0, made.shape[1], COLUMNS_AT_ONCE), threads)
        return integrals

    def _kernel(self, auxiliary, functional_kernel, points, threads, spins):
        """Coulomb's, 1 for all pairs of spins, and the functional's."""
        count = auxiliary.nao
        kernel = numpy.tile(numpy.eye(count), (spins, spins))
        if functional_kernel is None:
            return kernel
        backend, weighted = functional_kernel.backend, functional_kernel.weighted
        xp = backend.xp
        weighted = weighted.reshape(spins, -1, spins, *weighted.shape[-2:])
        blocks = PointBlocks(
            auxiliary,
            points,
            threads,
            0,
            gradients=True,
            precision=numpy.float32,
            backend=backend,
            shares=KERNEL_SHARES,
        )
        for s in range(spins):
            for t in range(s + 1):

                def contribution(block, _functions, values, pair=weighted[s, :, t]):
                    values = values[: len(pair)]
                    here = pair[:, :, block].astype(numpy.float32)
                    right = xp.einsum("abp,bpf->apf", here, values)
                    return values.reshape(-1, values.shape[-1]).T @ right.reshape(
                        -1, values.shape[-1]
                    )

                matrix = backend.get(blocks.sum_matrix(contribution))
                half = scipy.linalg.solve_triangular(self._factor, matrix, lower=True)
                fitted = scipy.linalg.solve_triangular(self._factor, half.T, lower=True).T
                kernel[s * count : (s + 1) * count, t * count : (t + 1) * count] += fitted
                if s != t:
                    kernel[t * count : (t + 1) * count, s * count : (s + 1) * count] += fitted.T
        return kernel

    def precondition(self, vectors):
        """The approximate inverse times the rows."""
        bare = vectors / self._gaps
        fitted = numpy.hstack(
            [bare[:, part] @ block.T for block, part in zip(self._blocks, self._slices, strict=True)]
        )
        screened = numpy.split(fitted @ self._inner.T, len(self._blocks), axis=1)
        induced = numpy.hstack(
            [one @ block for one, block in zip(screened, self._blocks, strict=True)]
        )
        return bare - induced / self._gaps
