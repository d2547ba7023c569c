"""The command as a whole: what help loads, what it says, and where it comes from."""

import os
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

import abstain
from abstain.cli import entry_point
from abstain.cli.commands import demo as reproduce
from abstain.cli.exit_codes import UsageError
from abstain.cli.options import HEADINGS, OPTIONS, SECTIONS
from cli.running import run

COMMANDS = ["audit", "check", "compare", "demo", "drift", "evaluate", "export", "fit", "predict", "reproduce"]
HEAVY = {"numpy", "scipy", "sklearn", "polars", "rich", "matplotlib", "jinja2", "pandas", "onnx"}


@pytest.mark.parametrize("arguments", [["--help"], ["fit", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(arguments):
    code = (
        "import sys\nfrom abstain.cli.entry_point import main\n"
        f"sys.argv = ['abstain', *{arguments}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "print('LOADED', *sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    loaded = set(ended.stdout.partition("LOADED")[2].split())
    assert "typer" in loaded
    assert HEAVY.isdisjoint(loaded)


def test_the_package_is_a_command():
    arguments = [sys.executable, "-m", "abstain", "--version"]
    ended = subprocess.run(arguments, capture_output=True, text=True, check=True)  # noqa: S603
    assert ended.stdout == run("--version").stdout


def test_every_command_is_listed_and_has_help():
    printed = run("--help").stdout
    listed = printed[printed.index("Commands:") :].split()
    assert [name for name in COMMANDS if name in listed] == COMMANDS
    for name in COMMANDS:
        result = run(name, "--help")
        assert result.exit_code == 0
        assert len(result.stdout) > 100


ESSENTIAL = ["--target", "--output", "--pos-label", "--false-positive", "--false-negative", "--reject"]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_the_headings_of_the_table_and_fits_80_columns(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = run(name, "--help").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    headings = [line[:-1] for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert headings == [heading for heading in SECTIONS if heading in headings]
    parts = [line.split()[:3] for line in lines[lines.index(f"{headings[0]}:") :] if line.startswith("  -")]
    shown = [word.strip(",") for words in parts for word in words if word.startswith("--")]
    assert len(shown) == len({*shown}) > 0
    if name in ("fit", "compare"):
        assert shown[:6] == ESSENTIAL
        assert lines.index("Options:") < lines.index("Costs:") < lines.index("Table:") < lines.index("Output:")


def test_every_option_has_one_heading():
    assert sum(map(len, SECTIONS.values())) == len(OPTIONS) == len(HEADINGS)


def test_the_version_is_the_packages():
    assert run("--version").stdout == f"abstain {abstain.__version__}\n"


def test_nothing_given_is_help():
    assert "Usage: abstain" in run().output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete(shell):
    code = "from abstain.cli.entry_point import main; main()"
    environment = {**os.environ, "_ABSTAIN_COMPLETE": f"source_{shell}"}
    ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    assert "abstain" in ended.stdout


def test_the_script_says_what_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(entry_point, "find_spec", lambda _: None)
    with pytest.raises(SystemExit) as ended:
        entry_point.main()
    assert ended.value.code == 2
    assert "pip install 'abstain[cli]'" in capsys.readouterr().err


def test_the_installed_command_is_this_one():
    (point,) = entry_points(group="console_scripts", name="abstain")
    assert point.load() is entry_point.main


def test_reproduce_needs_a_checkout(tmp_path):
    with pytest.raises(UsageError, match="needs a checkout of the repository"):
        reproduce.experiments(tmp_path)


def test_reproduce_lists_and_runs_what_it_finds(tmp_path, monkeypatch):
    (tmp_path / "src" / "abstain").mkdir(parents=True)
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path / "src")
    assert "This checkout has no experiments yet" in run("reproduce").stdout
    for name, code in (("table1", 0), ("table2", 7)):
        folder = tmp_path / "experiments" / name
        folder.mkdir(parents=True)
        (folder / "run.py").write_text(f"open('done', 'w').close(); raise SystemExit({code})", encoding="utf-8")
    assert run("reproduce").stdout.split() == ["table1", "table2"]
    assert run("reproduce", "table1").exit_code == 0
    assert (tmp_path / "experiments" / "table1" / "done").exists()
    assert run("reproduce", "table2").exit_code == 7
    result = run("reproduce", "table3")
    assert result.exit_code == 2
    assert "this checkout does not have the experiment 'table3'; it has: table1, table2" in result.stderr
