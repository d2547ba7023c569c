"""Every experiment runs, small, and its page says what its results say."""

import json
import os
import runpy
import shutil
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2] / "experiments"
NAMES = sorted(script.parent.name for script in ROOT.glob("*/run.py"))
JUDGEMENT = "judging-sets"
# named in the issue of the reproductions: none may go missing
PUBLISHED = {
    "fr02-letter",
    "grkc08-table1",
    "grkc08-asymmetric",
    "a14-rates",
    "a14-tradeoff",
    "a14-regions",
    "a14-ecg",
    "consistency",
}


# warnings are shown, as they are to a reader who runs the scripts, and are not errors
pytestmark = pytest.mark.filterwarnings("default")
needs_data = pytest.mark.skipif("ABSTAIN_DATA" not in os.environ, reason="ABSTAIN_DATA names no folder with the data")


class Inline:
    """In place of a pool of processes: the tasks run here, one after the other."""

    def __init__(self, workers, mp_context):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def submit(self, work, task):
        future = Future()
        future.set_result(work(task))
        return future


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a script in this process, which has the libraries loaded already: its exit code and what it printed."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # an experiment sets them too; this puts them back

    def ran(script, *arguments):
        before = list(sys.path)
        monkeypatch.setattr(sys, "argv", [str(script), *arguments])
        sys.path[:0] = [str(script.parent), str(script.parents[1])]
        own = {path.stem for path in script.parent.glob("*.py")}
        others = _taken(own)
        try:
            from harness import tasks

            monkeypatch.setattr(tasks, "ProcessPoolExecutor", Inline)
            runpy.run_path(str(script), run_name="__main__")
            code = 0
        except SystemExit as ended:
            code = ended.code
        finally:
            _taken(own)
            sys.modules.update(others)
            sys.path[:] = before
        words = capsys.readouterr().err + (code if isinstance(code, str) else "")
        return SimpleNamespace(returncode=code if isinstance(code, int) else 1, stderr=words)

    return ran


def _taken(own):
    """Take the modules of the harness and of the experiments, which share names, out of those that are loaded."""
    names = [name for name in sys.modules if name in own or name.split(".")[0] == "harness"]
    return {name: sys.modules.pop(name) for name in names}


def run_alone(script, *arguments):
    """The script in a process of its own, as a reader runs it."""
    return subprocess.run(  # noqa: S603 (our own interpreter and scripts)
        [sys.executable, str(script), *arguments], capture_output=True, text=True, timeout=280, check=False
    )


def test_every_published_table_and_figure_has_its_folder():
    assert set(NAMES) >= PUBLISHED


@needs_data
@pytest.mark.parametrize("name", NAMES)
def test_a_small_run_ends_with_results_page_and_pictures(name, tmp_path, run):
    if name in ("promises", "several-classes"):
        pytest.importorskip("mapie", reason="its conformal sets need MAPIE: pip install 'abstain[bench]'")
    done = run(ROOT / name / "run.py", "--fast", "--workers", "1", "--output", str(tmp_path))
    assert done.returncode == 0, done.stderr
    (found,) = tmp_path.glob("results*.json")
    results = json.loads(found.read_text(encoding="utf-8"))
    assert results["fast"] is True
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert page.startswith("# ")
    pictures = [word.rpartition("(")[2] for word in page.split(")") if "![" in word]
    assert all((tmp_path / picture).stat().st_size > 0 for picture in pictures)


@needs_data
def test_what_is_done_is_not_done_again_unless_asked(tmp_path, run):
    small = [ROOT / "fr02-rbf" / "run.py", "--fast", "--workers", "1", "--output", str(tmp_path)]
    first, second, third = run_alone(*small), run(*small), run(*small, "--fresh")
    assert [done.returncode for done in (first, second, third)] == [0, 0, 0]
    assert "from an earlier run" not in first.stderr
    assert "1 tasks (1 from an earlier run)" in second.stderr
    assert "from an earlier run" not in third.stderr


@pytest.mark.parametrize("name", NAMES)
def test_the_page_is_what_the_results_give(name, run):
    if name == JUDGEMENT and not (ROOT / name / "results.json").exists():
        pytest.skip("the judgement is run once, on the code of a release, and has not been run yet")
    done = run(ROOT / name / "run.py", "--check")
    assert done.returncode == 0, done.stderr


def test_control_a_number_changed_by_hand_is_found(tmp_path, run):
    folder = tmp_path / "fr02-rbf"
    shutil.copytree(ROOT / "fr02-rbf", folder, ignore=shutil.ignore_patterns(".done", "__pycache__"))
    shutil.copytree(ROOT / "harness", tmp_path / "harness", ignore=shutil.ignore_patterns("__pycache__"))
    assert run(folder / "run.py", "--check").returncode == 0
    page = (folder / "README.md").read_text(encoding="utf-8")
    (folder / "README.md").write_text(page.replace("0.0", "0.1", 1), encoding="utf-8")
    changed = run(folder / "run.py", "--check")
    assert changed.returncode == 1
    assert "README.md does not match results.json" in changed.stderr


def test_a_small_run_may_not_replace_the_results(run):
    done = run(ROOT / "fr02-rbf" / "run.py", "--fast")
    assert done.returncode != 0
    assert "a --fast run is too small" in done.stderr


def test_a_part_of_the_tasks_is_run_alone_and_gives_no_results(tmp_path, run):
    part = run(ROOT / "fr02-rbf" / "run.py", "--fast", "--only", "none of them", "--output", str(tmp_path))
    assert part.returncode == 0
    assert "0 tasks" in part.stderr
    assert not (tmp_path / "results.json").exists()
