"""Images that `starpmc profile` puts between neighbours that overlap too little, along the model path.

usage: test_added_images.py PROGRAM [TEST ...]
"""

import functools
import json
import pathlib
import shutil
import tempfile

from profile_case import (
    BOX,
    MODEL,
    TEMPERATURE,
    ProfileCase,
    model_path,
    np,
    program,
    table,
)

FAR = [0, 2]  # these overlap by 0.02 to 0.05, as chance has it
WANTED = 0.08


@functools.cache
def finished_profile():
    """A folder that no test changes: two images, and what was put between them."""
    folder = tempfile.TemporaryDirectory(prefix="starpmc-test-")
    case = ProfileCase()
    case.folder = pathlib.Path(folder.name)
    settings = case.settings(FAR, steps=6000)
    settings["profile"]["least_overlap"] = WANTED
    config = program.write_config(case.folder / "test.cfg", **settings)
    result = program.succeed(
        "profile", config, "--output.folder", case.folder / "made", env=MODEL, timeout=900
    )
    (case.folder / "said").write_text(result.stdout + result.stderr)
    return folder


class AddedImages(ProfileCase):
    def setUp(self):
        super().setUp()
        self.whole = pathlib.Path(finished_profile().name)

    def copy(self):
        """To go on with; as of before, so that nothing in it is newer than what was made from it."""
        shutil.copytree(self.whole / "made", self.folder / "made")
        return self.folder / "made"

    def go_on(self, folder, *words, status=0):
        result = program.start(
            "profile", self.whole / "test.cfg", "--output.folder", folder, *words, env=MODEL
        )
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def assert_same(self, folder):
        for name in ("profile.csv", "profile-added.json", "path-with-added.xyz",
                     "image-01/dhdl.xvg", "image-02/dhdl.xvg", "image-03/dhdl.xvg",
                     "image-03/dhdl-weighted.xvg"):  # fmt: skip
            self.assertEqual(
                (self.whole / "made" / name).read_bytes(), (folder / name).read_bytes(), name
            )

    def test_one_between(self):
        made = self.whole / "made"
        said = (self.whole / "said").read_text()
        self.assertRegex(said, r"images 1 and 2 overlap by 0\.0[0-7]\d, 0\.08 are wanted")
        for part in ("image 2 of 3 (image-03) sampled", "energies of image 3 of 3 under all"):
            self.assertIn(part, said)
        self.assertNotIn("an image between them would help", said)
        rows = table(made / "profile.csv")
        self.assertEqual([row["folder"] for row in rows], ["image-01", "image-03", "image-02"])
        at = [float(row["reaction_coordinate"]) for row in rows]
        self.assertAlmostEqual(at[1], at[2] / 2, delta=1e-6)
        self.assertGreater(min(float(row["pair_overlap"]) for row in rows[:-1]), WANTED)
        free, error = (
            np.array([float(row[name]) for row in rows]) for name in ("free_energy", "error")
        )
        expected = model_path.free_energies([0, 1, 2], BOX, TEMPERATURE)
        print(f"{free} +- {error}, expected {expected}")
        self.assertLess((np.abs(free - expected)[1:] / error[1:]).max(), 3.5)
        self.assertLess(error.max(), 1.0)

    def test_as_if_there_from_the_start(self):
        """With other random numbers."""
        config = self.config(**self.settings([0, 1, 2], steps=6000))
        rows = self.profile(config, self.folder / "given")
        self.assertFalse((self.folder / "given/profile-added.json").exists())
        for one, other in zip(rows, table(self.whole / "made/profile.csv"), strict=True):
            self.assertAlmostEqual(
                float(one["reaction_coordinate"]), float(other["reaction_coordinate"]), delta=1e-5
            )
            self.assertEqual(one["isolated_energy"], other["isolated_energy"])
            error = np.hypot(float(one["error"]), float(other["error"]))
            apart = abs(float(one["free_energy"]) - float(other["free_energy"]))
            self.assertLessEqual(apart, 3.5 * error)

    def test_columns(self):
        """Of all images' files in the order of the path, and each its own in the right place."""
        for own, name in enumerate(("image-01", "image-03", "image-02")):
            text = (self.whole / "made" / name / "dhdl.xvg").read_text()
            self.assertIn(f"state {own}: fep-lambda = {own / 2:.6f}", text)
            rows = np.array([line.split() for line in text.splitlines() if line[0] not in "#@"],
                            float)  # fmt: skip
            self.assertEqual(rows.shape[1], 4)
            self.assertTrue((rows[:, 1 + own] == 0).all())
            self.assertTrue((np.delete(rows, 1 + own, axis=1)[:, 1:] != 0).any(axis=0).all())

    def test_killed(self):
        """The same to the bit, with another number of cores; begun without any image to be added."""
        folder = self.folder / "part"
        said = self.go_on(folder, "--profile.least-overlap", 0)
        self.assertIn("overlap with next", said)
        self.assertFalse((folder / "image-03").exists())
        killed = 0
        for sign in ("profile-overlaps.json", "profile-added.json", "image-03/blocks.csv"):
            seconds = 0.2 if sign.startswith("image") else 0
            killed += self.kill_profile(
                self.whole / "test.cfg", folder, folder / sign, seconds, STARPU_NCPU="1"
            )
        self.assertGreater(killed, 1)
        self.go_on(folder)
        self.assert_same(folder)

    def test_no_more_than_may_be(self):
        folder = self.copy()
        said = self.go_on(folder, "--profile.least-overlap", 0.45,
                          "--profile.most-added-images", 1)  # fmt: skip
        for pair in ("images 1 and 2", "images 2 and 3"):
            self.assertRegex(
                said, f"{pair} overlap by .*an image between them would help, but .*most-added-images"
            )
        self.assertFalse((folder / "image-04").exists())
        images = json.loads((folder / "profile.json").read_text())["images"]
        self.assertEqual(len(images), 3)

    def test_topologies(self):
        sections = self.settings(FAR, steps=3000)
        names = [self.folder / f"image-{k}.top" for k in range(2)]
        for name, growth in zip(names, (1, 1.01), strict=True):
            name.write_text(model_path.topology(model_path.SOLUTE_SIGMA * growth))
        sections["profile"]["topologies"] = ", ".join(map(str, names))
        result = program.start(
            "profile", self.config(**sections), "--output.folder", self.folder / "made", env=MODEL
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, "images 1 and 2 overlap.*Lennard-Jones.*profile.topologies")
        self.assertFalse((self.folder / "made/image-03").exists())

    def test_before_the_first_sampled(self):
        """Where the box has the molecule of the last image; both have the same topology."""
        sections = self.settings(FAR[::-1], steps=3000)
        sections["profile"]["least_overlap"] = WANTED
        sections["profile"]["topologies"] = ", ".join(2 * [str(sections["system"]["topology"])])
        rows = self.profile(self.config(**sections), self.folder / "made")
        self.assertEqual([row["folder"] for row in rows], ["image-01", "image-03", "image-02"])
        isolated = [float(row["isolated_energy"]) for row in rows]
        np.testing.assert_allclose(isolated, [0, 5, 10], atol=1e-4)

    def test_report(self):
        folder = self.copy()
        result = program.start("report", folder, env=MODEL)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        text = (folder / "report.html").read_text()
        self.assertLess(text.index("<td>image-03</td>"), text.index("<td>image-02</td>"))
        (folder / "image-04").mkdir()
        result = program.start("report", folder, env=MODEL)
        self.assertIn("image-04: not in the result", result.stderr)

    def test_damaged(self):
        folder = self.copy()
        added = folder / "profile-added.json"
        text = added.read_text()
        for damage in (text[:-9], "{}", text.replace("2\n", "7\n"), text.replace('": 3', '": 4')):
            self.assertNotEqual(damage, text)
            added.write_text(damage)
            said = self.go_on(folder, status=2)
            for part in ("profile-added.json", "remedy:", "overwrite"):
                self.assertIn(part, said)
        added.write_text(text)
        solute = folder / "image-03/solute.xyz"
        solute.write_text((folder / "image-01/solute.xyz").read_text())
        self.assertIn("is not the geometry in the middle", self.go_on(folder, status=2))


class MoreSteps(ProfileCase):
    def test_until_error(self):
        """Steps are those of the image that they were planned for, wherever it is on the path."""
        config, folder = self.config(**self.settings(FAR, steps=3000)), self.folder / "made"
        rows = self.profile(config, folder)
        wanted = 0.8 * max(float(row["error"]) for row in rows)
        then = self.profile(config, folder, "--profile.until-error", wanted)
        self.assertLessEqual(max(float(row["error"]) for row in then), wanted)
        steps = json.loads((folder / "profile-steps.json").read_text())
        self.assertEqual(len(steps), 3)
        self.assertGreater(max(steps), 3000)
        for number, given in enumerate(steps, 1):
            summary = json.loads((folder / f"image-0{number}/summary.json").read_text())
            self.assertEqual(summary["steps"], given)


if __name__ == "__main__":
    program.main()
