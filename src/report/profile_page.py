"""The page of a free energy profile: the report of a folder of `starpmc profile`."""

import box_picture
import charts
import h5py
import numpy
import page
import profile_charts
import run_folder
import sections
from profile_charts import KJ_PER_KCAL
from trajectory import Trajectory

LEAST_OVERLAP = 0.03  # as src/profile/estimates.py warns below
COLUMNS = (
    ("image", "image", "{}"),
    ("coordinate, Å u^½", "reaction_coordinate", "{:.3f}"),
    ("free energy, kJ/mol", "free_energy", "{:.2f}"),
    ("error", "error", "{:.2f}"),
    ("95 %", "half_width_95", "{:.2f}"),
    ("isolated molecule, kJ/mol", "isolated_energy", "{:.2f}"),
    ("interaction, kJ/mol", "interaction_energy", "{:.1f}"),
    ("dipole, D", "dipole", "{:.2f}"),
    ("step to the true energy, kJ/mol", "reference_correction", "{:.3f}"),
    ("its error", "reference_correction_error", "{:.3f}"),
    ("BAR to the next, kJ/mol", "bar_to_next", "{:.2f}"),
    ("its error", "bar_to_next_error", "{:.2f}"),
    ("overlap with the next", "overlap_with_next", "{:.3f}"),
    ("independent frames", "independent_frames", "{}"),
    ("independent blocks", "independent_blocks", "{:.0f}"),
    ("blocks accepted", "block_acceptance", "{:.1%}"),
    ("folder", "folder", "{}"),
)


def _difference_row(profile, start, end):
    energy, error, half_width = profile.difference(start.image, end.image)
    return [
        f"{end.name} (image {end.image + 1}) above {start.name} (image {start.image + 1})",
        sections.with_error(energy, error),
        sections.with_error(energy / KJ_PER_KCAL, error / KJ_PER_KCAL),
        f"{half_width:.2f}",
    ]


def result(profile, gallery):
    first, *others = profile.places()
    rows = [_difference_row(profile, first, other) for other in others]
    text = (
        "Free energies of the solvent around a solute that is held in the geometry of each image, "
        "with the solute's own energy. A deviation is less than the error at 68 %, and within the band at "
        "95 %, by Student's distribution for as many samples as are independent. Vibrations of the solute "
        "are not in it."
    )
    html = page.table(["difference", "kJ/mol ± error", "kcal/mol ± error", "95 %, kJ/mol"], rows)
    figure = gallery.take(profile_charts.free_energy(profile), "profile")
    return html + page.figure(figure) + page.paragraph(text, "quiet")


def images(profile):
    rows = [
        ["–" if row.get(key) is None else form.format(row[key]) for _, key, form in COLUMNS]
        for row in profile.images
    ]
    text = (
        "Free energies and energies of the isolated molecule are above those of the first image. The "
        "step leads from the energy that was sampled, of second order about a reference density, to "
        "that of the QM program at the ends of blocks; it is in the free energy. Each image's folder "
        "is a run's, with a report of its own."
    )
    return page.table([title for title, *_ in COLUMNS], rows) + page.paragraph(text, "quiet")


def _trajectory_of(folder):
    """The first chain's."""
    for place in (folder, folder / "chain-0"):
        path = run_folder.trajectory_in(place)
        if path.exists():
            return path
    raise OSError(f"there is no {run_folder.trajectory_in(folder)}")


def _solute_in(path):
    with Trajectory(path) as trajectory:
        if trajectory.solute_atoms == 0 or trajectory.frames == 0:
            raise ValueError(f"{path} has no solute or no frame")
        return trajectory.positions(0)[: trajectory.solute_atoms]


def view_of_path(geometries):
    """Rotation whose plane shows what moves, and across it most of the solute: the longer extent to
    the right."""
    middle = geometries[len(geometries) // 2]
    centred = middle - middle.mean(axis=0)
    moves = numpy.concatenate(numpy.diff(geometries, axis=0))
    along = numpy.linalg.svd(moves)[2][0] if numpy.ptp(moves) > 0 else numpy.array([0.0, 0.0, 1.0])
    rest = centred - numpy.outer(centred @ along, along)
    if numpy.ptp(rest) > 1e-6:
        across = numpy.linalg.svd(rest)[2][0]
    else:  # all atoms on a line
        across = numpy.eye(3)[numpy.abs(along).argmin()]
    across -= (across @ along) * along
    across /= numpy.linalg.norm(across)
    pair = sorted((along, across), key=lambda axis: -numpy.ptp(centred @ axis))
    return numpy.array([*pair, numpy.cross(*pair)])


def solutes(profile, gallery):
    places = profile.places()
    paths = [_trajectory_of(profile.folders[place.image]) for place in places]
    view = view_of_path(numpy.array([_solute_in(path) for path in paths]))
    figures = []
    for place, path in zip(places, paths, strict=True):
        with Trajectory(path) as trajectory:
            figure, shown = box_picture.draw(trajectory, trajectory.frames - 1, [], view)
        svg = gallery.take(figure, "solute-" + place.name.replace(" ", "-"))
        name = place.name.capitalize()
        figures.append(page.figure(svg, f"{name}, image {place.image + 1}, last frame: {shown}."))
    return page.charts(figures)


def _overlaps_of_pairs(profile):
    """Of the two alone; a profile of an earlier version has only those among all images."""
    if all("pair_overlap" in row for row in profile.images):
        return profile.column("pair_overlap")[:-1]
    return numpy.diagonal(profile.matrix("overlap"), 1)


def overlap(profile, gallery):
    low = [
        f"{k + 1} and {k + 2} ({value:.3f})"
        for k, value in enumerate(_overlaps_of_pairs(profile))
        if value < LEAST_OVERLAP
    ]
    html = page.figure(gallery.take(profile_charts.overlap(profile), "overlap"))
    if low:
        html += page.paragraph(
            f"Images {', '.join(low)} overlap by less than {LEAST_OVERLAP}: errors may be too small, "
            "and images between them would help."
        )
    text = (
        "The probability of finding a frame of the row's image among those of the column's, as MBAR "
        "weighs them."
    )
    return html + page.paragraph(text, "quiet")


def convergence(profile, gallery):
    figures = [
        page.figure(gallery.take(profile_charts.convergence(name, rows), f"convergence-{number}"))
        for number, (name, rows) in enumerate(profile.document["convergence"].items(), 1)
    ]
    text = (
        "Free energy above the first image from the first and from the last so many frames and blocks "
        "of every image. Both have to come into the grey band, of the error of all of them, and stay "
        "there; where only the last frames do, equilibration was too short."
    )
    return page.charts(figures) + page.paragraph(text, "quiet")


def configuration(profile):
    if not profile.settings_text:
        return ""
    return page.details("profile.cfg, every option of the profile", profile.settings_text)


def versions(profile, program_version):
    found = {}
    if profile.document:
        found["profile"] = f"starpmc {profile.document['starpmc_version']}"
    found["this report"] = (
        f"starpmc {program_version}, matplotlib {charts.version()}, h5py {h5py.__version__}"
    )
    return page.definitions(found.items())


def _subtitle(profile):
    state = "finished" if profile.document else "not finished"
    if not profile.document:
        return f"{profile.path.resolve()}: {len(profile.folders)} images so far, {state}"
    temperature = profile.document.get("temperature_kelvin")
    return f"{profile.path.resolve()}: {len(profile.images)} images, {temperature} K, {state}"


def build(profile, with_png, program_version):
    """The page's text, and PNGs by name."""
    gallery = charts.Gallery(with_png)
    parts = sections.Parts(profile)
    if profile.document:
        parts.add("Profile", result, profile, gallery)
        parts.add("Images", images, profile)
        parts.add("Solute and first shell", solutes, profile, gallery)
        parts.add("Overlap", overlap, profile, gallery)
        parts.add("Convergence", convergence, profile, gallery)
    parts.add("Configuration", configuration, profile)
    parts.add("Versions", versions, profile, program_version)
    title = str(profile.document.get("title") or profile.path.resolve().name)
    html = page.document(title, _subtitle(profile), profile.problems, parts.made)
    return html, gallery.pictures
