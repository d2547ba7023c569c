"""The README's example is run, and its output is what the README says; its links lead somewhere."""

import contextlib
import io
import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


@pytest.fixture(scope="module")
def text():
    return README.read_text(encoding="utf-8")


def test_the_example_prints_what_the_readme_shows(text):
    example, output = re.search(r"```python\n(.*?)```\n+```text\n(.*?)```", text, re.DOTALL).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example, str(README), "exec"), {})  # noqa: S102 - our own text, and the point of the test
    assert printed.getvalue() == output


def test_links_lead_to_files_that_are_there(text):
    targets = re.findall(r"\]\(([^)#]+)\)", text)
    assert len(targets) >= 5
    assert [target for target in targets if "://" not in target and not (README.parent / target).exists()] == []


def test_it_stays_short(text):
    assert len(text.splitlines()) < 120
