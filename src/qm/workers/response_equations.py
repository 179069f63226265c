"""The coupled-perturbed equations at a density: made by one worker, and taken over by others."""

import cached_functional
import numpy
from mean_field import build_factors
from orbital_response import OrbitalResponse, Orbitals
from point_blocks import KERNEL_SHARES, PointBlocks
from pyscf import lib
from solvent_scf import grid_points

# Of the functional's part in the response, of which the energy is a second-order quantity.
KERNEL_RADIAL, KERNEL_ANGULAR = 30, 110


def needs_pyscf(mean_field):
    """For the functional's part."""
    integrator = vars(mean_field).get("_numint")
    return integrator is not None and not cached_functional.serves(integrator, mean_field.xc, True)


def make_kernel(mean_field, density, cache_bytes, backend):
    """(CachedKernel, its points), or None twice: there is no functional, or PySCF has to evaluate it."""
    integrator = vars(mean_field).get("_numint")
    if integrator is None or needs_pyscf(mean_field):
        return None, None
    molecule = mean_field.mol
    points, weights = grid_points(molecule, KERNEL_RADIAL, KERNEL_ANGULAR, "kernel grid")
    blocks = PointBlocks(
        molecule,
        points,
        1,  # threads take whole products
        cache_bytes,
        gradients=True,
        precision=numpy.float32,
        backend=backend,
        shares=KERNEL_SHARES,
    )
    kernel = cached_functional.CachedKernel(integrator, blocks, weights, mean_field.xc, density)
    return kernel, points


def make_response(mean_field, orbitals, kernel, device_coulomb=None):
    """OrbitalResponse. kernel: of make_kernel()."""
    if kernel is not None:
        of_density = kernel.of_host
    elif needs_pyscf(mean_field):
        of_density = _functional_by_pyscf(mean_field, orbitals)
    else:
        of_density = None
    return OrbitalResponse(mean_field, orbitals, of_density, device_coulomb)


def _functional_by_pyscf(mean_field, orbitals):
    """PySCF's response of a mean field that has neither Coulomb's part nor exchange."""

    def nothing(_molecule, changes, *_, **__):
        return numpy.zeros_like(changes)

    bare = mean_field.copy()
    bare.get_j = bare.get_k = nothing
    bare.get_jk = lambda *arguments, **_: (nothing(*arguments), nothing(*arguments))
    matrices = [one.matrix for one in orbitals]
    occupations = [
        numpy.where(numpy.arange(len(one.energies)) < one.occupied, 2.0 / len(orbitals), 0.0)
        for one in orbitals
    ]
    if len(orbitals) == 1:
        (matrices,), (occupations,) = matrices, occupations
    with lib.with_omp_threads(1):  # for the same bits
        respond = bare.gen_response(numpy.array(matrices), numpy.array(occupations), hermi=1)
    return lambda changes: numpy.asarray(respond(changes)).reshape(changes.shape)


def pack(orbitals, density):
    """What take_over() needs, as one row of numbers."""
    parts = []
    for one in orbitals:
        parts += [[one.occupied, len(one.energies)], one.energies, one.matrix.ravel()]
    return numpy.concatenate([*parts, density.ravel()])


def take_over(numbers, mean_field, spins, cache_bytes, backend):
    """OrbitalResponse of pack(), whose products have the same bits. ValueError: it is of another calculation."""
    orbitals, density = _unpack(numbers, mean_field.mol.nao, spins)
    build_factors(mean_field)
    kernel, _ = make_kernel(mean_field, density, cache_bytes, backend)
    return make_response(mean_field, orbitals, kernel)


def _unpack(numbers, functions, spins):
    orbitals, rest = [], numbers
    for _ in range(spins):
        one, rest = _unpack_spin(rest, functions)
        orbitals.append(one)
    if len(rest) != spins * functions**2:
        raise ValueError(f"{len(rest)} numbers of a density of {functions} basis functions")
    density = rest.reshape(spins, functions, functions)
    return orbitals, density if spins == 2 else density[0]


def _unpack_spin(numbers, functions):
    occupied, count = (int(number) for number in numbers[:2]) if len(numbers) > 1 else (0, 0)
    end = 2 + count * (1 + functions)
    if not (0 <= occupied <= count <= functions and 0 < count and end <= len(numbers)):
        raise ValueError(f"{occupied} of {count} orbitals occupied, {functions} basis functions")
    energies, matrix = numbers[2 : 2 + count], numbers[2 + count : end]
    return Orbitals(energies, matrix.reshape(functions, count), occupied), numbers[end:]
