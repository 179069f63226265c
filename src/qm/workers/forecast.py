"""What a calculation will take, told before it begins. Rules of thumb, good to a factor of three."""

BASE_MB = 250.0  # Python, PySCF and the coarse level
FITTING_FUNCTIONS = 4.5  # of the density fitting, for each basis function
PRUNED_SHARE = 0.6  # of the SCF grid's points is what PySCF keeps

# CPU time of one core, PBE with density fitting, def2-SVP, density grid 50 x 974, SCF grid 75 x 302:
# an update takes 0.05 s for formaldehyde (38 functions), 0.4 s for pentane (130), 3.5 s for decane
# (250) and chorismate (264), and what comes before the first one 0.5, 5, 17 and 14 s.
REFERENCE_FUNCTIONS = 264
REFERENCE_SECONDS = 3.5
EXPONENT = 3
SHORTEST_SECONDS = 0.05
FIRST_SCF_SECONDS, FIRST_SCF_UPDATES = 1, 4  # grids, factors and the isolated solute's SCF
HYBRID_SCF = 3  # times as long with exact exchange
PLAIN_SCF = 8  # the same where it is PySCF's own: range-separated exchange, meta-GGAs, open shells


def factors_mb(functions):
    """Of density fitting."""
    return 8 * FITTING_FUNCTIONS * functions * functions * (functions + 1) / 2 / 2**20


def forecast(functions, atoms, request, two_level, hybrid):
    """two_level: whether the SCF is two_level.py's; hybrid: whether it has exact exchange."""
    scaled = REFERENCE_SECONDS * (functions / REFERENCE_FUNCTIONS) ** EXPONENT
    seconds = max(SHORTEST_SECONDS, scaled) / request["threads"]
    if not two_level:
        seconds *= PLAIN_SCF
    elif hybrid:
        seconds *= HYBRID_SCF
    limit_mb = float(request["memory_mb"])
    scf_points = PRUNED_SHARE * atoms * request["scf_grid_radial"] * request["scf_grid_angular"]
    density_points = atoms * request["grid_radial"] * request["grid_angular"]
    return {
        "basis_functions": functions,
        "seconds_first": FIRST_SCF_SECONDS + FIRST_SCF_UPDATES * seconds,
        "seconds_update": seconds,
        "memory_mb": BASE_MB
        + min(limit_mb, factors_mb(functions))
        # Values of the basis functions: with gradients in fp64, without in fp32, kept up to a
        # quarter of the limit each.
        + min(limit_mb / 4, 4 * 8 * functions * scf_points / 2**20)
        + min(limit_mb / 4, 4 * functions * density_points / 2**20),
    }
