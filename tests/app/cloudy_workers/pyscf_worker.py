"""The stand-in for PySCF of ../workers, whose six points are clouds of points: a density that can be
shared out.
"""

import pathlib
import random
import runpy
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "qm" / "workers"))
import fake_worker

POINTS = 4000  # of a cloud
RADIUS = 0.2  # angstrom, standard deviation
send = fake_worker.send


def send_clouds(header, arrays=()):
    arrays = list(arrays)
    for index, (name, shape, values) in enumerate(arrays):
        if name != "grid":
            continue
        count = shape[1]
        columns = [values[k * count : (k + 1) * count] for k in range(5)]
        draw = random.Random(1)
        clouds = [[x + draw.gauss(0, RADIUS) for x in column for _ in range(POINTS)]
                  for column in columns[:3]]  # fmt: skip
        clouds.append([charge / POINTS for charge in columns[3] for _ in range(POINTS)])
        clouds.append([0.0] * (count * POINTS))
        arrays[index] = (name, (5, count * POINTS), [x for column in clouds for x in column])
    return send(header, arrays)


fake_worker.send = send_clouds
runpy.run_path(str(HERE.parent / "workers/pyscf_worker.py"), run_name="__main__")
