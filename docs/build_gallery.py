"""Run every example and write docs/gallery.md with its picture, text and code: ``make docs``."""

from __future__ import annotations

import ast
import contextlib
import io
import runpy
import sys
from pathlib import Path
from unittest import mock

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt
from PIL import Image  # matplotlib brings it

DOCS = Path(__file__).resolve().parent
EXAMPLES = sorted((DOCS.parent / "examples").glob("plot_*.py"))
LARGEST = 120_000  # bytes per picture, since the repository keeps every version


def run(example: Path) -> str:
    """Run an example as a script, leave its figures open, and return what it printed."""
    printed = io.StringIO()
    with mock.patch.object(plt, "show"), contextlib.redirect_stdout(printed):
        runpy.run_path(str(example), run_name="__main__")
    return printed.getvalue()


def save(picture: Path) -> None:
    """Write the current figure in 96 colours: a third of the bytes, with no visible difference."""
    drawn = io.BytesIO()
    plt.savefig(drawn, dpi=100)
    Image.open(drawn).convert("RGB").quantize(96, dither=Image.Dither.NONE).save(picture, optimize=True)


def page(example: Path, printed: str) -> str:
    """A section of the gallery: title, text, picture, output, code."""
    source = example.read_text(encoding="utf-8")
    words = ast.get_docstring(ast.parse(source)) or ""
    title, _, text = words.partition("\n")
    code = source.split('"""', 2)[2].strip()
    name = example.stem.removeprefix("plot_")
    output = f"```text\n{printed.rstrip()}\n```\n\n" if printed else ""
    return (
        f"## {title.rstrip('.')}\n\n![{title}](gallery/{name}.png)\n\n{text.strip()}\n\n{output}"
        f"<details><summary><code>examples/{example.name}</code></summary>\n\n```python\n{code}\n```\n\n</details>\n"
    )


def build(examples: list[Path]) -> None:
    """Draw all pictures, then write the page."""
    (DOCS / "gallery").mkdir(exist_ok=True)
    sections = []
    for example in examples:
        printed = run(example)
        picture = DOCS / "gallery" / f"{example.stem.removeprefix('plot_')}.png"
        save(picture)
        plt.close("all")
        if picture.stat().st_size > LARGEST:
            sys.exit(f"{picture.name} has {picture.stat().st_size:,} bytes, more than {LARGEST:,}; draw it smaller.")
        sections.append(page(example, printed))
        print(f"{picture.relative_to(DOCS.parent)}: {picture.stat().st_size:,} bytes")
    head = "# Gallery\n\nEach picture is drawn by the script below it; `make docs` redraws them.\n\n"
    (DOCS / "gallery.md").write_text(head + "\n".join(sections), encoding="utf-8")


if __name__ == "__main__":
    build(EXAMPLES)
