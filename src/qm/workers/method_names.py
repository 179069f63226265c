"""Names of methods: functional and dispersion correction, and what would be misread without a word."""

import re

from worker_protocol import bad_request

CORRECTIONS = ("d3bj", "d3zero", "d4")
# libxc has these functionals without the dispersion correction that belongs to them.
WITHOUT_THEIR_CORRECTION = {"b97-d", "b97_d", "b97d", "wb97x-d", "wb97x_d", "cf22d"}
# With a correction these names mean another functional than libxc's of that name.
OTHER_WITH_CORRECTION = {"b97", "b97m", "wb97", "wb97x", "wb97m"}
# The same by libxc's numbers, for PySCF knows each under many spellings (wb97xd, hyb_gga_xc_wb97x_d).
NUMBERS_WITHOUT_THEIR_CORRECTION = {
    *(64, 65, 66, 67),  # oTPSS-D, OPBE-D, OPWLYP-D, OBLYP-D
    *(92, 312),  # SSB-D, revSSB-D
    170,  # B97-D
    *(285, 286),  # BEEF-vdW
    327,  # B97-3c
    *(340, 341),  # CF22D
    399,  # wB97X-D3
    471,  # wB97X-D
}
NUMBERS_OTHER_WITH_CORRECTION = {
    254,  # B97M-V
    407,  # B97
    *(463, 464, 466),  # wB97, wB97X, wB97X-V
    531,  # wB97M-V
}


def split(method):
    """(functional, correction or None) of a name such as pbe-d3bj, in lower case."""
    name = method.strip().lower()
    found = re.fullmatch(rf"(.+)-({'|'.join(CORRECTIONS)})", name)
    functional, correction = found.groups() if found else (name, None)
    if (
        functional in WITHOUT_THEIR_CORRECTION
        or re.search(r"[-_]3c$", functional)
        or (correction and functional in OTHER_WITH_CORRECTION)
    ):
        raise _left_out(method)
    if re.search(r"[-_]d([234]|$)", functional):
        raise bad_request(
            f"qm.method = {method}: of dispersion corrections there are "
            f"{', '.join(f'-{known}' for known in CORRECTIONS)}, behind a functional's name; "
            "-d3 alone does not say how it is damped (pbe-d3bj, pbe-d3zero)"
        )
    return functional, correction


def _left_out(method):
    return bad_request(
        f"qm.method = {method}: the QM program would leave a part of this method out; take "
        "another, such as pbe-d3bj or b3lyp-d4"
    )


def check_dispersion(method, functional, libxc):
    """Refuses what PySCF would compute without the dispersion that belongs to it, or with two."""
    numbers = {int(number) for number, _ in libxc.parse_xc(functional)[1]}
    if numbers & NUMBERS_WITHOUT_THEIR_CORRECTION:
        raise _left_out(method)
    correction = split(method)[1]
    if correction and libxc.is_nlc(functional):
        raise bad_request(
            f"qm.method = {method}: {functional} has a dispersion of its own, non-local correlation "
            f"(VV10), and -{correction} would add another; take {functional} alone, or another "
            "functional, such as pbe-d3bj or b3lyp-d4"
        )
    if correction and numbers & NUMBERS_OTHER_WITH_CORRECTION:
        raise _left_out(method)


def check_functional(method, functional, libxc):
    """Refuses exchange or correlation alone (lda, vwn5), unless the comma of PySCF's own notation says so,
    what PySCF would subtract (pbe0-2), and what check_dispersion() does."""
    import numpy

    check_dispersion(method, functional, libxc)
    if "," in functional:
        return
    if any(weight < 0 for _, weight in libxc.parse_xc(functional)[1]):
        raise bad_request(
            f"qm.method = {method}: PySCF would subtract the functional behind '-'; take another name"
        )
    if libxc.xc_type(functional) not in ("LDA", "GGA"):
        return
    uniform = numpy.array([[1.0], [0.0], [0.0], [0.0]])  # density and its gradient
    rho = uniform if libxc.xc_type(functional) == "GGA" else uniform[0]
    energy, slater = (
        libxc.eval_xc(name, density, deriv=0)[0][0]
        for name, density in ((functional, rho), ("slater,", uniform[0]))
    )
    exact = libxc.hybrid_coeff(functional)
    if libxc.rsh_coeff(functional)[0] == 0 and energy + exact * slater > slater / 2:
        raise bad_request(
            f"qm.method = {method} is a correlation functional without exchange in PySCF: name both "
            f"(lda,vwn; blyp), or write ',{functional}' to mean it"
        )
    if abs(energy - slater) < 1e-6:
        raise bad_request(
            f"qm.method = {method} is an exchange functional without correlation in PySCF: name both "
            f"(lda,vwn; blyp), or write '{functional},' to mean it"
        )
