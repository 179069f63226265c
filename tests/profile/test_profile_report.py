"""`starpmc report` of a profile's folder: one page with what profile.json says, and pictures.

usage: test_profile_report.py PROGRAM [TEST ...]
"""

import functools
import json
import pathlib
import re
import shutil
import sys
import tempfile

from profile_case import (  # first: skips what cannot run
    MODEL,
    ProfileCase,
    np,
    program,
)

sys.path.insert(0, str(program.REPOSITORY / "src/report"))
from test_report import Page

PARTS = ["Profile", "Images", "Solute and first shell", "Overlap", "Convergence", "Configuration",
         "Versions"]  # fmt: skip


@functools.cache
def finished_profile():
    """A folder that no test changes: five images with a barrier between the ends."""
    folder = tempfile.TemporaryDirectory(prefix="starpmc-test-")
    case = ProfileCase()
    case.folder = pathlib.Path(folder.name)
    config = program.write_config(
        case.folder / "test.cfg", **case.settings([0, 0.25, 0.5, 0.75, 1], steps=6000)
    )
    case.profile(config, case.folder / "profile")
    return folder


class Report(ProfileCase):
    def copy(self):
        there = self.folder / "profile"
        shutil.copytree(pathlib.Path(finished_profile().name) / "profile", there)
        return there

    def report(self, folder, *options, status=0):
        result = program.start("report", folder, *options, env=MODEL)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        self.assertNotIn("Traceback", result.stderr)
        return result

    def page(self, folder):
        return Page((folder / "report.html").read_text(encoding="utf-8"))

    def test_whole_page(self):
        folder = self.copy()
        self.assertEqual(self.report(folder, "--png").stderr, "")
        page, text = self.page(folder), (folder / "report.html").read_text()
        self.assertEqual(page.headings, PARTS)
        self.assertEqual([link for link in page.links if not link.startswith("#")], [])
        self.assertEqual({link[1:] for link in page.links} - set(page.ids), set())
        self.assertEqual(len(page.ids), len(set(page.ids)))
        for tag in ("script", "img", "link", "iframe", "image"):
            self.assertNotIn(tag, page.tags)
        self.assertNotRegex(re.sub(r">[^<]*<", "><", text), "https?://")
        self.assertIn((folder / "profile.cfg").read_text().strip(), "".join(page.text))
        names = {path.name for path in folder.glob("report-*.png")}
        self.assertEqual(
            names,
            {f"report-{name}.png" for name in (
                "profile", "overlap", "convergence-1", "convergence-2", "solute-minimum",
                "solute-transition-state", "solute-product")},
        )  # fmt: skip

    def test_numbers(self):
        folder = self.copy()
        self.report(folder)
        words = " ".join(self.page(folder).text)
        found = json.loads((folder / "profile.json").read_text())
        for row in found["images"]:
            for name, digits in (("free_energy", 2), ("error", 2), ("reference_correction", 3)):
                self.assertIn(f"{row[name]:.{digits}f}", words)
        # The barrier is from the minimum before it, with the error of the difference.
        energies = [row["free_energy"] for row in found["images"]]
        top = int(np.argmax(energies))
        low = int(np.argmin(energies[:top]))
        self.assertEqual(top, 2)
        self.assertIn(
            f"transition state (image {top + 1}) above minimum (image {low + 1})", words
        )
        self.assertIn(f"{found['half_widths_95_of_differences'][low][top]:.2f}", words)
        self.assertIn(f"{energies[top] - energies[low]:.2f}", words)
        # A profile of an earlier version has errors alone.
        del found["half_widths_95_of_differences"]
        (folder / "profile.json").write_text(json.dumps(found))
        self.report(folder)
        words = " ".join(self.page(folder).text)
        self.assertIn(f"{1.96 * found['errors_of_differences'][low][top]:.2f}", words)
        self.assertIn("Transition state, image 3, last frame: the QM molecule and the", words)

    def test_of_what_there_is(self):
        folder = self.copy()
        (folder / "profile.json").unlink()
        shutil.rmtree(folder / "image-05")
        result = self.report(folder)
        self.assertIn("There is no profile.json", result.stderr)
        page = self.page(folder)
        self.assertEqual(page.headings, ["Configuration", "Versions"])
        self.assertIn("4 images so far, not finished", " ".join(page.text))

    def test_damaged(self):
        folder = self.copy()
        text = (folder / "profile.json").read_text()
        for damage in (text[: len(text) // 2], "[]", "{}", text.replace('"free_energy"', '"f"'),
                       re.sub(r'"error": [0-9.e-]+', '"error": "x"', text)):  # fmt: skip
            (folder / "profile.json").write_text(damage)
            self.assertIn("profile.json cannot be read", self.report(folder).stderr)
        (folder / "profile.json").write_text(text.replace('"overlap":', '"o":'))
        self.assertIn("Overlap: left out", self.report(folder).stderr)
        (folder / "profile.json").write_text(text)
        for path in (folder / "image-03").rglob("trajectory.h5md"):
            path.unlink()
        result = self.report(folder)
        self.assertRegex(result.stderr, "Solute and first shell: left out.*image-03")
        self.assertEqual(self.page(folder).headings, [p for p in PARTS if p != PARTS[2]])

    def test_options_of_runs(self):
        folder = self.copy()
        for option in (["--pairs", "O:O"], ["--atoms", "O"], ["--xtc"]):
            result = self.report(folder, *option, status=2)
            for part in (f"no {option[0]}", "remedy:", "image-01"):
                self.assertIn(part, result.stderr)
        self.assertFalse((folder / "report.html").exists())
        self.report(folder / "image-01", "--pairs", "O:ION")


class Choices(program.TestCase):
    def places(self, *energies):
        from profile_folder import ProfileFolder

        images = [{"free_energy": value} for value in energies]
        profile = ProfileFolder(pathlib.Path(), {"images": images})
        return {place.name: place.image for place in profile.places()}

    def test_places(self):
        self.assertEqual(
            self.places(0, -2, 5, 30, 4, -9, 1),
            {"minimum": 1, "transition state": 3, "product": 5},
        )
        self.assertEqual(self.places(0, 1, 2), {"first image": 0, "last image": 2})
        self.assertEqual(self.places(3, 1), {"first image": 0, "last image": 1})

    def test_view_shows_what_moves(self):
        import profile_page

        # Three atoms on a long line along x; the middle one goes along z.
        start = np.array([[-4.0, 0, 0], [0, 0, 0.5], [4, 0, 0]])
        path = np.array([start, start * [1, 1, 0], start * [1, 1, -1]])
        view = profile_page.view_of_path(path)
        np.testing.assert_allclose(view @ view.T, np.eye(3), atol=1e-12)
        self.assertAlmostEqual(np.linalg.det(view), 1)
        np.testing.assert_allclose(np.abs(view[0]), [1, 0, 0], atol=1e-12)
        np.testing.assert_allclose(np.abs(view[1]), [0, 0, 1], atol=1e-12)
        # Nothing moves, one atom, a line: still a rotation.
        for path in (np.array([start] * 3), np.zeros((2, 1, 3)), np.array([start * [1, 0, 0]] * 2)):
            view = profile_page.view_of_path(path)
            np.testing.assert_allclose(view @ view.T, np.eye(3), atol=1e-12)


if __name__ == "__main__":
    program.main()
