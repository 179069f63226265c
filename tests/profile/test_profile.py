"""`starpmc profile` as a user runs it, with the model path whose free energies are known by
quadrature.

usage: test_profile.py PROGRAM [TEST ...]
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import time

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


class KnownAnswer(ProfileCase):
    def assert_as_expected(self, rows, expected):
        found, errors = (
            np.array([float(row[key]) for row in rows]) for key in ("free_energy", "error")
        )
        said = f"{found} +- {errors}, expected {expected}"
        print(said)
        self.assertEqual(found[0], 0)
        self.assertLess(errors.max(), 0.25, said)
        self.assertGreater(errors[1:].min(), 0.005, said)
        self.assertLess((np.abs(found - expected)[1:] / errors[1:]).max(), 3.5, said)

    def test_as_by_quadrature(self):
        places = np.linspace(0, 1, 5)
        start = time.monotonic()
        rows = self.profile(self.config(**self.settings(places)), self.folder / "profile")
        elapsed = time.monotonic() - start
        self.assert_as_expected(rows, model_path.free_energies(places, BOX, TEMPERATURE))
        isolated = [float(row["isolated_energy"]) for row in rows]
        np.testing.assert_allclose(isolated, [0, 4.75, 9.5, 2.25, -5], atol=1e-4)
        # All but the first find their QM workers ready.
        logs = [path.read_text() for path in sorted((self.folder / "profile").glob("image-*/run.log"))]
        early = [log.count("QM workers were started before this run was") for log in logs]
        self.assertEqual(early, [0, 1, 1, 1, 1])
        # A summary counts neither tasks nor seconds of the images before it.
        summaries = [
            json.loads(path.read_text())
            for path in sorted((self.folder / "profile").glob("image-*/summary.json"))
        ]
        self.assertLess(sum(summary["total_seconds"] for summary in summaries), elapsed)
        tasks = [sum(worker["tasks"] for worker in one["worker_tasks"]) for one in summaries]
        self.assertLess(max(tasks), 1.5 * min(tasks), tasks)

    def test_a_wrong_response_is_made_up_for(self):
        """It changes the sampled Hamiltonian, and the step to the true one takes that back."""
        places = [0, 0.5, 1]
        sections = self.settings(places)
        rows = self.profile(
            self.config(**sections), self.folder / "profile",
            env={"STARPMC_MODEL_RESPONSE": "2 3"},
        )
        self.assert_as_expected(rows, model_path.free_energies(places, BOX, TEMPERATURE))
        self.assertRegex(self.said, r"Lennard-Jones types that \S*\.top gives to image \d of 3")
        for row in rows:
            step, error = (
                abs(float(row[name]))
                for name in ("reference_correction", "reference_correction_error")
            )
            self.assertGreater(step, 4 * error)

    def test_checked_before(self):
        config = self.config(**self.settings([0, 0.5, 1]))
        said = program.succeed("check", config, cwd=self.folder, env=MODEL).stdout
        self.assertRegex(said, r"(?m)^Profile +3 images of \S*path\.xyz, \d.* s, 3 times as long")
        self.assertNotRegex(said, r"(?m)^Density grid")
        begun = self.folder / "begun"
        begun.mkdir()
        for name in ("profile-topology.sha256", "report.html"):
            (begun / name).write_text("")
        program.succeed("check", config, "--output.folder", begun, cwd=self.folder, env=MODEL)
        model_path.write_path(self.folder / "path.xyz", [0, 40])
        result = program.start("check", config, cwd=self.folder, env=MODEL)
        self.assertEqual(result.returncode, 2)
        self.assertIn("path.xyz", result.stderr)

    def test_lennard_jones_parameters_of_images(self):
        places = np.array([0, 0.1, 0.2])
        sigmas = [model_path.SOLUTE_SIGMA * (1 + place) for place in places]
        sections = self.settings(places, steps=20000)
        names = [self.folder / f"image-{k}.top" for k in range(len(places))]
        for name, sigma in zip(names, sigmas, strict=True):
            name.write_text(model_path.topology(sigma))
        sections["profile"]["topologies"] = ", ".join(map(str, names))
        rows = self.profile(self.config(**sections), self.folder / "profile")
        expected = model_path.free_energies(places, BOX, TEMPERATURE, sigmas=sigmas)
        same = model_path.free_energies(places, BOX, TEMPERATURE)
        self.assertGreater(abs(expected[2] - same[2]), 0.3)
        self.assert_as_expected(rows, expected)
        self.assertNotIn("Lennard-Jones types", self.said)

    def test_dispersion_correction(self):
        """A constant of each image: the same configurations, free energies that differ by it."""
        places = np.array([0, 0.1])
        sections = self.settings(places, steps=6000)
        names, sigmas = [], [model_path.SOLUTE_SIGMA * (1 + 2 * place) for place in places]
        for k, sigma in enumerate(sigmas):
            names.append(self.folder / f"image-{k}.top")
            names[-1].write_text(model_path.topology(sigma))
        sections["profile"]["topologies"] = ", ".join(map(str, names))
        config = self.config(**sections)
        cut = self.profile(config, self.folder / "cut")
        whole = self.profile(
            config, self.folder / "whole", "--interaction.dispersion-correction", "energy"
        )
        constants = []
        for folder in ("image-01", "image-02"):
            summary = json.loads((self.folder / "whole" / folder / "summary.json").read_text())
            constants.append(summary["final_energies"]["dispersion_correction"])
        expected = [model_path.dispersion_correction(sigma, BOX) for sigma in sigmas]
        np.testing.assert_allclose(constants, expected, rtol=1e-4)
        self.assertGreater(abs(constants[1] - constants[0]), 0.1)
        for name in ("free_energy", "sampled_free_energy", "bar_to_next"):
            row = -1 if name.endswith("energy") else 0
            difference = float(whole[row][name]) - float(cut[row][name])
            self.assertLess(abs(difference - (constants[1] - constants[0])), 1e-3, name)
        self.assertEqual(whole[1]["reference_correction"], cut[1]["reference_correction"])

    def test_closed_cycle(self):
        """There and back again, with other configurations and references."""
        places = [0, 0.5, 1, 0.5, 0]
        rows = self.profile(
            self.config(**self.settings(places, steps=20000)), self.folder / "profile"
        )
        self.assert_as_expected(rows, model_path.free_energies(places, BOX, TEMPERATURE))
        self.assertNotEqual(rows[0]["dipole"], rows[4]["dipole"])
        # From neighbour to neighbour, so that the two equal ends know nothing of each other.
        steps = [float(row["reference_correction"]) for row in rows]
        around = sum(float(row["bar_to_next"]) for row in rows[:-1]) + steps[4] - steps[0]
        squares = sum(float(row["bar_to_next_error"]) ** 2 for row in rows[:-1])
        print(f"around the cycle: {around} +- {squares**0.5}")
        self.assertLess(abs(around), 3.5 * squares**0.5)


class GoingOn(ProfileCase):
    def small(self, **sampling):
        return self.config(**self.settings([0, 0.2, 0.4], steps=6000, **sampling))

    def test_killed_or_failed(self):
        """The same profile to the bit."""
        config = self.small()
        self.profile(config, self.folder / "whole")
        part = self.folder / "part"
        killed = 0
        for image in ("image-01", "image-02"):
            killed += self.kill_profile(config, part, part / image / "blocks.csv", 0.2)
        self.assertGreater(killed, 0)
        self.profile(config, self.folder / "part")
        for name in ("profile.csv", "image-01/dhdl.xvg", "image-03/dhdl.xvg"):
            one, other = (
                (self.folder / which / name).read_bytes() for which in ("whole", "part")
            )
            self.assertEqual(one, other, name)
        # The default is the exact ensemble where there can be one, and is the same profile.
        default = program.succeed(
            "profile", config, "--sampling.ensemble", "auto", "--output.folder", self.folder / "whole",
            env=MODEL,
        )
        self.assertIn("3 of 3 images are there", default.stdout)

    def test_memory_for_one_worker_more(self):
        """There would be none for both of the next image's: one makes its reference, the same."""
        if missing := program.opencl_missing():
            self.skipTest(missing)
        config = self.config(**self.settings([0, 0.2], steps=3000, chains=2))
        self.profile(config, self.folder / "whole", "--run.implementation", "simd")
        meminfo = pathlib.Path("/proc/meminfo").read_text()
        available_mb = int(re.search(r"MemAvailable:\s+(\d+) kB", meminfo)[1]) / 1024
        # Half of what is free may be taken.
        self.profile(config, self.folder / "one", "--run.implementation", "opencl",
                     env={"STARPMC_MODEL_MEMORY_MB": str(0.35 * available_mb)})
        log = (self.folder / "one/image-01/run.log").read_text()
        self.assertIn("1 of the 2 QM workers of the next image are started beside this one's", log)
        self.assertEqual(log.count("the next image's reference density"), 1)
        for name in ("image-01/chain-1/dhdl.xvg", "image-02/chain-0/dhdl.xvg"):
            self.assertEqual(*((self.folder / folder / name).read_bytes() for folder in ("whole", "one")))

    def test_references_made_ahead(self):
        """Where a device samples the next image's reference is made meanwhile. The profile is the same,
        also of one that is killed while it is made and goes on without the device."""
        if missing := program.opencl_missing():
            self.skipTest(missing)
        config = self.config(**self.settings([0, 0.2, 0.4], steps=3000, chains=2))
        self.profile(config, self.folder / "whole", "--run.implementation", "simd")
        device = ("--run.implementation", "opencl")
        self.profile(config, self.folder / "ahead", *device)
        for image, count in (("image-01", 1), ("image-02", 1), ("image-03", 0)):
            log = (self.folder / "ahead" / image / "run.log").read_text()
            self.assertEqual(log.count("the next image's reference density"), count, image)
        second = (self.folder / "ahead/image-02/settings.cfg").read_text()
        self.assertRegex(second, r"(?m)^reference = .*image-02/ahead/reference.h5$")
        part = self.folder / "part"
        self.assertTrue(self.kill_profile(config, part, part / "image-02/ahead", 0, *device))
        self.assertFalse((part / "image-02/ahead/reference.h5").exists())
        self.assertTrue(self.kill_profile(config, part, part / "image-03/ahead/reference.h5", 0, *device))
        self.profile(config, part, "--run.implementation", "simd")
        for folder in ("ahead", "part"):
            for image in ("image-01", "image-02", "image-03"):
                for chain in ("chain-0", "chain-1"):
                    one, other = (
                        (self.folder / which / image / chain / "dhdl.xvg").read_bytes()
                        for which in ("whole", folder)
                    )
                    self.assertEqual(one, other, f"{folder} {image} {chain}")

    def test_chains_go_on(self):
        """Each chain of an image begins in the solvent that the same chain of its neighbour has left; an
        image yet to come has the steps that are wanted now."""
        config = self.small(chains=2)
        folder = self.folder / "chains"
        self.assertTrue(self.kill_profile(config, folder, folder / "image-02/settings.cfg"))
        self.profile(config, folder, "--sampling.steps", 3000)

        def ion(file):
            (line,) = (line for line in file.read_text().splitlines() if line[5:10] == "ION  ")
            return np.array(line[20:].split()[:3], float)

        for image in (1, 2):
            for chain in range(2):
                left = ion(folder / f"image-{image:02d}/chain-{chain}/final.gro")
                found = ion(folder / f"image-{image + 1:02d}/start-{chain}.gro")
                np.testing.assert_allclose(found, left, atol=1e-4, err_msg=f"{image} {chain}")
        self.assertIn("\nsteps = 3000\n", (folder / "image-03/settings.cfg").read_text())
        # One that had been begun, if not yet sampled, has those that it was begun with.
        summary = json.loads((folder / "image-02/summary.json").read_text())
        self.assertEqual([chain["steps"] for chain in summary["chains"]], [6000, 6000])

    def test_one_device_server_for_all_images(self):
        """Workers of one image serve the next."""
        record = self.folder / "record"
        config = self.config(**self.settings([0, 0.2, 0.4], steps=3000, chains=2))
        self.profile(
            config, self.folder / "served", "--qm.device", "gpu", "--qm.workers", "2",
            env={
                "PATH": f"{program.TESTS / 'qm/mps'}:{os.environ['PATH']}",
                "FAKE_MPS_RECORD": str(record),
                "STARPMC_MPS": "1",
            },
        )  # fmt: skip
        lines = [json.loads(line) for line in record.read_text().splitlines()]
        self.assertEqual([next(iter(line)) for line in lines], ["started", "told", "ended"])
        log = (self.folder / "served/image-03/run.log").read_text()
        self.assertIn("QM workers were started before this run was", log)

    def test_chains_are_as_many_for_all_images(self):
        """Whatever `auto` would be when an image's turn comes, as where the profile goes on on a machine
        with more cores."""
        config = self.config(**self.settings([0, 0.1, 0.2], steps=3000, chains="auto"))
        folder = self.folder / "auto"
        first = folder / "image-01/summary.json"
        self.assertTrue(self.kill_profile(config, folder, first, STARPU_NCPU="2"))
        self.profile(config, folder, env={"STARPU_NCPU": "1"})
        chains = [len(list((folder / name).glob("chain-*"))) for name in ("image-01", "image-02")]
        self.assertEqual(chains[0], chains[1])
        self.assertRegex((folder / "image-02/settings.cfg").read_text(), "\nchains = [1-9]")
        # From there on workers of the next image are started early, as of a number that was given.
        log = (folder / "image-03/run.log").read_text()
        self.assertIn("QM workers were started before this run was", log)
        # One chain lies in chain-0 where auto found it, and in the image's folder where it was given.
        self.profile(config, self.folder / "one", env={"STARPU_NCPU": "1"})
        self.assertTrue((self.folder / "one/image-01/chain-0/dhdl.xvg").exists())
        self.assertTrue((self.folder / "one/image-02/dhdl.xvg").exists())

    def start(self, config, folder, *words):
        return subprocess.Popen(
            [str(program.PROGRAM), "profile", str(config), "--output.folder", str(folder), *words],
            env=program.environment(**MODEL), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip

    def test_stopped_as_an_image_ends(self):
        """Whenever the signal comes: no later image is sampled."""
        config = self.small()
        stopped = 0
        for attempt, seconds in enumerate((0, 0.05, 0.15, 0.3)):
            folder = self.folder / f"stopped-{attempt}"
            with self.start(config, folder) as process:
                while process.poll() is None and not (folder / "image-01/summary.json").exists():
                    time.sleep(0.001)
                time.sleep(seconds)
                process.send_signal(signal.SIGTERM)
                _, said = process.communicate(timeout=60)
            # Between two images there is nothing to keep: the signal may end the process as it is.
            self.assertIn(process.returncode, (128 + signal.SIGTERM, -signal.SIGTERM), said)
            if process.returncode > 0:
                stopped += 1
                self.assertIn("stopped; go on with: starpmc profile", said)
            self.assertFalse((folder / "image-02/summary.json").exists())
        self.assertGreater(stopped, 0)

    def test_a_second_one_in_its_folder(self):
        """Is refused, with output.overwrite, too, and nothing of the first one is lost."""
        config = self.small()
        folder = self.folder / "both"
        with self.start(config, folder) as first:
            while first.poll() is None and not (folder / "image-01/summary.json").exists():
                time.sleep(0.001)
            second = program.start(
                "profile", config, "--output.folder", folder, "--output.overwrite", "true", env=MODEL
            )
            running = first.poll() is None
            _, said = first.communicate(timeout=300)
        self.assertTrue(running)
        self.assertEqual(second.returncode, 2, second.stderr)
        self.assertIn("another run is writing to this folder", second.stderr)
        self.assertEqual(first.returncode, 0, said)
        self.assertEqual(len(table(folder / "profile.csv")), 3)

    def test_what_it_reads_of_the_folder_it_overwrites(self):
        """Is not removed: the profile is refused before."""
        config = self.small()
        folder = self.folder / "kept"
        self.profile(config, folder)
        before = (folder / "image-02/final.gro").read_bytes()
        for option, path in (
            ("system.coordinates", folder / "image-02/final.gro"),
            ("system.chain-coordinates", folder / "image-01/start-0.gro"),
        ):
            result = program.start(
                "profile", config, "--output.folder", folder, "--output.overwrite", "true",
                f"--{option}", path, env=MODEL,
            )  # fmt: skip
            self.assertEqual(result.returncode, 2, result.stderr)
            for part in (option, str(path), "remedy: choose another folder"):
                self.assertIn(part, result.stderr)
        self.assertEqual((folder / "image-02/final.gro").read_bytes(), before)

    def test_most_frames(self):
        """That many at most of each image, the same ones under all Hamiltonians; with another number what
        was evaluated is evaluated again."""
        places = [0, 0.2, 0.4]
        config = self.config(**self.settings(places, chains=2))
        folder = self.folder / "frames"

        def evaluated(most):
            rows = self.profile(config, folder, "--profile.most-frames", most)
            files = [folder / f"image-{k + 1:02d}/chain-{c}/dhdl.xvg" for k in range(3) for c in range(2)]
            return rows, [np.loadtxt(file, comments=("#", "@")) for file in files]

        whole = evaluated(0)[1]
        rows, few = evaluated(700)
        for one, other in zip(few, whole, strict=True):
            self.assertEqual(len(other), 1000)
            self.assertEqual(len(one), 350)
            taken = np.diff(np.arange(1001) * 700 // 2000) == 1
            np.testing.assert_array_equal(one, other[taken])
        found, errors = (
            np.array([float(row[key]) for row in rows]) for key in ("free_energy", "error")
        )
        expected = model_path.free_energies(places, BOX, TEMPERATURE)
        self.assertLess((np.abs(found - expected)[1:] / errors[1:]).max(), 3.5, (found, errors))

    def test_an_scf_fails(self):
        config = self.config(**self.settings([0.4, 0.5, 0.62], steps=6000))
        result = program.start(
            "profile", config, "--output.folder", self.folder / "failed",
            env=MODEL | {"STARPMC_MODEL_FAILS": "5"},
        )
        self.assertEqual(result.returncode, 1, result.stderr)
        for part in ("image 3 of 3", "told to fail", "solute.xyz", "kept", "starpmc profile"):
            self.assertIn(part, result.stderr)
        self.assertTrue((self.folder / "failed/image-02/summary.json").exists())
        before = (self.folder / "failed/image-02/summary.json").stat().st_mtime_ns
        self.assertEqual(len(self.profile(config, self.folder / "failed")), 3)
        after = (self.folder / "failed/image-02/summary.json").stat().st_mtime_ns
        self.assertEqual(before, after)

    def test_until_error(self):
        config = self.small()
        folder = self.folder / "made"
        self.profile(config, folder)
        first = json.loads((folder / "profile.json").read_text())
        wanted = 0.75 * first["largest_error"]
        self.profile(config, folder, "--profile.until-error", wanted)
        then = json.loads((folder / "profile.json").read_text())
        self.assertLessEqual(then["largest_error"], wanted)
        steps = json.loads((folder / "profile-steps.json").read_text())
        self.assertGreater(max(steps), 6000)
        for row, given in zip(table(folder / "profile.csv"), steps, strict=True):
            summary = json.loads((folder / f"image-0{row['image']}/summary.json").read_text())
            self.assertEqual(summary["steps"], given)

    def test_until_error_with_few_samples(self):
        """An error that is small enough does not count while there are few independent samples."""
        config = self.config(**self.settings([0, 0.2, 0.4], steps=1500))
        folder = self.folder / "few"

        def least_samples():
            return [
                min(float(row["independent_frames"]), float(row["independent_blocks"]))
                for row in table(folder / "profile.csv")
            ]

        wanted = ("--profile.until-error", 1000, "--profile.most-steps")
        self.profile(config, folder, *wanted, 2000)
        self.assertLess(min(least_samples()), 20)
        self.assertRegex(self.said, "few independent samples of . images.*all the steps they may have")
        self.profile(config, folder, *wanted, 100000)
        self.assertGreaterEqual(min(least_samples()), 20)
        self.assertRegex(self.said, "few independent samples of . images: twice the steps")
        steps = json.loads((folder / "profile-steps.json").read_text())
        self.assertGreater(max(steps), 1500)


class BadInput(ProfileCase):
    def refused(self, says, path=None, status=2, folder="refused", **changes):
        sections = self.settings([0, 0.2, 0.4], steps=3000)
        for section, values in changes.items():
            sections[section] |= values
        if path is not None:
            (self.folder / "path.xyz").write_text(path)
        result = program.start(
            "profile", self.config(**sections), "--output.folder", self.folder / folder, env=MODEL
        )
        self.assertEqual(result.returncode, status, result.stderr)
        for part in (*says, "remedy:"):
            self.assertIn(part, result.stderr)

    def test_paths(self):
        frame = "3\n\n{} 0 0 {}\n{} 0 0 0\nO 0 0 -1.4\n"
        good = frame.format("S", 1.4, "C")
        self.refused(["at least two images"], path=good)
        self.refused(["atom 1 of image 2", "same order"], path=good + frame.format("C", 1.4, "S"))
        self.refused(["image 1 to image 2", "more images"], path=good + frame.format("S", 6, "C"))
        other = frame.format("S", 1.4, "O") + frame.format("S", 1.5, "O")
        self.refused(["atom 2 is C in the QM molecule"], path=other)
        four = "4\n\nS 0 0 1.4\nC 0 0 0\nO 0 0 -1.4\nO 0 0 -3\n"
        self.refused(["4 instead of 3"], path=2 * four)
        far = frame.format("S", 6, "C") + frame.format("S", 6.1, "C")
        self.refused(["no image is like the QM molecule", "image 1"], path=far)

    def test_a_path_of_the_users_is_not_replaced(self):
        text = "3\n\nS 0 0 1.4\nC 0 0 0\nO 0 0 -1.4\n"
        text += text.replace("1.4", "1.45", 1)
        for overwrite in ("false", "true"):
            self.refused(["path.xyz", "is not one"], path=text, folder=".",
                         output={"overwrite": overwrite})  # fmt: skip
            self.assertEqual((self.folder / "path.xyz").read_text(), text)
            self.assertFalse((self.folder / "profile.cfg").exists())

    def test_titles(self):
        """Of `starpmc path`, which says what electronic state it is of."""
        frame = "3\n{}\nS 0 0 {}\nC 0 0 0\nO 0 0 -1.4\n"
        first = frame.format("charge=0 multiplicity=1", 1.4)
        for title, says in (("charge=-1", ["image 2", "charge=-1", "qm.charge is 0"]),
                            ("multiplicity=3", ["image 2", "multiplicity=3", "qm.multiplicity is 1"]),
                            ("charge=x", ["charge"])):  # fmt: skip
            self.refused(says, path=first + frame.format(title, 1.45))

    def test_unreadable_paths(self):
        frame = "3\n\nS 0 0 1.4\nC 0 0 0\nO 0 0 -1.4\n"
        self.refused(["path.xyz"], path=frame + frame[:-12])
        self.refused(["path.xyz", "nan"], path=frame + frame.replace("1.4", "nan", 1))
        self.refused(["path.xyz"], path="")
        self.refused(["none.xyz"], profile={"path": self.folder / "none.xyz"})
        self.refused([str(self.folder)], profile={"path": self.folder})

    def test_topologies(self):
        sections = self.settings([0, 0.2, 0.4])
        text = sections["system"]["topology"].read_text()
        names = [self.folder / f"{k}.top" for k in range(3)]
        for name in names:
            name.write_text(text)
        listed = ", ".join(map(str, names))
        two = ", ".join(map(str, names[:2]))
        self.refused(["profile.topologies", "2 for 3 images"], profile={"topologies": two})
        names[1].write_text(text.replace(" A 0.320000", " A 0.330000"))
        self.refused(
            ["1.top", "image 2", "more than the Lennard-Jones parameters"],
            profile={"topologies": listed},
        )
        names[1].unlink()
        self.refused(["1.top"], profile={"topologies": listed})

    def test_configurations(self):
        self.refused(["profile.path", "starpmc path"], profile={"path": ""})
        self.refused(["sampling.ensemble"], sampling={"ensemble": "perturbative"})
        self.refused(["trajectory-interval", "at least 20"], output={"trajectory_interval": 1000})
        self.refused(["qm.charge"], qm={"charge": 1})
        self.refused(["sampling.until-error", "profile.until-error"], sampling={"until_error": 1})
        self.refused(["pressure-interval", "no use of"], output={"pressure_interval": 1000})
        self.assertFalse((self.folder / "refused").exists())

    def test_a_folder_of_another_profile(self):
        folder = self.folder / "first"
        self.profile(self.config(**self.settings([0, 0.2], steps=3000)), folder)
        self.refused(["holds a profile whose sampling.seed is 5"], folder="first",
                     sampling={"seed": 6})
        self.refused(["another path"], folder="first")

    def test_a_folder_without_its_configuration(self):
        """Its images are of unknown settings: they are not taken for this profile's."""
        folder = self.folder / "first"
        config = self.config(**self.settings([0, 0.2], steps=3000))
        self.profile(config, folder)
        for name in ("profile.cfg", "profile-topology.sha256"):
            lost = folder / name
            text = lost.read_text()
            lost.unlink()
            refused = program.start("profile", config, "--output.folder", folder, env=MODEL)
            self.assertEqual(refused.returncode, 2, refused.stderr)
            for part in ("output.folder", name, "remedy: put"):
                self.assertIn(part, refused.stderr)
            lost.write_text(text)
        self.profile(config, folder)

    def test_a_folder_of_other_files_of_the_same_name(self):
        """Images of two force fields are no profile; overwriting leaves none of the first one's results."""
        folder = self.folder / "first"
        config = self.config(**self.settings([0, 0.2], steps=3000))
        self.profile(config, folder)
        for topology in self.folder.glob("*.top"):
            lines = topology.read_text().splitlines()
            at = next(i for i, line in enumerate(lines) if "atomtypes" in line) + 1
            while not lines[at].strip() or lines[at].lstrip().startswith(";"):
                at += 1
            words = lines[at].split()
            words[-2] = str(1.3 * float(words[-2]))
            lines[at] = " ".join(words)
            topology.write_text("\n".join(lines) + "\n")
        refused = program.start("profile", config, "--output.folder", folder, env=MODEL)
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("other topologies", refused.stderr)
        self.assertTrue((folder / "profile.csv").exists())
        replaced = program.start("profile", config, "--output.folder", folder,
                                 "--output.overwrite", "true", env=MODEL)  # fmt: skip
        self.assertEqual(replaced.returncode, 0, replaced.stderr)


if __name__ == "__main__":
    program.main()
