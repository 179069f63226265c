"""The SCF of a solute in a solvent's potential, and its density on the grid, on one backend.

All that never changes is made here once: basis functions on the grids, fitted Coulomb integrals,
overlap. What goes in and out are arrays of the host.
"""

import dataclasses
import functools

import array_functionals
import attraction
import cached_functional
import fitted_interaction
import numpy
from convergence import Convergence
from embedding import Embedding
from fitting_basis import fitting_basis
from mean_field import build_factors, build_grid, is_gga
from orbital_response import exchange_of
from point_blocks import PointBlocks
from two_level import TwoLevelScf

FACTOR_BLOCK_BYTES = 2**20  # of the density fitting's three-centre integrals
# The coarse level of two_level.py: it has to know changes to a percent or so. Also of embeddings that
# need not tell the energy of their configuration: chorismate's matrices in water are off by 0.3 % of
# what they differ from each other, and the reference's energy in them by 0.1 kJ/mol.
COARSE_RADIAL, COARSE_ANGULAR = 20, 50
COARSE_SMALLEST_VALUE = 1e-3
COARSE_SMALLEST_EMBEDDED = 1e-6
DEVICE_TEMPORARY_BYTES = 2**30  # CUDA's own among them
AUXILIARY_FUNCTIONS = 5  # of density fitting for each of the basis


@dataclasses.dataclass
class Grids:
    """points (p, 3) in bohr of the quadrature, of a coarser one, and of the density that the sampling
    uses."""

    points: numpy.ndarray
    weights: numpy.ndarray
    coarse_points: numpy.ndarray
    coarse_weights: numpy.ndarray
    density_points: numpy.ndarray
    density_weights: numpy.ndarray


def real_points(grid):
    """(points, weights) without those of no weight by which PySCF pads a grid that it builds."""
    real = grid.atm_idx >= 0
    return grid.coords[real], grid.weights[real]


def grid_points(molecule, radial, angular, name):
    grid = build_grid(molecule, radial, angular, name)
    grid.build(with_non0tab=True)
    return real_points(grid)


def coarse_points(molecule):
    return grid_points(molecule, COARSE_RADIAL, COARSE_ANGULAR, "coarse grid")


def stream_factors_once(density_fitting):
    """A Coulomb matrix reads each block of the factors twice: small blocks, from the core's cache.

    Not where they lie in a file, which has larger blocks of its own.
    """
    if not isinstance(density_fitting._cderi, numpy.ndarray):
        return
    pairs = density_fitting.mol.nao * (density_fitting.mol.nao + 1) // 2
    density_fitting.blockdim = max(4, FACTOR_BLOCK_BYTES // (8 * pairs))


def why_not_on_device(mean_field, request):
    """What of a calculation has no device form; empty: all of it has."""
    if not is_gga(request) or not cached_functional.serves(
        mean_field._numint, mean_field.xc, True
    ):
        return (
            f"qm.method = {request['method']} with qm.multiplicity = {request['multiplicity']}; a "
            "GPU serves closed shells with LDA and GGA functionals and their global hybrids"
        )
    if array_functionals.parts_of(mean_field.xc) is None:
        return (
            f"qm.method = {request['method']}; of the GGA functionals a GPU serves those made of "
            "Slater's, PBE, revPBE, RPBE, PBEsol and B88 exchange, VWN, PW92, PBE, PBEsol and LYP "
            "correlation, and their hybrids, as PBE0 and B3LYP"
        )
    return ""


def device_bytes(functions, atoms, request):
    """What the device will hold at most: known before there are grids, which are pruned."""
    points = atoms * request["scf_grid_radial"] * request["scf_grid_angular"]
    coarse_points = atoms * COARSE_RADIAL * COARSE_ANGULAR
    density_points = atoms * request["grid_radial"] * request["grid_angular"]
    return (
        4 * 8 * functions * points
        + 4 * functions * coarse_points
        + 8 * functions * density_points
        + fitted_interaction.size_in_bytes(functions, AUXILIARY_FUNCTIONS * functions)
        + attraction.BYTES_AT_ONCE
        + DEVICE_TEMPORARY_BYTES
    )


class SolventScf:
    """convergence: what makes the SCF; embedding: what makes matrices of potentials;
    coarse_embedding: the same by the coarse quadrature. integrals: see make_levels()."""

    def __init__(self, backend, molecule, mean_field, grids, request, stopwatch, integrals=None):
        self.backend = backend
        self._molecule = molecule
        self._mean_field = mean_field
        self._grids = grids
        self._stopwatch = stopwatch
        # A device keeps all or does not get here.
        cache_bytes = float("inf") if backend.on_device else request["memory_mb"] * 2**20 / 4
        self._scf_blocks = self._blocks(grids.points, request, cache_bytes, gradients=True)
        self._density_blocks = self._blocks(
            grids.density_points,
            request,
            cache_bytes,
            precision=backend.density_precision,
        )
        self._density_charges = backend.put(-grids.density_weights)  # of one electron per cubic bohr
        self.embedding = Embedding(molecule, grids.points, grids.weights, self._scf_blocks)
        self._request = request
        self.convergence = Convergence(mean_field, self._two_level(request, integrals))

    def _blocks(self, points, request, cache_bytes, **how):
        return PointBlocks(
            self._molecule, points, request["threads"], cache_bytes, backend=self.backend, **how
        )

    @functools.cached_property
    def coarse_embedding(self):
        blocks = self._blocks(
            self._grids.coarse_points,
            self._request,
            float("inf"),
            precision=numpy.float32,
            smallest_value=COARSE_SMALLEST_EMBEDDED,
        )
        return self.embedding.on(self._grids.coarse_points, self._grids.coarse_weights, blocks)

    def charges(self, orbitals, result):
        """Of the density's points: into an array of the host's."""
        squares = self._density_blocks.sum_of_squares(self.backend.put(orbitals))
        self.backend.get_product(self._density_charges, squares, result)

    def coulomb(self, density_matrices):
        """(k, n, n): the matrices of a closed shell's densities that PySCF need not make; all are the
        host's, and travel at once: each time a device is waited for."""
        matrices = self.backend.put(density_matrices)
        each = [self._interaction.coulomb(matrices[k]) for k in range(len(matrices))]
        return self.backend.get(self.backend.xp.stack(each))

    def potential(self, density_matrix):
        """Coulomb's and the functional's matrix of a closed shell's density; both are the host's. Without
        exact exchange that is the mean field's, which PySCF would need factors of its own for."""
        matrix = self.backend.put(density_matrix)
        return self.backend.get(
            self._interaction.coulomb(matrix) + self._functional.potential(matrix)
        )

    def _two_level(self, request, integrals):
        """None where PySCF's own SCF has to do: open shells, range-separated exchange, meta-GGAs, ..."""
        mean_field = self._mean_field
        integrator = vars(mean_field).get("_numint")
        closed_shell = request["multiplicity"] == 1
        if integrator is None or not cached_functional.serves(
            integrator, mean_field.xc, closed_shell
        ):
            return None
        functional = cached_functional.CachedFunctional(
            integrator, self._scf_blocks, self._grids.weights, mean_field.xc
        )
        self._functional = functional
        integrator.nr_rks = functional.in_place_of_nr_rks
        omega, _, exchange_share = exchange_of(mean_field)
        if omega:
            return None
        coarse_functional = self._coarse_functional(integrator, request)
        fitted = mean_field
        if not request["density_fitting"]:
            fitted = mean_field.density_fit(auxbasis=fitting_basis(self._molecule))
        if integrals is None:
            build_factors(fitted)
            stream_factors_once(fitted.with_df)
        fine_interaction, coarse_interaction = fitted_interaction.make_levels(
            mean_field, fitted, self.backend, integrals
        )
        self._interaction = fine_interaction

        def potential_of(interaction, matrix, root):
            with self._stopwatch.measure("coulomb"):
                potential = interaction.coulomb(matrix)
                if exchange_share:
                    potential = potential - 0.5 * exchange_share * interaction.exchange(root())
            return potential

        def fine(matrix, root):
            potential = potential_of(fine_interaction, matrix, root)
            with self._stopwatch.measure("functional"):
                of_functional, more = functional.evaluate(matrix)
            energy = 0.5 * float(self.backend.xp.vdot(potential, matrix))
            return energy + of_functional, potential + more

        def coarse(matrix, root):
            potential = potential_of(coarse_interaction, matrix, root)
            with self._stopwatch.measure("functional"):
                return potential + coarse_functional.potential(matrix)

        return TwoLevelScf(
            fine,
            coarse,
            mean_field.get_ovlp(),
            self._molecule.nelectron // 2,
            self._stopwatch,
            self.backend,
        )

    def _coarse_functional(self, integrator, request):
        blocks = self._blocks(
            self._grids.coarse_points,
            request,
            float("inf"),
            gradients=True,
            precision=numpy.float32,
            smallest_value=COARSE_SMALLEST_VALUE,
        )
        return cached_functional.CachedFunctional(
            integrator, blocks, self._grids.coarse_weights, self._mean_field.xc
        )
