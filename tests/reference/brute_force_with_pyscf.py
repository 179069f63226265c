"""Monte Carlo with an SCF in every step, in NumPy: formaldehyde in TIP3P waters, the energy by
reference_energies.py and the embedded SCF by the PySCF worker's engine, called directly.

    python3 brute_force_with_pyscf.py GRO TOP OUTPUT.npz --qm NAME --steps N [--seed N] [--method M]
                                      [--basis B]

Nothing of the program's sampling is used. Writes, for each step, the energy less the isolated
solute's, the dipole in debye, and observables().
"""

import argparse
import os
import pathlib
import sys

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # before numpy

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS.parent / "src/qm/workers"), str(TESTS / "qm"), str(TESTS / "reference")]

import numpy as np
import reference_energies
from model_ensemble import GAS_CONSTANT, turns

MM_TERMS = ("mm_coulomb", "mm_vdw", "qmmm_vdw")
SYMBOLS = {1: "H", 6: "C", 8: "O"}


def observables(solute, waters, box):
    """Distances, in angstrom, of the two nearest hydrogens from formaldehyde's oxygen and of the two
    nearest oxygens from its carbon; solute (4, 3), waters (n, 3, 3).
    """

    def sorted_distances(atom, sites):
        d = sites.reshape(-1, 3) - atom
        return np.sort(np.linalg.norm(d - box * np.rint(d / box), axis=1))

    return [
        *sorted_distances(solute[1], waters[:, 1:])[:2],
        *sorted_distances(solute[0], waters[:, 0])[:2],
    ]


class Solute:
    """The embedded SCF, by the potential of shifted-force charges."""

    def __init__(self, reference, method, basis):
        import pyscf_worker
        from worker_protocol import HARTREE_IN_KJ_PER_MOL, SolventCharges
        from worker_request import worker_request

        self.reference, self.hartree = reference, HARTREE_IN_KJ_PER_MOL
        self.charges_of = lambda x, q: SolventCharges(x, q, 1.0, reference.box)
        elements = [SYMBOLS[int(z)] for z in reference.solute.charge]
        self.nuclei = reference.solute.position
        self.engine = pyscf_worker.PyscfEngine(
            worker_request(elements, method=method, basis=basis), self.nuclei
        )
        self.points = np.vstack([self.engine.points_angstrom().T, self.nuclei])
        self.held = False

    def potential(self, sites, charges):
        """At quadrature points and nuclei, kJ/mol per e."""
        r = self.reference.distances(self.points, sites)
        rc = self.reference.coulomb_cutoff
        v = np.where(r < rc, 1 / r - 1 / rc + (r - rc) / rc**2, 0)
        return reference_energies.COULOMB * (v @ charges)

    def energy(self, potential, positions, charges):
        """(Embedded energy less the isolated one, dipole)."""
        centre = self.nuclei.mean(axis=0)
        box = self.reference.box
        nearest = positions - box * np.rint((positions - centre) / box)
        count = len(self.points) - len(self.nuclei)
        fields, _ = self.engine.update(
            potential[:count] / self.hartree,
            potential[count:] / self.hartree,
            self.charges_of(nearest, charges),
        )
        if not self.held:
            self.engine.hold()
            self.held = True
        return fields["energy"] - fields["isolated_energy"], np.linalg.norm(fields["dipole"])


class Chain:
    def __init__(self, reference, solute, seed, temperature, translation, rotation):
        self.reference, self.solute = reference, solute
        self.kt = GAS_CONSTANT * temperature
        self.translation, self.rotation = translation, np.radians(rotation)
        self.random = np.random.default_rng(seed)
        sites = reference.mm.position.reshape(-1, 3, 3)
        self.charges = reference.mm.charge.reshape(-1, 3)
        self.by_molecule = np.array(
            [solute.potential(x, q) for x, q in zip(sites, self.charges, strict=True)]
        )
        self.energy, self.dipole = self._energy(self.by_molecule.sum(axis=0))

    def _energy(self, potential):
        reference = self.reference
        terms = reference.energies()
        embedded, dipole = self.solute.energy(
            potential, reference.mm.position, reference.mm.charge
        )
        return sum(terms[name] for name in MM_TERMS) + embedded, dipole

    def step(self):
        m = self.random.integers(len(self.charges))
        place = slice(3 * m, 3 * m + 3)
        old = self.reference.mm.position[place].copy()
        axis = self.random.normal(size=(1, 3))
        turn = turns(axis / np.linalg.norm(axis), self.random.uniform(-1, 1, 1) * self.rotation)[0]
        shift = self.random.uniform(-self.translation, self.translation, 3)
        new = (old - old[0]) @ turn + old[0] + shift
        self.reference.mm.position[place] = new
        potential = self.solute.potential(new, self.charges[m])
        total = self.by_molecule.sum(axis=0) - self.by_molecule[m] + potential
        energy, dipole = self._energy(total)
        if self.random.random() < np.exp(min(0.0, -(energy - self.energy) / self.kt)):
            self.energy, self.dipole, self.by_molecule[m] = energy, dipole, potential
        else:
            self.reference.mm.position[place] = old


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gro")
    parser.add_argument("top")
    parser.add_argument("output")
    parser.add_argument("--qm", required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--temperature", type=float, default=298.15)
    parser.add_argument("--translation", type=float, default=0.2)
    parser.add_argument("--rotation", type=float, default=20)
    parser.add_argument("--method", default="hf")
    parser.add_argument("--basis", default="sto-3g")
    a = parser.parse_args()
    reference = reference_energies.make_reference(
        a.gro, a.top, a.qm, modifier="potential-shift"
    )
    solute = Solute(reference, a.method, a.basis)
    chain = Chain(reference, solute, a.seed, a.temperature, a.translation, a.rotation)
    rows = []
    for _ in range(a.steps):
        chain.step()
        waters = reference.mm.position.reshape(-1, 3, 3)
        seen = observables(reference.solute.position, waters, reference.box)
        rows.append([chain.energy, chain.dipole, *seen])
    np.savez(a.output, rows=np.array(rows))


if __name__ == "__main__":
    main()
