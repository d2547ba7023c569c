"""Every experiment runs, small, and its page says what its results say."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "experiments"
NAMES = sorted(script.parent.name for script in ROOT.glob("*/run.py"))
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


def run(script, *arguments):
    return subprocess.run(  # noqa: S603 (our own interpreter and scripts)
        [sys.executable, str(script), *arguments], capture_output=True, text=True, timeout=280, check=False
    )


def test_every_published_table_and_figure_has_its_folder():
    assert set(NAMES) >= PUBLISHED


@pytest.mark.skipif("ABSTAIN_DATA" not in os.environ, reason="ABSTAIN_DATA names no folder with the data")
@pytest.mark.parametrize("name", NAMES)
def test_a_small_run_ends_with_results_page_and_pictures(name, tmp_path):
    done = run(ROOT / name / "run.py", "--fast", "--workers", "1", "--output", str(tmp_path))
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert results["fast"] is True
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert page.startswith("# ")
    pictures = [word.rpartition("(")[2] for word in page.split(")") if "![" in word]
    assert all((tmp_path / picture).stat().st_size > 0 for picture in pictures)


@pytest.mark.skipif("ABSTAIN_DATA" not in os.environ, reason="ABSTAIN_DATA names no folder with the data")
def test_what_is_done_is_not_done_again_unless_asked(tmp_path):
    small = [ROOT / "fr02-rbf" / "run.py", "--fast", "--workers", "1", "--output", str(tmp_path)]
    first, second, third = run(*small), run(*small), run(*small, "--fresh")
    assert "from an earlier run" not in first.stderr
    assert "1 tasks (1 from an earlier run)" in second.stderr
    assert "from an earlier run" not in third.stderr


@pytest.mark.parametrize("name", NAMES)
def test_the_page_is_what_the_results_give(name):
    done = run(ROOT / name / "run.py", "--check")
    assert done.returncode == 0, done.stderr


def test_control_a_number_changed_by_hand_is_found(tmp_path):
    folder = tmp_path / "fr02-rbf"
    shutil.copytree(ROOT / "fr02-rbf", folder, ignore=shutil.ignore_patterns(".done", "__pycache__"))
    shutil.copytree(ROOT / "harness", tmp_path / "harness", ignore=shutil.ignore_patterns("__pycache__"))
    assert run(folder / "run.py", "--check").returncode == 0
    page = (folder / "README.md").read_text(encoding="utf-8")
    (folder / "README.md").write_text(page.replace("0.0", "0.1", 1), encoding="utf-8")
    changed = run(folder / "run.py", "--check")
    assert changed.returncode == 1
    assert "README.md does not match results.json" in changed.stderr


def test_a_small_run_may_not_replace_the_results():
    done = run(ROOT / "fr02-rbf" / "run.py", "--fast")
    assert done.returncode != 0
    assert "a --fast run is too small" in done.stderr
