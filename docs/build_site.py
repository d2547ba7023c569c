"""Build the site into build/site: ``make docs``.

The pages are gathered in build/site-source first: those of docs/, the changelog, the tables of the benchmarks, the page
and the figures of each experiment, and every picture, drawn now. Then Sphinx makes the site, warnings being errors, and
runs the examples of all pages and docstrings.
"""

from __future__ import annotations

import re
import runpy
import shutil
import sys
from pathlib import Path

import build_gallery

from abstain.cli.commands import demo

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
SOURCE, SITE, DOCTREES = (ROOT / "build" / name for name in ("site-source", "site", "site-doctrees"))
WITH_A_PAGE = (".md", ".png", ".svg", ".json")  # what comes along with the page of an experiment
# Parts of benchmarks/README.md that docs/benchmarks.md includes, and between which marks they stand.
BENCHMARKS = {
    "what_is_measured.txt": ("## What is measured", "`results.json` holds"),
    "results.txt": ("<!-- results:", "<!-- end of results"),
}
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!\w+:|#)([^)\s#]+)(#[^)\s]*)?\)")


def gather() -> None:
    """Copy all pages to SOURCE, as the site wants them."""
    for old in (SOURCE, SITE, DOCTREES):  # nothing of an earlier build stays behind
        shutil.rmtree(old, ignore_errors=True)
    shutil.copytree(DOCS, SOURCE, ignore=shutil.ignore_patterns("*.py", "__pycache__", "_static", "extensions"))
    for page in SOURCE.glob("*.md"):  # where the site has the pages of the experiments
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("](../experiments/", "](reproductions/"), encoding="utf-8")
    write(SOURCE / "changelog.md", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    measured = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    for name, (start, end) in BENCHMARKS.items():
        write(SOURCE / "benchmarks" / name, between(measured, start, end))
    pages = experiment_pages()
    write(SOURCE / "reproductions" / "list.txt", listed([page.parent.name for page in pages]))
    for page in pages:
        folder = SOURCE / "reproductions" / page.parent.name
        folder.mkdir(parents=True, exist_ok=True)
        for companion in page.parent.iterdir():
            if companion.suffix in WITH_A_PAGE:
                shutil.copy(companion, folder)
    for page in pages:  # whose links to one another lead somewhere now
        write(SOURCE / "reproductions" / page.parent.name / "README.md", page.read_text(encoding="utf-8"))


def experiment_pages() -> list[Path]:
    """The pages that experiments have written about themselves."""
    return sorted(script.with_name("README.md") for script in (ROOT / "experiments").glob("*/run.py") if _done(script))


def _done(script: Path) -> bool:
    return all(script.with_name(name).is_file() for name in ("README.md", "results.json"))


def listed(experiments: list[str]) -> str:
    """A table of contents of the experiments."""
    if not experiments:
        return "No experiment has been run yet.\n"
    pages = "\n".join(f"reproductions/{name}/README" for name in experiments)
    return f"```{{toctree}}\n:maxdepth: 1\n\n{pages}\n```\n"


def between(text: str, start: str, end: str) -> str:
    """What stands between two marks, the line of the first left out."""
    return text.split(start, 1)[1].partition("\n")[2].split(end, 1)[0]


def write(page: Path, text: str) -> None:
    """Write a page that comes from elsewhere; its links to files that the site does not have become plain text."""

    def kept(link: re.Match[str]) -> str:
        return link[0] if (page.parent / link[2]).exists() else link[1]

    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(LINK.sub(kept, text), encoding="utf-8")


def draw() -> None:
    """Draw the pictures of the demonstration and of docs/figures into SOURCE."""
    demo.picture(SOURCE / "reject_region.png")
    for script in sorted((DOCS / "figures").glob("*.py")):
        runpy.run_path(str(script))["main"](SOURCE / "figures" / f"{script.stem}.svg")


def build(*builders: str) -> int:
    """Run Sphinx's builders, ``html`` into SITE and others beside it; the first exit code that is not 0."""
    from sphinx.cmd.build import main as sphinx

    for builder in builders:
        output = SITE if builder == "html" else SITE.with_name(f"site-{builder}")
        options = ["--fail-on-warning", "--keep-going", "--quiet", "-b", builder]
        options += ["-c", str(DOCS), "-d", str(DOCTREES)]
        if code := sphinx([*options, str(SOURCE), str(output)]):
            return code
    return 0


if __name__ == "__main__":
    build_gallery.build(build_gallery.EXAMPLES)
    gather()
    draw()
    code = build("html", "doctest")
    print(f"The site: {SITE.relative_to(ROOT) / 'index.html'}" if code == 0 else "The site has faults, named above.")
    sys.exit(code)
