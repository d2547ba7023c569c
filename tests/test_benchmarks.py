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


def test_a_trial_of_the_comparison_has_its_table_and_its_aims(written, results):
    script = [sys.executable, str(FOLDER / "comparison.py"), "--trial"]
    done = subprocess.run(script, capture_output=True, timeout=300, check=True)  # noqa: S603 (our own script)
    measured = json.loads(done.stdout)
    assert [one["name"] for one in measured["times"]] == ["abstain compare", "scikit-learn"]
    assert all(0 < one[what] < 300 for one in measured["times"] for what in ("cpu", "clock"))
    measured["times"][0] |= {"cpu": 7.94, "clock": 8.06}
    page = written(results | {"comparison": measured})
    assert "| abstain compare | 7.9 | 8.1 |" in page
    aim = "| `abstain compare` of the README, 284 rows, seconds"
    assert f"{aim} of CPU | 8 or less | 7.94 | met |" in page
    assert f"{aim} on the clock | 8 or less | 8.06 | **missed** |" in page


@pytest.mark.parametrize(("rows", "name", "aim"), [(3000, "generated 3,000 x 10", 12), (768, "Pima", 20)])
def test_a_search_has_the_aim_of_its_table(written, results, rows, name, aim):
    measured = results["model_selection"]["sets"][0] | {"set": name, "rows": rows}
    results["model_selection"]["sets"] = [measured]
    words = f"| search on {name} ({rows:,} rows), hinge, times as fast as `GridSearchCV(SVC())` | {aim} or more |"
    assert words in written(results)
