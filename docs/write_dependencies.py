"""Write the tables of docs/dependencies.md from what is installed: ``python docs/write_dependencies.py``.

The dates of the last releases are those of the package index that pip has by default, which must be reachable.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from urllib.request import Request, urlopen

from packaging.requirements import Requirement
from pip._internal.models.index import PyPI

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


def closure(requirements: Iterable[str]) -> set[str]:
    """The names of the packages that these requirements install, those that they need included."""
    left, found = [Requirement(one) for one in requirements], set()
    while left:
        one = left.pop()
        plain = re.sub(r"[-_.]+", "-", one.name).lower()
        if {(plain, extra) for extra in ("", *one.extras)} <= found:
            continue
        found |= {(plain, extra) for extra in ("", *one.extras)}
        needed = map(Requirement, metadata.requires(plain) or ())
        asked = [{"extra": extra} for extra in ("", *one.extras)]
        left += [each for each in needed if each.marker is None or any(map(each.marker.evaluate, asked))]
    return {name for name, _ in found}


def last_release(name: str) -> str:
    """The month of the newest file that the package index has."""
    headers = {"Accept": "application/vnd.pypi.simple.v1+json, text/html;q=0.1"}
    asked = Request(f"{PyPI.simple_url}/{name}/", headers=headers)  # noqa: S310 (pip's own address)
    with urlopen(asked, timeout=60) as answer:  # noqa: S310 (pip's own address)
        days = re.findall(r"upload-time\"?[=:] ?\"(\d{4}-\d\d)", answer.read().decode())
    return max(days)


def sizes(groups: dict[str, list[str]]) -> str:
    """Return the table of what each extra adds."""
    core = closure(groups[""])
    lines = ["| installed | packages | MB |", "|---|---|---|"]
    rows = {"core": core} | {f"`{extra}`, beyond the core": closure(groups[extra]) - core for extra in EXTRAS}
    rows["core and `all`"] = closure(one for group in groups.values() for one in group)
    lines += [f"| {label} | {len(names)} | {sum(map(size, names)):.0f} |" for label, names in rows.items()]
    return "\n".join([*lines, ""])


def table() -> str:
    """Return both tables."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {"": project["dependencies"], **{name: project["optional-dependencies"][name] for name in EXTRAS}}
    lines = ["| extra | package | from | tried | last release | MB | for |", "|---|---|---|---|---|---|---|"]
    for extra, requirements in groups.items():
        for one in requirements:
            name, bound = name_of(one), re.search(r">=([^,;]*)", one)
            if name not in FOR:
                sys.exit(f"write in docs/write_dependencies.py what {name} is for.")
            version, shown = metadata.version(name), f"`{extra}`" if extra else ""
            lowest = bound[1] if bound else ""
            tried = f"`{lowest}` | `{version}` | {last_release(name)}"
            lines.append(f"| {shown} | {name} | {tried} | {size(name):.1f} | {FOR[name]} |")
    head = f"Written by `docs/write_dependencies.py`, {datetime.now(UTC):%B %Y}:"
    total = "With all packages that these need (an extra's number has what it shares with others):"
    return "\n".join([head, "", *lines, "", total, "", sizes(groups)])


def main() -> None:
    """Write the page."""
    text, found = PAGE.read_text(encoding="utf-8"), table()
    PAGE.write_text(BETWEEN.sub(lambda parts: f"{parts[1]}\n{found}\n{parts[2]}", text), encoding="utf-8")


if __name__ == "__main__":
    main()
