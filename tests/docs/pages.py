"""The pages of the site as text, and what they are made of: prose, examples, links, references to numbers."""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WRITTEN = {"gallery.md"}  # by docs/build_gallery.py, from the examples; tests/test_examples.py compares


def module(name: str, path: Path):
    """Import a file that is not part of a package."""
    spec = importlib.util.spec_from_file_location(name, path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


write_numbers = module("write_numbers", DOCS / "write_numbers.py")


@dataclass(frozen=True)
class Page:
    """A page written by hand."""

    path: Path

    def __str__(self) -> str:
        return self.path.name

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    def numbers(self) -> list[str]:
        """The references to measured numbers."""
        return [reference for _, reference in write_numbers.NUMBER.findall(self.text)]

    def examples(self) -> str:
        """What stands in its blocks of Python sessions."""
        return "\n".join(re.findall(r"^```pycon\n(.*?)^```", self.text, re.DOTALL | re.MULTILINE))


PAGES = [Page(path) for path in sorted(DOCS.glob("*.md")) if path.name not in WRITTEN]


def prose(text: str) -> str:
    """What a reader reads as words: no code, formulas, references, links' targets, addresses or bibliography."""
    text = write_numbers.NUMBER.sub(" ", text.split("\n## Sources\n", maxsplit=1)[0])
    for gone in (
        r"<!-- (?:checks[\w ]*) -->.*?<!-- end of (?:checks[\w ]*) -->",  # written by docs/write_checks.py
        r"<!-- libraries -->.*?<!-- end of libraries -->",  # by docs/write_ecosystem.py
        r"<!-- dependencies -->.*?<!-- end of dependencies -->",  # by docs/write_dependencies.py
        r"<!-- release -->.*?<!-- end of release -->",  # and by .github/check_release.py
        r"<!--.*?-->",
        r"^(```+|:::+).*?^\1",  # blocks, and directives with what they hold
        r"^    .*$",  # indented blocks
        r"^\[[^\]]+\]: .*$",  # sources at the foot of a page
        r"^\(.*\)=$",  # labels
        r"\{\w+\}`[^`]*`",  # roles
        r"`[^`]*`",  # code
        r"\$\$.*?\$\$",
        r"\$[^$]*\$",  # formulas
        r"\]\([^)]*\)",  # where links lead
    ):
        text = re.sub(gone, " ", text, flags=re.DOTALL | re.MULTILINE if "?" in gone else re.MULTILINE)
    return text


# A number that looks measured: a decimal, a percentage, two digits or more, or any number with a unit or of a count.
# Not numbers in words ("three sets"), names with a digit in them (float64, FR02), years, equations of a paper, "(21)",
# or what follows figure, table, section.
_PLACES = re.compile(
    r"\(\d+\)|(?:figures?|tables?|sections?)\s\d+(?:\.\d+)*(?:(?:,|\sand|\sto)\s\d+(?:\.\d+)*)*", re.IGNORECASE
)
MEASURED = re.compile(
    r"""(?<![\w.,/+-])
    (?:
        \d[\d,]*\.\d+ | \d[\d,]*(?=\s?%) | (?!(?:19|20)\d\d(?!\d))\d[\d,]*\d
        | \d(?=\s(?:times|of\s\d|to\s\d|out\sof|rows?|pairs?|points?)\b)
        | \d(?=\s(?:s|ms|µs|ns|seconds?|minutes?|hours?|[kMG]B|[MG]iB)\b)
    )
    (?![\w-])""",
    re.VERBOSE,
)


def measured_literals(text: str) -> list[str]:
    """The numbers in the prose of a page that look measured, with a few words around them."""
    words = re.sub(r"\s+", " ", _PLACES.sub(" ", prose(text)))
    return [words[max(0, found.start() - 30) : found.end() + 20] for found in MEASURED.finditer(words)]
