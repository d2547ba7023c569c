"""What users' type checkers see: nothing after `fit` is Any and no misspelt name passes, by mypy and pyright."""

import ast
import importlib.util
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import abstain

SCRIPT = Path(__file__).parent / "typed_script.py"
# pyright's own wheel downloads it; that of basedpyright contains it
PYRIGHT = shutil.which("basedpyright", path=str(Path(sys.executable).parent)) or shutil.which("basedpyright")
ESTIMATORS = [getattr(abstain, name) for name in abstain.__all__ if hasattr(getattr(abstain, name), "fit")]
# what the docstrings do not list, or other estimators do
MORE = ("costs", "machine_", "rule_", "predict", "predict_proba", "decide", "decision_function", "score", "fit")
# of functions, with a value c of any type
CALLS = [
    "abstain.load('model')",
    "abstain.decide(c, c)",
    "abstain.compare(c, c, c)",
    "abstain.drift(c, c)",
    "abstain.explain(c, c)",
    "abstain.reject_svc_path(c, c)",
    "abstain.reject_price_sweep(c, c, c, c)",
    "abstain.__all__",
]
# pandas has no types of its own for mypy
FRAMES = [
    "abstain.decide(c, c).to_frame()",
    "abstain.compare(c, c, c).to_frame()",
    "abstain.drift(c, c).to_frame()",
    "abstain.explain(c, c).to_frame()",
    "abstain.metrics.RejectTable.of(c, c).to_frame()",
    "abstain.metrics.risk_coverage_curve(c, c).to_frame()",
]


def mypy(script, folder):
    pytest.importorskip("mypy")
    options = ["--strict", "--config-file=", f"--cache-dir={folder}"]
    return called(sys.executable, "-m", "mypy", *options, script)


def pyright(script, folder):
    if PYRIGHT is None:
        pytest.skip("basedpyright is not installed")
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard", "include": ["script.py"]}')
    if script != folder / "script.py":
        shutil.copy(script, folder / "script.py")
    return called(PYRIGHT, "--pythonpath", sys.executable, "--project", folder)


def called(*command):
    done = subprocess.run(  # noqa: S603 (a type checker on our own script)
        [*map(str, command)], capture_output=True, text=True, timeout=240, check=False
    )
    return done.returncode, done.stdout + done.stderr


BOTH = pytest.mark.parametrize("check", [mypy, pyright], ids=lambda check: check.__name__)


def wrong_lines(output):
    """Give the lines of the script with an error."""
    return {int(line) for line in re.findall(r"script\.py:(\d+)\S* (?:- )?error", output)}


def documented(kind):
    """Give the names of the fitted attributes that a docstring lists."""
    listed = inspect.getdoc(kind).partition("Attributes\n----------\n")[2].partition("\n\n")[0]
    lines = [line for line in listed.splitlines() if not line.startswith(" ")]
    return [name.strip() for line in lines for name in line.partition(" : ")[0].split(",")]


def attributes(kind):
    """Give all names of an estimator to look at: its own and its bases' fitted attributes, and what it does."""
    listed = {name for base in kind.__mro__ if base in ESTIMATORS for name in documented(base)}
    return sorted(listed | {name for name in MORE if hasattr(kind, name)})


def revealed(check, folder, parts):
    """Give what a checker says is the type of each expression, as in a function with an argument of each type."""
    lines, asked = ["from typing import Any", "import abstain"], {}
    for number, (kind, expressions) in enumerate(parts.items()):
        lines.append(f"def function{number}({'c: Any' if kind is None else f'it: abstain.{kind.__name__}'}) -> None:")
        for expression in expressions:
            lines.append(f"    reveal_type({expression})")
            asked[len(lines)] = expression if kind is None else expression.replace("it.", f"{kind.__name__}.")
    script = folder / "script.py"
    script.write_text("\n".join(lines))
    code, output = check(script, folder)
    assert code == 0, output
    types = re.findall(r"script\.py:(\d+).*?(?:Revealed type is|Type of \".*\" is) \"(.*)\"", output)
    found = {asked[int(line)]: kind for line, kind in types}
    assert found.keys() == {*asked.values()}
    return found


@pytest.mark.long
@BOTH
def test_a_users_script_has_types(check, tmp_path):
    code, output = check(SCRIPT, tmp_path)
    assert code == 0, output


@pytest.mark.long
@BOTH
def test_no_fitted_attribute_is_any(check, tmp_path):
    parts = {kind: [f"it.{name}" for name in attributes(kind)] for kind in ESTIMATORS}
    assert all(len(names) >= 8 for names in parts.values())
    typed_frames = check is pyright or importlib.util.find_spec("pandas-stubs")
    found = revealed(check, tmp_path, parts | {None: CALLS + (FRAMES if typed_frames else [])})
    assert [name for name, kind in found.items() if kind in ("Any", "Unknown", "object")] == []
    for name, kind in found.items():  # what a method returns
        assert not re.search(r"-> (Any|Unknown)$", kind), (name, kind)
    # control: what is Any is found
    assert revealed(check, tmp_path, {None: ["c", "c.attribute"]}) == {"c": "Any", "c.attribute": "Any"}


@pytest.mark.long
@BOTH
def test_what_is_misspelt_or_set_is_an_error(check, tmp_path):
    wrong = [
        (kind, f"it.{name}{end}")
        for kind in ESTIMATORS
        for name, end in [("fitt", ""), (f"{documented(kind)[0]}x", ""), ("n_features_in_", " = None")]
    ]
    lines = ["import abstain"]
    lines += [f"def function{at}(it: abstain.{kind.__name__}) -> None: {body}" for at, (kind, body) in enumerate(wrong)]
    script = tmp_path / "script.py"
    script.write_text("\n".join(lines))
    _, output = check(script, tmp_path)
    assert wrong_lines(output) == {*range(2, len(lines) + 1)}, output


@pytest.mark.long
@BOTH
def test_the_checkers_have_teeth(check, tmp_path):
    # control: every line of the script that states a type is checked
    lines, stated = SCRIPT.read_text(encoding="utf-8").splitlines(), set()
    for call in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "assert_type":
            stated.add(call.lineno)
            lines[call.lineno - 1] = f"assert_type({ast.unparse(call.args[0])}, bytes)"
    wrong = tmp_path / "script.py"
    wrong.write_text("\n".join(lines))
    _, output = check(wrong, tmp_path)
    assert wrong_lines(output) == stated
    assert len(stated) >= 45


@pytest.mark.filterwarnings("ignore")
def test_the_script_runs():
    exec(compile(SCRIPT.read_text(encoding="utf-8"), str(SCRIPT), "exec"), {"__name__": "script"})  # noqa: S102 (ours)


def test_the_stub_has_all_names():
    stub = (Path(abstain.__file__).parent / "__init__.pyi").read_text(encoding="utf-8")
    names = re.findall(r'^    "(\w+)",$', stub, re.MULTILINE)
    assert sorted(names) == sorted(abstain.__all__)
