"""Terms as tasks that one device makes in the order of its queue: the same chain as whole windows, frames,
virials and checkpoints included.

    python3 test_queued_terms.py PROGRAM
"""

import h5py
import numpy
import program

STEPS, EQUILIBRATION = 4000, 1000
# Frames and virials, which the queue has to be settled for, and steps between them that make many windows.
OUTPUT = {
    "energy_interval": 1000,
    "trajectory_interval": 250,
    "pressure_interval": 1000,
}
DEVICE = {"STARPU_OPENCL_ON_CPUS": 1, "STARPU_NCPU": 0}
QUEUED = "follow each other in the queue of"


class QueuedTerms(program.TestCase):
    def run_with(self, tasks, *options, **environment):
        folder = self.folder / "-".join([tasks, *environment.values()])
        config = self.config(
            **program.small_system()
            | {"run": {"implementation": "opencl", "tasks": tasks}},
            sampling={
                "steps": STEPS,
                "seed": 7,
                "equilibration_steps": EQUILIBRATION,
                "window": 50,
            },
            output=OUTPUT,
        )
        # Once for the models of what tasks take.
        program.simulate(config, folder, *options, env=DEVICE | environment)
        summary = program.simulate(
            config,
            folder,
            *options,
            "--output.overwrite",
            "true",
            env=DEVICE | environment,
        )
        with h5py.File(folder / "trajectory.h5md") as file:
            positions = numpy.array(file["particles/all/position/value"])
        return summary, positions, (folder / "run.log").read_text()

    def test_same_chain(self):
        expected, positions, log = self.run_with("windows")
        self.assertNotIn(QUEUED, log)
        for environment, queued in (({}, True), ({"STARPU_SCHED": "dmdas"}, False)):
            with self.subTest(environment):
                summary, found, log = self.run_with("terms", **environment)
                self.assertEqual(QUEUED in log, queued)
                for name in ("decisions_sha256", "final_coordinates_sha256"):
                    self.assertEqual(summary[name], expected[name])
                self.assertEqual(
                    len(found),
                    (STEPS + EQUILIBRATION) // OUTPUT["trajectory_interval"] + 1,
                )
                numpy.testing.assert_array_equal(found, positions)
                for result in (summary, expected):
                    self.assertTrue(
                        numpy.isfinite(result["averages"]["pressure_bar"]["mean"])
                    )
                self.assertAlmostEqual(
                    summary["averages"]["pressure_bar"]["mean"],
                    expected["averages"]["pressure_bar"]["mean"],
                    delta=1e-6 * abs(expected["averages"]["pressure_bar"]["mean"]),
                )


if __name__ == "__main__":
    program.main()
