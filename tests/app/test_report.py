"""`starpmc report`: the page is whole, self-contained and right, whatever the folder holds.

    python3 test_report.py PROGRAM
"""

import csv
import functools
import html.parser
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import h5py
    import matplotlib.image
    import numpy
except ImportError:
    matplotlib = None

import program

sys.path.insert(0, str(program.REPOSITORY / "src/report"))

WORKERS = pathlib.Path(__file__).resolve().parent / "workers"
CPU_ONLY = {"STARPU_NCPU": 2, "STARPU_NOPENCL": 0}
ENVIRONMENT = {"STARPMC_PYTHON": sys.executable}
EVIL = '<script>alert("1")</script>&amp; <img src="http://example.org/x.png">'
HEADINGS = ("Results", "Energies", "Averages and errors", "Structure", "QM updates",
            "Workers", "Configuration", "Versions")  # fmt: skip
VOID = {"meta", "br", "img", "link", "hr", "input"}
WIDTHS = (1200, 400)


@functools.cache
def finished_runs():
    """A folder with runs that no test changes: qm (two chains), argon (one)."""
    folder = tempfile.TemporaryDirectory(prefix="starpmc-test-")
    path = pathlib.Path(folder.name)
    small = program.small_system()
    topology = path / "evil.top"
    text = pathlib.Path(small["system"]["topology"]).read_text()
    topology.write_text(text.replace("formaldehyde in TIP3P", EVIL))
    gro = path / "evil.gro"
    lines = pathlib.Path(small["system"]["coordinates"]).read_text().split("\n", 1)
    gro.write_text(EVIL + "\n" + lines[1])
    small["system"] |= {"topology": topology, "coordinates": gro}
    small["qm"] = {"engine": "pyscf", "python": sys.executable, "interval": 1000}
    config = program.write_config(
        path / "qm.cfg", **small,
        sampling={"steps": 3000, "equilibration_steps": 500, "chains": 2},
        output={"energy_interval": 20, "trajectory_interval": 500},
    )  # fmt: skip
    program.simulate(
        config, path / "qm", env=CPU_ONLY | ENVIRONMENT | {"STARPMC_WORKERS": WORKERS}
    )
    config = program.write_config(
        path / "argon.cfg", **program.plain_system("argon/argon"),
        sampling={"steps": 3000, "equilibration_steps": 500},
        output={"energy_interval": 20, "trajectory_interval": 500, "pressure_interval": 500},
    )  # fmt: skip
    program.simulate(config, path / "argon", env=CPU_ONLY)
    return folder


@functools.cache
def report_of(name, *options):
    """The page of a finished run, made beside it."""
    folder = pathlib.Path(finished_runs().name)
    page = folder / f"{name}-report.html"
    result = program.succeed("report", folder / name, "--output", page, *options, env=ENVIRONMENT)
    assert result.stderr == "", result.stderr
    return page.read_text(encoding="utf-8")


def run_path(name):
    return pathlib.Path(finished_runs().name) / name


class Page(html.parser.HTMLParser):
    """Refuses unbalanced elements; collects what the tests ask for."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.tags, self.text = [], [], [], set(), []
        self.headings, self.policy = [], ""
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attributes, closed=False):
        self.tags.add(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href", "xlink:href", "srcset", "data", "action"):
                self.links.append(value)
            assert not name.startswith("on"), f"{tag} {name}={value}"
            if name == "content" and "default-src" in value:
                self.policy = value
        if tag not in VOID and not closed:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes, closed=True)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1] == tag, f"</{tag}> closes {self.open[-1]}"
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)
        if "style" not in self.open:
            self.text.append(data)


@unittest.skipIf(matplotlib is None, "no matplotlib")
class Report(program.TestCase):
    def setUp(self):
        super().setUp()
        self.run = self.folder / "run"

    def copy(self, name):
        shutil.copytree(run_path(name), self.run)
        return self.run

    def report(self, *options, folder=None, status=0, env=None):
        result = program.start(
            "report", folder or self.run, *options, env=ENVIRONMENT | (env or {})
        )
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        self.assertNotIn("Traceback", result.stderr)
        return result


class Content(Report):
    def test_self_contained_and_well_formed(self):
        for name in ("qm", "argon"):
            text = report_of(name)
            page = Page(text)
            self.assertTrue(text.startswith("<!DOCTYPE html>"))
            self.assertIn("default-src 'none'", page.policy)
            for tag in ("script", "link", "img", "iframe", "object", "image", "foreignobject"):
                self.assertNotIn(tag, page.tags)
            self.assertEqual([link for link in page.links if not link.startswith("#")], [])
            self.assertEqual({link[1:] for link in page.links} - set(page.ids), set())
            self.assertEqual(len(page.ids), len(set(page.ids)))
            self.assertEqual(
                [found for found in re.findall(r"url\(([^)]*)", text) if found[0] != "#"], []
            )
            self.assertNotIn("@import", text)
            markup = re.sub(r">[^<]*<", "><", text)  # the run's own texts may name anything
            self.assertNotRegex(markup, "https?://")

    def test_parts(self):
        self.assertEqual(tuple(Page(report_of("qm")).headings), HEADINGS)
        argon = Page(report_of("argon"))
        self.assertEqual(
            tuple(argon.headings), tuple(heading for heading in HEADINGS if "QM" not in heading)
        )
        text = " ".join(argon.text)
        for part in ("AR–AR", "all 108 molecules in the periodic box"):
            self.assertIn(part, text)
        self.assertIn("pressure", text)
        for absent in ("QM-MM", "Coulomb", "dipole", "jump"):
            self.assertNotIn(absent, text.split("settings.cfg")[0])

    def test_texts_of_the_input_are_escaped(self):
        text = report_of("qm")
        self.assertNotIn("<script>", text)
        self.assertNotIn("<img", text)
        self.assertIn(EVIL, " ".join(Page(text).text))
        settings = (run_path("qm") / "settings.cfg").read_text()
        self.assertIn(settings.strip(), "".join(Page(text).text))

    def test_numbers_of_the_summary(self):
        text = " ".join(Page(report_of("qm")).text)
        summary = json.loads((run_path("qm") / "summary.json").read_text())
        self.assertIn(f"{summary['total_energy']['r_hat']:.4f}", text)
        self.assertIn("polarisation energy, kJ/mol", text)
        for chain in summary["chains"]:
            self.assertIn(chain["decisions_sha256"], text)
            for update in chain["qm_updates"]:
                self.assertIn(f"{update['qm_energy_kj_per_mol']:.3f}", text)
                self.assertIn(f"{update['polarisation_energy_kj_per_mol']:.3f}", text)
                self.assertGreater(math.hypot(*update["dipole_debye"]), 0)
                self.assertIn(f"{math.hypot(*update['dipole_debye']):.3f}", text)
            for average in chain["averages"].values():
                self.assertIn(f"{average['error']:.3f}", text)
        for timing in summary["codelet_timings"]:
            self.assertIn(f"{timing['mean_microseconds']:.1f}", text)
        for version in summary["versions"].values():
            self.assertIn(version, text)
        schedule = summary["schedule"]
        # Models from a busier moment may bound a run of a tenth of a second by more than it took.
        told = 0 < schedule["lower_bound_seconds"] <= schedule["makespan_seconds"]
        self.assertEqual(told, f"{schedule['lower_bound_seconds']:.3g} s, " in text, schedule)
        self.assertIn(f"{schedule['bytes_between_memories'] / 1e6:.4g} MB", text)

    def test_errors_are_the_summarys(self):
        import block_average
        import run_folder

        for name in ("qm", "argon"):
            run = run_folder.read_run(run_path(name))
            self.assertEqual(run.problems, [])
            for chain in run.chains:
                for column, stated in chain.results["averages"].items():
                    column = column.removesuffix("_bar")
                    _, values = chain.production(column, run.equilibration_of(chain))
                    found = block_average.estimate(values)
                    self.assertEqual(found.count, stated["count"])
                    self.assertEqual(found.long_enough, stated["long_enough"], column)
                    for key in (
                        "mean", "error", "statistical_inefficiency", "effective_samples"
                    ):  # fmt: skip
                        self.assertAlmostEqual(
                            getattr(found, key), stated[key], delta=1e-9 * (1 + abs(stated[key]))
                        )
                    ends, means, errors = block_average.running(values, 7)
                    self.assertEqual(ends[-1], len(values))
                    self.assertEqual((means[-1], errors[-1]), (found.mean, found.error))
                    half = block_average.estimate(values[: ends[2]])
                    self.assertEqual((means[2], errors[2]), (half.mean, half.error))


class Changed(Report):
    """Results as sections.py makes them of a run whose summary says something else."""

    def results(self, name, change=None, make=None):
        import run_folder
        import sections

        terms = [("mm_vdw", "MM-MM van der Waals", "kJ/mol")]
        run = run_folder.read_run(run_path(name), terms)
        if change:
            change(run.summary)
        return " ".join(Page((make or sections.results)(run)).text)

    def test_without_samples_there_is_no_mean(self):
        def change(summary):
            nothing = {"mean": None, "error": None, "count": 0}
            one = {"mean": -7.25, "error": None, "count": 1}
            summary["averages"]["total"] |= nothing
            summary["averages"]["pressure_bar"] |= one
            summary["total_energy"] |= nothing | {"r_hat": None}

        text = self.results("argon", change)
        self.assertEqual(text.count("no samples"), 2)
        self.assertIn("-7.250 (one sample)", text)
        self.assertIn("unknown", text)

    def test_r_hat(self):
        for name in ("argon", "qm"):
            for r_hat, remarks in ((1.02, 0), (1.7, 1)):
                text = self.results(name, lambda summary, r=r_hat: summary["total_energy"].update(
                    r_hat=r, agreement_of_chains=0.5))  # fmt: skip
                self.assertIn(f"{r_hat:.4f}", text)
                self.assertEqual(text.count("R-hat is above 1.1"), remarks)

    def test_too_short_is_said_of_all_chains(self):
        import sections

        def change(summary):
            mean = {"mean": -20.0, "error": 3.0, "count": 40, "long_enough": False}
            summary["total_energy"] |= mean
            summary["dipole_debye"] |= mean

        self.assertIn("-20.0 ± 3.0 (too short to tell)", self.results("qm", change))
        text = self.results("qm", change, sections._means_over_updates)
        self.assertIn("dipole about the centre of nuclear charge, D", text)
        self.assertIn("-20.0 ± 3.0 (too short to tell)", text)

    def test_dispersion_correction_is_a_row(self):
        def change(summary):
            summary["averages"]["dispersion_correction"] = {
                "mean": -88.4969, "error": 0, "count": 150, "long_enough": True
            }  # fmt: skip

        text = self.results("argon", change)
        self.assertRegex(text, r"dispersion correction\s+-88\.497")
        self.assertIn("van der Waals", text)  # which is not the total then
        self.assertNotIn("dispersion", self.results("argon"))

    def test_equilibration_of_each_chain(self):
        def change(summary):
            summary["chains"][1]["equilibration_steps"] = 2000
            summary["equilibration_steps"] = 2000

        self.assertIn("chain 0: 500 steps, chain 1: 2000 steps", self.results("qm", change))
        self.assertRegex(self.results("qm"), r"equilibration before\s+500 steps")

    def test_warnings_are_notes(self):
        summary = json.loads((run_path("qm") / "summary.json").read_text())
        said = [text for text in summary["warnings"] if "shortest edge" in text]
        self.assertEqual(len(said), 1)  # of the input
        log = (run_path("qm") / "run.log").read_text()
        for text in summary["warnings"]:
            self.assertIn(text, log)
            self.assertIn(f"The run warned: {text}", " ".join(Page(report_of("qm")).text))

    def test_exact_ensemble(self):
        """What is of which ensemble; the runs are those of test_exact.py."""
        import run_folder
        import sections

        mean = {"mean": -1854.4, "error": 20.0, "count": 36, "long_enough": False}
        block = {"step": 600, "difference_kj_per_mol": 0.5, "accepted": True}
        exact = {
            "blocks": 2, "accepted_blocks": 1, "tests": [block] * 3, "block_steps": 100,
            "block_acceptance": 0.5, "difference_width_kj_per_mol": 1.25, "effective_samples": 9,
            "difference_kj_per_mol": mean, "averages_at_block_ends": {"total": mean},
            "averages_of_steps_corrected": {"total": mean | {"mean": -1853.0}},
        }  # fmt: skip

        def change(summary):
            summary["ensemble"] = "exact"
            summary["total_energy"] |= mean
            for chain in summary.get("chains", [summary]):
                chain["exact"] = exact

        for name in ("argon", "qm"):
            text = self.results(name, change)
            first, _, rest = text.partition("-1854 ± 20 (too short to tell)")
            self.assertIn("total energy at block ends", first)
            self.assertIn("over all steps", rest)
            self.assertIn("relaxes towards the sampled one", rest)
        self.assertEqual(text.count("-1854 ± 20"), 3)  # all, and each chain
        run = run_folder.read_run(run_path("qm"))
        change(run.summary)
        text = sections._blocks_in_short(run)
        self.assertIn("50.0 % of 4 blocks", text)
        self.assertIn("is 0.50 kT", text)
        self.assertIn("first order only: the width is 0.50 kT", sections._first_order(run, exact))
        exact["difference_width_kj_per_mol"] = 0.5
        self.assertEqual(sections._first_order(run, exact), "")


class Workers(Report):
    def write_timeline(self, tasks):
        """Two workers: three short tasks and a pause, a hundred tasks long; one that updates."""
        with open(self.run / "timeline.csv", "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(
                ["worker", "worker_name", "codelet", "chain", "window", "start_ms", "end_ms"]
            )
            table.writerow([1, "OpenCL, 0.0", "starpmc_qm_update", "", "", 0, tasks])
            for i in range(tasks):
                codelet = ("starpmc_mm_pair_mixed", "starpmc_metropolis_decide_mixed")[i % 2]
                table.writerow([0, "CPU <0>", codelet, i % 2, i, 2.0 * i, 2.0 * i + 1.0])

    def test_gantt_chart(self):
        self.copy("qm")
        self.write_timeline(500)
        self.report()
        text = (self.run / "report.html").read_text()
        page = Page(text)
        words = " ".join(page.text)
        for part in ("CPU <0>", "OpenCL, 0.0", "metropolis_decide", "501 tasks", "time (s)"):
            self.assertIn(part, words)
        self.assertNotIn("--trace", words.split("settings.cfg")[0])
        cells = re.findall(r"<td>qm_update</td><td>1</td><td>0.500</td><td>500000.0</td>", text)
        self.assertEqual(len(cells), 1)

    def test_without_a_timeline(self):
        words = " ".join(Page(report_of("qm")).text)
        for part in ("--trace", "sampling", "nothing to do", "CPU 0", "mm_pair"):
            self.assertIn(part, words)

    def test_shares_and_size_of_many_tasks(self):
        import charts
        import run_folder
        import worker_charts

        self.run.mkdir()
        self.write_timeline(100_001)
        run = run_folder.RunFolder(self.run)
        run_folder.read_timeline(run)
        self.assertEqual(run.problems, [])
        timeline = run.timeline
        self.assertEqual(timeline.workers, ["CPU <0>", "OpenCL, 0.0"])
        self.assertEqual(numpy.bincount(timeline.worker).tolist(), [100_001, 1])
        busy, edges = worker_charts.busy_shares(timeline, 77)
        self.assertAlmostEqual(edges[-1], 200_001)
        width = edges[1] - edges[0]
        for worker in range(2):
            for codelet in range(3):
                mine = (timeline.worker == worker) & (timeline.codelet == codelet)
                spans = zip(timeline.start[mine], timeline.end[mine], strict=True)
                expected = numpy.zeros(77)
                for start, end in spans:
                    for place in range(int(start // width), min(77, int(end // width) + 1)):
                        inside = min(end, edges[place + 1]) - max(start, edges[place])
                        expected[place] += max(0, inside) / width
                numpy.testing.assert_allclose(busy[worker, codelet], expected, atol=1e-7)
        svg = charts.Gallery(False).take(worker_charts.gantt(timeline), "workers")
        self.assertLess(len(svg), 200_000)


class Files(Report):
    def tree(self):
        return {
            str(path.relative_to(self.folder)): path.lstat().st_mtime_ns
            for path in self.folder.rglob("*")
            if not path.is_dir()
        }

    def test_pictures_and_what_overwriting_removes(self):
        self.copy("argon")
        before = self.tree()
        printed = self.report("--png").stdout.split()
        after = self.tree()
        new = {name.removeprefix("run/") for name in set(after) - set(before)}
        self.assertEqual({pathlib.Path(name).name for name in printed}, new)
        self.assertEqual({name: after[name] for name in before}, before)
        self.assertIn("report-rdf.csv", new)
        pictures = {name for name in new if name.endswith(".png")}
        self.assertGreaterEqual(len(pictures), 7)
        for name in pictures:
            self.assertRegex(name, r"^report-[\w-]+\.png$")
            head = (self.run / name).read_bytes()[:24]
            self.assertEqual(head[:8], b"\x89PNG\r\n\x1a\n")
            self.assertGreater(int.from_bytes(head[16:20], "big"), 500)
        (self.run / "report-of-mine.png").write_text("the user's own")
        program.simulate(
            run_path("argon.cfg"), self.run, "--output.overwrite", "true", "--sampling.steps", 20,
            env=CPU_ONLY,
        )  # fmt: skip
        left = {path.name for path in self.run.iterdir()}
        self.assertEqual(left & new, set())
        self.assertIn("report-of-mine.png", left)

    def test_nothing_but_reports_is_replaced(self):
        self.copy("argon")
        page = self.folder / "a.html"
        words = ("report", self.run, "--output", page)
        picture = self.folder / "report-total.png"
        for path, options in ((page, ()), (picture, ("--png",))):
            path.write_text("the user's own")
            result = program.start(*words, *options, env=ENVIRONMENT)
            self.assertEqual(result.returncode, 2, result.stderr)
            for part in (f"{path}: is not a report", "--overwrite", "--output"):
                self.assertIn(part, result.stderr)
            self.assertEqual(path.read_text(), "the user's own")
            program.succeed(*words, *options, "--overwrite", env=ENVIRONMENT)
            self.assertNotIn(b"the user's own", path.read_bytes())
        program.succeed(*words, "--png", env=ENVIRONMENT)  # reports are

    def test_output_elsewhere(self):
        self.copy("argon")
        before = self.tree()
        self.report("--output", self.folder / "a.html")
        self.assertEqual(
            set(self.tree()) - set(before), {"a.html", "report-rdf.csv", "report-coordination.csv"}
        )

    def test_a_disk_that_may_only_be_read(self):
        self.copy("argon")
        read_only = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
        words = ["--user", "--map-root-user", "--mount", "sh", "-c", read_only, self.run]
        if not shutil.which("unshare") or program.start(*words, "true", program="unshare").returncode:
            self.skipTest("no mount namespaces here")
        said = program.start(
            *words, program.PROGRAM, "report", self.run, env=ENVIRONMENT, program="unshare"
        )
        self.assertEqual(said.returncode, 1, said.stderr)
        self.assertRegex(said.stderr, "report[^ ]*: cannot be written: Read-only file system")
        self.assertNotIn("Traceback", said.stderr)

    def test_standard_output_on_a_full_disk_and_closed(self):
        self.copy("argon")
        with open("/dev/full", "w") as full:
            command = [program.PROGRAM, "report", self.run]
            result = subprocess.run(
                command, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
                env=program.environment(**ENVIRONMENT),
            )
        self.assertEqual(result.returncode, 1)
        self.assertIn("standard output could not be written: No space", result.stderr)
        self.assertNotIn("Traceback", result.stderr)
        closed = ["sh", "-c", '"$@" >&-', "sh", *command]
        result = subprocess.run(
            closed, stderr=subprocess.PIPE, text=True, check=False,
            env=program.environment(**ENVIRONMENT),
        )
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue((self.run / "report.html").is_file())

    def test_any_bytes_in_a_name(self):
        self.run = pathlib.Path(os.fsdecode(os.fsencode(self.folder) + b"/\xff <b>&\n"))
        self.copy("argon")
        self.report()
        text = (self.run / "report.html").read_text()
        self.assertIn("<b>&", "".join(Page(text).text))
        self.assertNotIn("<b>", text)

    def test_a_link_is_replaced_not_followed(self):
        self.copy("argon")
        treasure = self.folder / "treasure"
        treasure.write_text("gold")
        (self.run / "report.html").symlink_to(treasure)
        self.report()
        self.assertEqual(treasure.read_text(), "gold")
        self.assertFalse((self.run / "report.html").is_symlink())


class Damage(Report):
    def test_unfinished(self):
        """What a killed run leaves: no summary, a torn line, a torn trajectory in one chain."""
        self.copy("qm")
        (self.run / "summary.json").unlink()
        table = self.run / "chain-0/energies.csv"
        table.write_bytes(table.read_bytes()[:-9])
        trajectory = self.run / "chain-1/trajectory.h5md"
        trajectory.write_bytes(trajectory.read_bytes()[:3000])
        result = self.report()
        page = Page((self.run / "report.html").read_text())
        words = " ".join(page.text)
        for part in ("not finished", "There is no summary.json", "chain 1: trajectory.h5md cannot"):
            self.assertIn(part, words)
        self.assertIn("chain 1: trajectory.h5md cannot", result.stderr)
        for heading in ("Energies", "Averages and errors", "Structure"):
            self.assertIn(heading, page.headings)
        self.assertIn("3480", words)  # the last whole line's step

    def test_one_chain_that_auto_found(self):
        """Its files lie in chain-0, its results at the top of summary.json."""
        self.copy("argon")
        chain = self.run / "chain-0"
        chain.mkdir()
        for name in ("energies.csv", "trajectory.h5md"):
            (self.run / name).rename(chain / name)
        self.report()
        words = " ".join(Page((self.run / "report.html").read_text()).text)
        self.assertNotIn("steps so far", words)
        for fact in ("acceptance", "drift"):
            self.assertIn(fact, words)

    def test_unfinished_with_automatic_equilibration(self):
        """Nothing tells where it ends: that is said, and nothing passes for production alone."""
        self.copy("argon")
        (self.run / "summary.json").unlink()
        settings = self.run / "settings.cfg"
        lines = [line for line in settings.read_text().splitlines()
                 if not line.startswith("equilibration-steps")]  # fmt: skip
        lines.insert(lines.index("[sampling]") + 1, "equilibration-steps = auto")
        settings.write_text("\n".join(lines))
        self.report()
        words = " ".join(Page((self.run / "report.html").read_text()).text)
        self.assertIn("Where equilibration ends is not known", words)
        self.assertIn("not known yet", words)
        self.assertNotIn("frames after equilibration", words)

    def test_everything_is_damaged(self):
        self.copy("qm")
        (self.run / "summary.json").write_text('{"chains": [{"averages": 7')
        (self.run / "settings.cfg").write_bytes(b"\xff\x00[[[ no = \n settings")
        (self.run / "timeline.csv").write_text("worker,worker_name\n1,2\n")
        for chain in ("chain-0", "chain-1"):
            (self.run / chain / "energies.csv").write_text("step,total\n1,x\n")
            (self.run / chain / "trajectory.h5md").write_bytes(b"\x89HDF\r\n\x1a\n" + b"x" * 999)
        result = self.report()
        words = " ".join(Page((self.run / "report.html").read_text()).text)
        for name in ("summary.json", "settings.cfg", "timeline.csv", "energies.csv", "trajectory"):
            self.assertIn(name, words)
            self.assertRegex(result.stderr, f"{name}.* cannot be read")

    def test_contents_of_the_wrong_kind(self):
        """Files that can be read, of other values than a run writes."""
        self.copy("argon")
        summary = json.loads((self.run / "summary.json").read_text())
        summary |= {"codelet_timings": 3, "worker_tasks": None, "versions": [], "seed": EVIL}
        (self.run / "summary.json").write_text(json.dumps(summary))
        table = self.run / "energies.csv"
        table.write_text(re.sub("\n600,[^,]*,", "\n600,inf,", table.read_text()))
        with h5py.File(self.run / "trajectory.h5md", "r+") as file:
            file["particles/all/box/edges/value"][...] = 0
        result = self.report()
        for part in ("Workers: left out", "Versions: left out", "no volume"):
            self.assertIn(part, result.stderr)
        headings = Page((self.run / "report.html").read_text()).headings
        self.assertEqual(headings, ["Results", "Energies", "Averages and errors", "Configuration"])
        with h5py.File(self.run / "trajectory.h5md", "r+") as file:
            del file["parameters/molecule_types/0/site_names"]
            file["parameters/molecule_types/0/site_names"] = [1]
        self.assertIn("trajectory.h5md cannot be read", self.report().stderr)

    def test_energies_of_another_run(self):
        self.copy("argon")
        table = self.run / "energies.csv"
        table.write_text("".join(table.read_text().splitlines(keepends=True)[:-1]))
        self.assertIn("not of the same run", self.report().stderr)

    def test_empty_run(self):
        """One that has been killed before its first line."""
        self.run.mkdir()
        shutil.copy(run_path("argon") / "settings.cfg", self.run)
        result = self.report()
        self.assertIn("There is no energies.csv", result.stderr)


class Refusals(Report):
    def refused(self, *words, options=(), folder=None, env=None):
        result = self.report(*options, folder=folder, status=2, env=env)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertIn("remedy", result.stderr)

    def test_folders(self):
        self.refused("no such folder", folder=self.folder / "none")
        file = self.folder / "file"
        file.write_text("")
        self.refused("is a file", folder=file)
        self.refused("is not the output folder of a run", folder=self.folder)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["file"])

    def test_options(self):
        self.copy("qm")
        self.refused("unknown option", options=("--outputt", "x"))
        self.refused("no such folder", options=("--output", self.folder / "none/a.html"))
        self.refused("is a folder", options=("--output", self.folder))
        self.refused("'O9'", "C1, O2, H3, H4", options=("--atoms", "O2,O9"))
        self.refused("'O9'", "C1:OW", "HW1", options=("--pairs", "O9:OW"))
        self.refused("no folder is named", folder="--png")
        self.assertFalse((self.run / "report.html").exists())

    def test_atoms_without_a_molecule(self):
        self.copy("argon")
        self.refused("no QM molecule", options=("--atoms", "O1"))

    def test_python(self):
        self.copy("argon")
        packages = self.folder / "packages"
        packages.mkdir()
        (packages / "matplotlib.py").write_text("raise ImportError('there is no matplotlib')")
        self.refused("matplotlib", "quickstart setup", env={"PYTHONPATH": packages})
        (packages / "matplotlib.py").unlink()
        (packages / "chemfiles.py").write_text("raise ImportError('there is no chemfiles')")
        self.refused("chemfiles", "quickstart setup", options=["--xtc"], env={"PYTHONPATH": packages})
        self.refused("STARPMC_PYTHON", env={"STARPMC_PYTHON": self.folder / "nothing"})

    def test_help(self):
        printed = program.succeed("report", "--help").stdout
        for option in ("--output", "--atoms", "--pairs", "--png", "--xtc"):
            self.assertIn(option, printed)


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def with_probe(text, width):
    """The page as wide as a window that may be narrower than Chromium's least, which is 500; its
    title tells how wide things are then."""
    script = (
        f"<script>document.documentElement.style.width = '{width}px';"
        "const boxes = found => [...document.querySelectorAll(found)].map("
        "element => element.getBoundingClientRect());"
        # What is wider scrolls by itself.
        "const outside = 'body, body *:not(.scroll *):not(pre *):not(svg *)';"
        "document.title = JSON.stringify({page: Math.max(...boxes(outside).map(b => b.right)),"
        "plots: boxes('figure svg').map(b => b.width)})</script>"
    )
    return re.sub("<meta http-equiv[^>]*>", "", text).replace("</body>", script + "</body>")


@unittest.skipIf(CHROMIUM is None, "no chromium (Debian: apt-get install chromium)")
class Browser(Report):
    def browse(self, page, width, *options):
        return subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             f"--user-data-dir={self.folder / 'profile'}", f"--window-size={width},3000",
             *options, page.as_uri()],
            check=True, capture_output=True, text=True, timeout=120,
            env=os.environ | {"HOME": str(self.folder)},
        ).stdout  # fmt: skip

    def test_looks(self):
        """Nothing sticks out of the window, no plot of text is too small, and there are colours."""
        text = report_of("qm")
        page = self.folder / "page.html"
        page.write_text(text)
        # A page of its own may ask the browser what the report may not.
        probe = self.folder / "probe.html"
        for width in WIDTHS:
            probe.write_text(with_probe(text, width))
            found = re.search("<title>(.*?)</title>", self.browse(probe, 1200, "--dump-dom"))
            sizes = json.loads(found.group(1))
            self.assertLessEqual(sizes["page"], width)
            self.assertGreater(len(sizes["plots"]), 5)
            self.assertGreater(min(sizes["plots"]), 0.24 * width)
            self.assertGreater(min(sizes["plots"]), 300)
            picture = self.folder / f"{width}.png"
            self.browse(page, width, f"--screenshot={picture}")
            pixels = matplotlib.image.imread(picture)
            self.assertEqual(pixels.shape[1], width)
            colours = {tuple(pixel) for pixel in pixels[::3, ::3, :3].reshape(-1, 3)}
            self.assertGreater(len(colours), 100)


class TermsTest(unittest.TestCase):
    def test_density_and_nuclei_of_a_reference_are_one(self):
        import run_folder

        every = ("mm_vdw", "qmmm_nuclei", "qmmm_grid", "qmmm_polarisation")
        together = ("qmmm_coulomb", "solute")
        for columns, shown in (
            (every, ["mm_vdw", "qmmm_polarisation", *together]),
            (every[:3], [*every[:3], *together]),
        ):
            energies = {column: numpy.array([1.0, 2.0]) for column in (*columns, *together)}
            chain = run_folder.Chain("chain", pathlib.Path("."), {}, energies)
            terms = {column: run_folder.EnergyTerm(column, "kJ/mol") for column in every}
            run = run_folder.RunFolder(pathlib.Path("."), terms, chains=[chain])
            run.summary = {"qm_engine": "pyscf"}
            self.assertEqual(run.terms, shown)


if __name__ == "__main__":
    program.main()
