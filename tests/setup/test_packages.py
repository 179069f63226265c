"""What packages say agrees with the sources, and nothing names a folder of one machine.

    python3 test_packages.py
"""

import pathlib
import re
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = REPOSITORY / "configs/packages"
VERSION = re.search(
    r"^project\(starpmc VERSION (\S+)", (REPOSITORY / "CMakeLists.txt").read_text(), re.MULTILINE
)[1]


class Packages(unittest.TestCase):
    def test_version(self):
        for path, pattern in (
            (REPOSITORY / "CITATION.cff", r"^version: (\S+)$"),
            (PACKAGES / "debian-changelog", r"^starpmc \((\S+)-\d+\)"),
            (PACKAGES / "starpmc.def", r"starpmc_([\d.]+)-\d+_amd64\.deb"),
            (PACKAGES / "starpmc.def", r"^    Version (\S+)$"),
            (PACKAGES / "README.md", r"starpmc_([\d.]+)-\d+_amd64\.deb"),
            (PACKAGES / "RELEASE_NOTES.md", r"^## (\S+)$"),
            (REPOSITORY / "src/python/starpmc/version.py", r'^__version__ = "(\S+)"$'),
        ):
            found = re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
            self.assertIsNotNone(found, f"{path}: nothing like {pattern}")
            self.assertEqual(found[1], VERSION, path)

    def test_requirements_name_no_place(self):
        for name in ("src/qm/workers/requirements.txt", "tests/requirements.txt"):
            text = (REPOSITORY / name).read_text(encoding="utf-8")
            # What has no wheel is named; that is no place.
            places = r"^-(?!-no-binary \w+$).*|.*file://.*|.*\s/\S+"
            self.assertEqual(re.findall(places, text, re.MULTILINE), [], name)


if __name__ == "__main__":
    unittest.main()
