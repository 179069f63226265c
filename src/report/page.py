"""The report as one HTML page: no scripts, nothing from elsewhere."""

from html import escape

STYLE = """
:root { color-scheme: light dark; --line: #8886; --soft: #8882; --accent: #2f7ed8; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 76rem; line-height: 1.45;
  font-family: system-ui, "DejaVu Sans", sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; padding-bottom: .2rem;
  border-bottom: 1px solid var(--line); }
p { margin: .4rem 0; }
.quiet { opacity: .75; font-size: .9rem; }
.notes { border-left: 4px solid #d08020; background: var(--soft); padding: .4rem .8rem; }
.notes p { margin: .2rem 0; }
.charts { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); }
figure { margin: 0; min-width: 0; }
figure svg { display: block; width: 100%; height: auto; max-width: 32rem; }
figcaption { font-size: .85rem; opacity: .8; }
.scroll { overflow-x: auto; margin: .5rem 0 1rem; }
.scroll svg { width: 100%; min-width: 36rem; max-width: 60rem; height: auto; display: block; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem .2rem 0; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--soft); }
th:first-child, td:first-child { text-align: left; }
dl { font-size: .9rem; } dt { opacity: .75; }
dd { margin: 0 0 .4rem; overflow-wrap: anywhere; }
pre { font-size: .8rem; padding: .6rem; background: var(--soft); overflow-x: auto; margin: .4rem 0; }
summary { cursor: pointer; }
nav { font-size: .9rem; } nav a { margin-right: .9rem; color: var(--accent); }
"""
# Whatever a text of the run might smuggle in, the browser loads and runs nothing.
# By which a page is known as one that may be replaced.
MARK = '<meta name="generator" content="starpmc report">'
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def paragraph(text, kind=""):
    attribute = f' class="{kind}"' if kind else ""
    return f"<p{attribute}>{escape(text)}</p>"


def table(head, rows):
    """Cells are plain text."""
    header = "".join(f"<th>{escape(str(cell))}</th>" for cell in head)
    lines = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>\n"
        for row in rows
    )
    return (
        f'<div class="scroll"><table><thead><tr>{header}</tr></thead>\n'
        f"<tbody>{lines}</tbody></table></div>\n"
    )


def definitions(rows):
    """Names and values that may be long."""
    lines = "".join(f"<dt>{escape(str(a))}</dt><dd>{escape(str(b))}</dd>\n" for a, b in rows)
    return f"<dl>\n{lines}</dl>\n"


def figure(svg, caption="", wide=False):
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    if wide:
        svg = f'<div class="scroll">{svg}</div>'
    return f"<figure>{svg}{below}</figure>\n"


def charts(figures):
    return f'<div class="charts">\n{"".join(figures)}</div>\n'


def details(title, text):
    return f"<details><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>\n"


def notes(texts):
    if not texts:
        return ""
    return f'<div class="notes">{"".join(paragraph(text) for text in texts)}</div>\n'


def document(title, subtitle, problems, sections):
    """sections: (heading, HTML) in their order."""
    anchors = [f"part-{number}" for number in range(1, len(sections) + 1)]
    links = "".join(
        f'<a href="#{anchor}">{escape(heading)}</a> '
        for anchor, (heading, _) in zip(anchors, sections, strict=True)
    )
    body = "".join(
        f'<section id="{anchor}">\n<h2>{escape(heading)}</h2>\n{html}</section>\n'
        for anchor, (heading, html) in zip(anchors, sections, strict=True)
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{MARK}\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<header>\n<h1>{escape(title)}</h1>\n{paragraph(subtitle, 'quiet')}"
        f"<nav>{links}</nav>\n</header>\n{notes(problems)}<main>\n{body}</main>\n</body>\n</html>\n"
    )
