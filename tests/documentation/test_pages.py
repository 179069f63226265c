"""Links, anchors and paths in the Markdown pages lead somewhere, and the front page is short.

usage: test_pages.py [REPOSITORY]
"""

import re
import sys
from pathlib import Path

REPOSITORY = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
FRONT_PAGE_LINES = 250
LINK = re.compile(r"\]\(([^()\s]+)\)")
# What stands in backquotes and is a path from the repository's root.
PATH = re.compile(r"`((?:codelets|configs|kernels|perfmodels|src|tests)/[\w./-]*)`")


def pages():
    """All that git would take: neither build folders nor hidden ones."""
    for page in sorted(REPOSITORY.rglob("*.md")):
        folders = page.relative_to(REPOSITORY).parts[:-1]
        if not any(name.startswith((".", "build")) for name in folders):
            yield page


def prose(page):
    """The page without its blocks of code."""
    return re.sub(
        r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )


def anchors(page):
    """Those that GitHub gives the headings."""
    found = set()
    for heading in re.findall(r"^#+ +(.*?) *$", prose(page), flags=re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        number = 0
        while (anchor := f"{slug}-{number}" if number else slug) in found:
            number += 1
        found.add(anchor)
    return found


def broken_link(page, target):
    """Why a link leads nowhere; None where it is right, or leads out of the repository."""
    if re.match(r"[a-z]+:", target):
        return None
    name, _, anchor = target.partition("#")
    goal = (page.parent / name).resolve() if name else page
    if not goal.is_relative_to(REPOSITORY) or not goal.exists():
        return f"({target}): no such file"
    if anchor and (goal.suffix != ".md" or anchor not in anchors(goal)):
        return f"({target}): {goal.relative_to(REPOSITORY)} has no heading of that name"
    return None


def problems_of(page):
    text = prose(page)
    for target in LINK.findall(text):
        if problem := broken_link(page, target):
            yield problem
    for path in PATH.findall(text):
        if not any((REPOSITORY / path).parent.glob(Path(path).name + "*")):
            yield f"`{path}`: no such file"
    if placeholder := re.search(r"@[A-Z]+@", text):
        yield f"{placeholder[0]}: a placeholder"


def main():
    all_pages = list(pages())
    problems = [
        f"{page.relative_to(REPOSITORY)}: {problem}"
        for page in all_pages
        for problem in problems_of(page)
    ]
    front = REPOSITORY / "README.md"
    lines = len(front.read_text(encoding="utf-8").splitlines())
    if lines > FRONT_PAGE_LINES:
        problems.append(
            f"README.md: {lines} lines; more than {FRONT_PAGE_LINES} belong to the page of a room"
        )
    linked = {(front.parent / t.partition("#")[0]).resolve() for t in LINK.findall(prose(front))}
    problems += [
        f"README.md: leads to no {page.relative_to(REPOSITORY)}"
        for page in all_pages
        if page.name == "README.md" and page != front and page not in linked
    ]
    if problems:
        sys.exit("\n".join(problems))
    print(f"{len(all_pages)} pages, every link leads somewhere")


if __name__ == "__main__":
    main()
