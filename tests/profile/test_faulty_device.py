"""A profile whose OpenCL device does not start for a later image: it is tried once more, then left out.

    python3 test_faulty_device.py PROGRAM LIBFAILING_OPENCL.so
"""

import sys

FAILING_OPENCL = sys.argv.pop(2)

from profile_case import MODEL, ProfileCase, program

# Both kinds of worker are tried, whatever is known of them.
BESIDE = {"STARPU_NCPU": 1, "STARPU_OPENCL_ON_CPUS": 1, "STARPU_CALIBRATE": 2}


class FaultyDevice(ProfileCase):
    def test_does_not_start(self):
        if missing := program.opencl_missing():
            self.skipTest(missing)
        sections = self.settings([0, 0.4, 0.8], steps=6000)
        config = program.write_config(self.folder / "test.cfg", **sections)
        failing = program.failing_opencl(FAILING_OPENCL, "start", after=8)
        result = program.start(
            "profile", config, "--output.folder", self.folder / "made",
            env=MODEL | BESIDE | failing, timeout=280,
        )  # fmt: skip
        self.assertEqual(result.returncode, 0, result.stderr)
        places = [
            result.stderr.find(f"does not start (StarPU has given it up); going on {how}, from")
            for how in ("with another try of it", "without it")
        ]
        self.assertTrue(0 <= places[0] < places[1], result.stderr)
        self.assertEqual(result.stderr.count("does not start"), 2)
        self.assertIn("gets no work: it has failed before", result.stderr)
        self.profile(config, self.folder / "alone", env={"STARPU_NOPENCL": 0})
        made, alone = ((self.folder / name / "profile.csv").read_text() for name in ("made", "alone"))
        self.assertEqual(made, alone)


if __name__ == "__main__":
    program.main()
