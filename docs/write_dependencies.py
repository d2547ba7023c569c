"""Write the table of docs/dependencies.md from what is installed: ``python docs/write_dependencies.py``."""

from __future__ import annotations

import re
import sys
import tomllib
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "dependencies.md"
BETWEEN = re.compile(r"(<!-- dependencies -->\n).*?(<!-- end of dependencies -->)", re.DOTALL)
EXTRAS = ("cli", "dask", "excel", "onnx", "plot")
FOR = {
    "numpy": "arrays",
    "scipy": "sparse matrices, special functions, linear systems",
    "scikit-learn": "the interface; logistic regression, trees",
    "jinja2": "the page of a report",
    "polars": "reading CSV and Parquet, writing tables",
    "rich": "tables and progress in the terminal",
    "typer": "options and help of the commands",
    "dask": "rows in chunks, on threads or a cluster",
    "distributed": "the cluster",
    "fastexcel": "reading workbooks",
    "xlsxwriter": "writing workbooks",
    "onnx": "graphs of fitted models",
    "matplotlib": "pictures",
}


def name_of(requirement: str) -> str:
    """The name of a package in a requirement."""
    return re.split(r"[\[<>=;]", requirement)[0].strip().lower()


def size(name: str) -> float:
    """The installed size in MB, without compiled Python."""
    files = metadata.files(name) or []
    paths = [Path(str(one.locate())) for one in files if one.suffix != ".pyc"]
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


def table() -> str:
    """Return the table."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {"": project["dependencies"], **{name: project["optional-dependencies"][name] for name in EXTRAS}}
    lines = ["| extra | package | from | tried | MB | for |", "|---|---|---|---|---|---|"]
    for extra, requirements in groups.items():
        for one in requirements:
            name, bound = name_of(one), re.search(r">=([^,;]*)", one)
            if name not in FOR:
                sys.exit(f"write in docs/write_dependencies.py what {name} is for.")
            version, shown = metadata.version(name), f"`{extra}`" if extra else ""
            lowest = bound[1] if bound else ""
            lines.append(f"| {shown} | {name} | `{lowest}` | `{version}` | {size(name):.1f} | {FOR[name]} |")
    return "\n".join([f"Written by `docs/write_dependencies.py`, {datetime.now(UTC):%B %Y}:", "", *lines, ""])


def main() -> None:
    """Write the page."""
    text, found = PAGE.read_text(encoding="utf-8"), table()
    PAGE.write_text(BETWEEN.sub(lambda parts: f"{parts[1]}\n{found}\n{parts[2]}", text), encoding="utf-8")


if __name__ == "__main__":
    main()
