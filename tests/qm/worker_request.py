"""An init request for QM workers, whole but for what a test is about; no PySCF is needed for it."""

DEFAULTS = {
    "charge": 0,
    "multiplicity": 1,
    "method": "pbe",
    "basis": "def2-svp",
    "density_fitting": True,
    "grid_radial": 30,
    "grid_angular": 302,
    "grid_needed": True,
    "scf_grid_radial": 50,
    "scf_grid_angular": 194,
    "energy_convergence_hartree": 1e-8,
    "max_iterations": 100,
    "embedding": "quadrature",
    "threads": 1,
    "memory_mb": 2000,
    "device": "cpu",
    "device_workers": 1,
    "device_required": True,
}


def worker_request(elements, **changed):
    unknown = changed.keys() - DEFAULTS.keys()
    if unknown:
        raise TypeError(f"a request has no {', '.join(sorted(unknown))}")
    return {"elements": elements, **DEFAULTS, **changed}
