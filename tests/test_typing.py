"""What users' type checkers see: nothing after `fit` is Any, under mypy and pyright."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "typed_script.py"
# pyright's own wheel downloads it; that of basedpyright contains it
PYRIGHT = shutil.which("basedpyright", path=str(Path(sys.executable).parent)) or shutil.which("basedpyright")


def mypy(script, tmp_path):
    pytest.importorskip("mypy")
    options = ["--strict", "--config-file=", f"--cache-dir={tmp_path}"]
    return called(sys.executable, "-m", "mypy", *options, script)


def pyright(script, tmp_path):
    if PYRIGHT is None:
        pytest.skip("basedpyright is not installed")
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard", "include": ["script.py"]}')
    shutil.copy(script, tmp_path / "script.py")
    return called(PYRIGHT, "--pythonpath", sys.executable, "--project", tmp_path)


def called(*command):
    done = subprocess.run(  # noqa: S603 (a type checker on our own script)
        [*map(str, command)], capture_output=True, text=True, timeout=240, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.parametrize("check", [mypy, pyright], ids=lambda check: check.__name__)
def test_a_users_script_has_types(check, tmp_path):
    code, output = check(SCRIPT, tmp_path)
    assert code == 0, output


@pytest.mark.long
@pytest.mark.parametrize("check", [mypy, pyright], ids=lambda check: check.__name__)
def test_the_checkers_have_teeth(check, tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(SCRIPT.read_text(encoding="utf-8").replace("machine.status_, str", "machine.status_, int"))
    code, output = check(wrong, tmp_path)
    assert code == 1
    assert len(re.findall(r"\berror\b.*(?:assert|Expression)", output)) == 1, output


@pytest.mark.filterwarnings("ignore")
def test_the_script_runs():
    exec(compile(SCRIPT.read_text(encoding="utf-8"), str(SCRIPT), "exec"), {"__name__": "script"})  # noqa: S102 (ours)
