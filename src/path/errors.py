"""How a path's making ends where it cannot go on."""

INPUT_ERROR, FAILURE = 2, 1


class PathError(Exception):
    """One sentence for the user; status: 2 for bad input, 1 for a failure at run time."""

    def __init__(self, place, problem, remedy, status=INPUT_ERROR):
        super().__init__(f"{place}: {problem}\n  remedy: {remedy}")
        self.status = status
