"""Traces in the programs that they are made for: paje.trace of output.trace, and StarPU's own, made
with FxT, in ViTE and PajeNG, without a screen.

    python3 test_trace_tools.py PROGRAM
"""

import collections
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree

import program


def starpu_tool(name):
    """Of the StarPU that the program is linked with."""
    libraries = subprocess.run(
        ["ldd", program.PROGRAM], capture_output=True, text=True, check=True
    ).stdout
    library = re.search(r"=> (\S*libstarpu-\S*)", libraries).group(1)
    tool = pathlib.Path(library).resolve().parents[1] / "bin" / name
    return tool if tool.exists() else shutil.which(name)


class Tools(program.TestCase):
    def setUp(self):
        super().setUp()
        small = program.small_system()
        self.input = self.config(
            **small,
            sampling={"steps": 800, "equilibration_steps": 200, "chains": 2},
            run={"precision": "fp64", "implementation": "simd", "tasks": "terms"},
        )
        self.out = self.folder / "out"

    def run_tool(self, *words):
        result = subprocess.run(
            list(map(str, words)), cwd=self.folder, env=program.environment(
                QT_QPA_PLATFORM="offscreen", XDG_RUNTIME_DIR=self.folder, USER="tester"),
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def tool(self, name):
        found = shutil.which(name)
        if found is None:
            self.skipTest(f"no {name} (Debian: {'pajeng' if name == 'pj_dump' else name})")
        return found

    def vite(self, trace):
        """What ViTE says of a trace, which it draws."""
        text = self.run_tool(self.tool("vite"), "-e", "vite.svg", trace)
        self.assertIn("0 errors and 0 warnings", text)
        drawn = xml.etree.ElementTree.parse(self.folder / "vite.svg").getroot()
        return drawn


    def check_colours(self, drawn):
        """Those of what takes longest; ViTE leaves out what is narrower than a pixel."""
        fills = {element.get("fill") for element in drawn.iter()}
        self.assertIn(f"rgb({0x2F},{0x6D},{0xB5})", fills)  # QM/MM grid


class Own(Tools):
    def setUp(self):
        super().setUp()
        self.summary = program.simulate(self.input, self.out, "--trace", env={"STARPU_NCPU": 2})
        self.trace = self.out / "paje.trace"

    def test_vite_opens_it(self):
        self.check_colours(self.vite(self.trace))

    def test_pajeng_reads_the_same_tasks(self):
        """Which ends each state where the next begins, on its own."""
        text = self.run_tool(self.tool("pj_dump"), self.trace)
        seconds, counts = collections.Counter(), collections.Counter()
        for line in text.splitlines():
            fields = [field.strip() for field in line.split(",")]
            if fields[0] == "State":
                counts[fields[7]] += 1
                seconds[fields[7]] += float(fields[5])
        timings = self.summary["codelet_timings"]
        self.assertEqual(
            sum(counts.values()) - counts["idle"], sum(timing["count"] for timing in timings)
        )
        busy = sum(timing["total_seconds"] for timing in timings)
        self.assertAlmostEqual(sum(seconds.values()) - seconds["idle"], busy, delta=1e-3 * busy)


class StarpuTrace(Tools):
    def setUp(self):
        super().setUp()
        self.tool_path = starpu_tool("starpu_fxt_tool")
        if self.tool_path is None:
            self.skipTest("this StarPU has no starpu_fxt_tool")
        environment = {
            "STARPU_FXT_TRACE": 1, "STARPU_FXT_PREFIX": f"{self.folder}/", "STARPU_NCPU": 2,
            "USER": "tester",
        }  # fmt: skip
        self.summary = program.simulate(self.input, self.out, env=environment)
        files = list(self.folder.glob("prof_file_*"))
        if not files:
            self.skipTest("this StarPU was built without FxT")
        self.run_tool(self.tool_path, "-i", files[0], "-c")

    def test_chains_and_windows(self):
        """Of each task, as its iteration."""
        named = collections.Counter()
        windows = []
        for task in (self.folder / "tasks.rec").read_text().split("\n\n"):
            fields = dict(re.findall(r"^(\w+): (.*)$", task, re.MULTILINE))
            name = fields.get("Name", "")
            if not name.startswith("starpmc_"):
                continue
            named[name] += 1
            iteration = fields["Iteration"].split()
            self.assertIn(iteration[0], {"0", "1"}, task)
            if "decide" in name and iteration[0] == "1":
                windows.append(int(iteration[1]))
        counts = {timing["codelet"]: timing["count"] for timing in self.summary["codelet_timings"]}
        self.assertEqual(named, counts)
        self.assertEqual(sorted(windows), list(range(len(windows))))
        self.assertGreater(len(windows), 2)

    def test_vite_opens_it(self):
        self.check_colours(self.vite(self.folder / "paje.trace"))


if __name__ == "__main__":
    program.main()
