"""The tables of benchmarks/README.md are those of benchmarks/results.json."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
WRITTEN = """
import json, sys
from pathlib import Path
import report
folder, readme = map(Path, sys.argv[1:])
report.write(json.loads((folder / "results.json").read_text(encoding="utf-8")), readme)
"""


@pytest.fixture
def written(tmp_path):
    """README.md as report.py writes it anew, from results given as a dictionary."""

    def write(results):
        (tmp_path / "results.json").write_text(json.dumps(results), encoding="utf-8")
        readme = tmp_path / "README.md"
        readme.write_text((FOLDER / "README.md").read_text(encoding="utf-8"), encoding="utf-8")
        script = [sys.executable, "-c", WRITTEN, str(tmp_path), str(readme)]
        subprocess.run(script, cwd=FOLDER, timeout=60, check=True)  # noqa: S603 (our own interpreter and script)
        return readme.read_text(encoding="utf-8")

    return write


@pytest.fixture
def results():
    return json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))


def test_the_tables_are_those_of_the_results(written, results):
    assert written(results) == (FOLDER / "README.md").read_text(encoding="utf-8")


def test_control_another_time_gives_another_table(written, results):
    results["path"]["worst_ratio"] = 20.5
    page = written(results)
    assert page != (FOLDER / "README.md").read_text(encoding="utf-8")
    assert "| the whole path in C, in exact fits, worst case | 20 or less | 20.5 | **missed** |" in page
