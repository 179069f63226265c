"""Names of methods that would be misread, and dispersion corrections, in the PySCF worker.

Run by any Python that has src/qm/workers/requirements.txt.
"""

import importlib.util
import sys
import unittest

import pyscf_worker_tests  # noqa: F401

# isort: split

import numpy
import pyscf_worker
from pyscf import gto
from worker_protocol import HARTREE_IN_KJ_PER_MOL, SolventCharges, WorkerError
from worker_request import worker_request

FORMATE = (
    ["C", "O", "O", "H"],
    [[0, 0, 0], [1.13, 0.54, 0], [-1.13, 0.54, 0], [0, -1.13, 0]],
)
POINT = SolventCharges(numpy.array([[0.0, 2.6, 0.3]]), numpy.array([0.5]), 1.0)
BOHR_PER_ANGSTROM = 1 / 0.529177210903
LIBRARIES = all(importlib.util.find_spec(name) for name in ("dftd3", "dftd4"))


def make_engine(method):
    request = worker_request(
        FORMATE[0],
        charge=-1,
        method=method,
        basis="sto-3g",
        grid_radial=10,
        grid_angular=50,
        scf_grid_radial=20,
        scf_grid_angular=50,
        energy_convergence_hartree=1e-9,
    )
    return pyscf_worker.PyscfEngine(request, numpy.array(FORMATE[1], float))


def update(method):
    engine = make_engine(method)

    def potential(points):
        distances = numpy.linalg.norm(points - POINT.positions[0], axis=1)
        return POINT.charges[0] / (distances * BOHR_PER_ANGSTROM)

    nuclei = numpy.array(FORMATE[1], float)
    return engine.update(potential(engine.points_angstrom().T), potential(nuclei), POINT)[0]


class NamesTest(unittest.TestCase):
    def refused(self, method, remedy):
        with self.subTest(method), self.assertRaises(WorkerError) as caught:
            make_engine(method)
        self.assertEqual(caught.exception.reason, "bad-request")
        self.assertIn(method, str(caught.exception))
        self.assertIn(remedy, str(caught.exception))

    def test_parts_of_functionals(self):
        for method, says in (("vwn5", "without exchange"), ("pbe0-2", "subtract"), ("b3lyp-vv10", "subtract")):
            self.refused(method, says)
        make_engine(",vwn")

    def test_parts_that_would_be_ignored(self):
        for method in ("PBE-D3", "pbe-d3bjm", "pbe_d3", "pbe-d2", "b3lyp-d"):
            self.refused(method, "-d3bj, -d3zero, -d4")
        for method in ("b97-3c", "wB97X-D", "b97-d", "b97-d3bj", "wb97x-d4", "cf22d"):
            self.refused(method, "take another")

    def test_other_spellings_of_what_would_be_ignored(self):
        for method in (
            *("wb97xd", "wb97xd3", "b973c", "b973c-d3bj", "hyb_gga_xc_wb97xd", "gga_xc_b97d"),
            *("gga_xc_b973c", "beefvdw", "gga_x_beefvdw,lyp", "oblypd", "ssbd,lyp", "mgga_c_cf22d"),
            *("hyb_gga_xc_wb97x-d4", "hyb_gga_xc_b97-d4", "hyb_gga_xc_b97,-d4"),
        ):
            self.refused(method, "take another")

    def test_no_correction_beside_non_local_correlation(self):
        for method in ("hyb_gga_xc_wb97x_v-d4", "hyb_mgga_xc_wb97m_v-d4", "vv10-d3bj", "b97m_v-d3bj"):
            self.refused(method, "VV10")

    def test_exchange_alone(self):
        self.refused("lda", "lda,vwn")
        self.refused("b88", "blyp")
        make_engine("lda,")
        make_engine("lda,vwn")

    def test_unknown(self):
        self.refused("ccsd", "does not know")


@unittest.skipUnless(LIBRARIES, "no dftd3, dftd4")
class DispersionTest(unittest.TestCase):
    def check(self, method, expected):
        plain, corrected = update(method.rpartition("-")[0]), update(method)
        for name in ("energy", "isolated_energy"):
            change = corrected[name] - plain[name]
            self.assertAlmostEqual(change, expected * HARTREE_IN_KJ_PER_MOL, delta=1e-6)
        for name in ("interaction_electrons", "polarisation_energy"):
            self.assertAlmostEqual(corrected[name], plain[name], delta=1e-6)
        self.assertLess(expected * HARTREE_IN_KJ_PER_MOL, -0.5)

    def molecule(self):
        atoms = list(zip(*FORMATE, strict=True))
        return gto.M(atom=atoms, charge=-1, basis="sto-3g", verbose=0)

    def test_d3_is_that_of_the_librarys_own_interface_to_pyscf(self):
        from dftd3.pyscf import DFTD3Dispersion

        for correction in ("d3bj", "d3zero"):
            theirs = DFTD3Dispersion(self.molecule(), xc="PBE", version=correction)
            self.check(f"pbe-{correction}", float(theirs.kernel()[0]))

    def test_d4_is_that_of_the_librarys_own_interface_to_pyscf(self):
        from dftd4.pyscf import DFTD4Dispersion

        theirs = DFTD4Dispersion(self.molecule(), xc="B3LYP")
        self.check("B3LYP-D4", float(theirs.kernel()[0]))

    def test_hartree_fock(self):
        from dftd3.pyscf import DFTD3Dispersion

        theirs = DFTD3Dispersion(self.molecule(), xc="HF", version="d3bj")
        self.check("hf-d3bj", float(theirs.kernel()[0]))

    def test_functional_without_parameters(self):
        with self.assertRaises(WorkerError) as caught:
            make_engine("lda,vwn-d3bj")
        self.assertEqual(caught.exception.reason, "bad-request")
        self.assertIn("no parameters of d3bj", str(caught.exception))


class MissingLibraryTest(unittest.TestCase):
    def test_it_is_said(self):
        hidden = {"dftd3": None, "dftd3.interface": None}
        kept = {name: sys.modules.pop(name) for name in hidden if name in sys.modules}
        sys.modules.update(hidden)
        try:
            with self.assertRaises(WorkerError) as caught:
                make_engine("pbe-d3bj")
        finally:
            for name in hidden:
                del sys.modules[name]
            sys.modules.update(kept)
        self.assertEqual(caught.exception.reason, "missing")
        self.assertIn("pbe-d3bj", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
