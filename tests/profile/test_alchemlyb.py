"""Files of a profile as alchemlyb, which the field analyses such files with, reads them: its own
estimates from them are those of profile.csv.

usage: test_alchemlyb.py PROGRAM [TEST ...]
"""

import functools
import json
import logging
import pathlib
import subprocess
import sys
import tempfile
import warnings

from profile_case import TEMPERATURE, ProfileCase, np, program, table

logging.disable(logging.WARNING)  # pymbar recommends other packages
try:
    import pandas as pd
    from alchemlyb.estimators import BAR, MBAR
    from alchemlyb.parsing.gmx import extract_u_nk
except ImportError as missing:
    print(f"skipped: {missing}; install tests/requirements.txt")
    sys.exit(program.SKIPPED)

EVALUATION = pathlib.Path(__file__).resolve().parents[1] / "evaluation"
KT = 0.00831446261815324 * TEMPERATURE
TOLERANCE = 0.01  # kJ/mol


@functools.cache
def finished_profile():
    """A folder that no test changes; two chains of three images."""
    folder = tempfile.TemporaryDirectory(prefix="starpmc-test-")
    case = ProfileCase()
    case.folder = pathlib.Path(folder.name)
    sections = case.settings([0, 0.4, 0.8], steps=12000, chains=2)
    case.profile(program.write_config(case.folder / "test.cfg", **sections), case.folder / "made")
    return folder


class Alchemlyb(program.TestCase):
    def setUp(self):
        super().setUp()
        self.made = pathlib.Path(finished_profile().name) / "made"

    def read(self, pattern):
        """Of all images in their order."""
        paths = sorted(self.made.glob(pattern))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what newer pandas will no longer know
            return paths, pd.concat([extract_u_nk(path, T=TEMPERATURE) for path in paths])

    def test_energies(self):
        paths, u_nk = self.read("image-*/chain-*/dhdl.xvg")
        self.assertEqual(len(paths), 6)
        rows = np.concatenate([
            np.loadtxt(path, comments=("#", "@"))[:, 1:] for path in paths
        ])  # fmt: skip
        np.testing.assert_allclose(u_nk.to_numpy() * KT, rows, atol=1e-5)
        states = u_nk.index.get_level_values("fep-lambda").unique()
        np.testing.assert_allclose(states, [0, 0.5, 1])

    def test_same_frames_same_estimates(self):
        _, u_nk = self.read("image-*/dhdl-weighted.xvg")
        rows = table(self.made / "profile.csv")
        counts = u_nk.groupby(level="fep-lambda").size()
        bar = BAR().fit(u_nk)
        for k, row in enumerate(rows[:-1]):
            self.assertAlmostEqual(
                bar.delta_f_.iloc[k, k + 1] * KT, float(row["bar_to_next"]), delta=TOLERANCE
            )
            # There each frame counts as an independent one.
            self.assertGreaterEqual(counts.iloc[k], int(row["independent_frames"]))
            self.assertLess(
                bar.d_delta_f_.iloc[k, k + 1] * KT, 1.2 * float(row["bar_to_next_error"])
            )
        mbar = MBAR().fit(u_nk)
        for k, row in enumerate(rows):
            self.assertAlmostEqual(
                mbar.delta_f_.iloc[0, k] * KT, float(row["sampled_free_energy"]), delta=TOLERANCE
            )
        overlap = json.loads((self.made / "profile.json").read_text())["overlap"]
        np.testing.assert_allclose(mbar.overlap_matrix, overlap, atol=1e-3)

    def test_frames_that_all_count_alike(self):
        """tests/evaluation/perturbative_profile.py, here from the profile's own frames."""
        sys.path.insert(0, str(EVALUATION))
        import perturbative_profile

        images = perturbative_profile.folders_of_images(self.made)
        columns, rows = perturbative_profile.compare(self.made, self.made, images)
        self.assertEqual(columns[-2:], ["difference", "error"])
        self.assertEqual([row[0] for row in rows], ["image-01", "image-02", "image-03"])
        for row in rows[1:]:
            difference, error = map(float, row[-2:])
            self.assertLess(0, error)
            self.assertLess(abs(difference), 3 * error)

    def test_sampled_by_the_published_method(self):
        """The same script as a user calls it."""
        script = EVALUATION / "perturbative_profile.py"
        words = ["--interval", 1000, "--steps", 4000, "--output", self.folder / "out"]
        result = subprocess.run(
            [sys.executable, script, self.made, "--program", program.PROGRAM, *map(str, words)],
            env=program.environment(), check=False, capture_output=True, text=True,
        )  # fmt: skip
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = table(self.folder / "out" / "perturbative-profile.csv")
        self.assertEqual([row["image"] for row in rows], ["image-01", "image-02", "image-03"])
        self.assertEqual(len(list(self.folder.glob("out/image-*/chain-*/dhdl.xvg"))), 6)

    def test_all_frames_agree(self):
        """They are correlated and not weighted, which matters little here: not to the same digits."""
        _, u_nk = self.read("image-*/chain-*/dhdl.xvg")
        bar = BAR().fit(u_nk).delta_f_
        for k, row in enumerate(table(self.made / "profile.csv")[:-1]):
            error = float(row["bar_to_next_error"])
            self.assertGreater(error, 0)
            self.assertLess(abs(bar.iloc[k, k + 1] * KT - float(row["bar_to_next"])), 4 * error)


if __name__ == "__main__":
    program.main()
