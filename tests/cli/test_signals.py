"""Signals, closed pipes and full disks in processes of their own."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.running import run


def wait_for_the_search(process):
    """Two processor seconds after the C++ core is loaded the imports are over, however busy the machine."""
    folder, loaded_at = Path(f"/proc/{process.pid}"), None
    while process.poll() is None:
        user, system = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
        spent = (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
        if loaded_at is None and "/abstain/_native" in (folder / "maps").read_text(encoding="utf-8"):
            loaded_at = spent
        if loaded_at is not None and spent > loaded_at + 2:
            return
        time.sleep(0.05)


@pytest.mark.long
def test_ctrl_c_in_a_real_process(tmp_path):
    data = tmp_path / "data.csv"
    with data.open("w", encoding="utf-8") as file:
        file.write("x,z,answer\n")
        file.writelines(f"{at % 977},{at % 1009},{'ab'[at * 7919 % 13 % 2]}\n" for at in range(20_000))
    # where the tests run in the background, SIGINT is ignored, and a new process inherits that
    start = "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    start += "runpy.run_module('abstain.cli.main', run_name='__main__', alter_sys=True)"
    command = [sys.executable, "-c", start, "fit", str(data), "--target", "answer", "--reject", "0.3"]
    command += ["--machine", "svm"]
    process = subprocess.Popen(  # noqa: S603 (our own command)
        [*command, "-o", str(tmp_path / "model")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_for_the_search(process)  # which takes far longer with 20,000 rows
    process.send_signal(signal.SIGINT)
    printed, errors = process.communicate(timeout=60)
    assert process.returncode == 130, (printed, errors)
    assert errors == "abstain: interrupted; no file was written\n"
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


# One program, which is loaded once, has a child for each signal and moment; what a child prints is in a file of its own
AT_THE_END = """
import atexit, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from abstain.cli import main
import abstain.cli.commands.predict

folder, app = sys.argv.pop(1), main.app
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    for later in (True, False):
        child = os.fork()
        if child == 0:
            for stream, name in ((1, "out"), (2, "err")):
                os.dup2(os.open(f"{folder}/{number.name} {later} {name}", os.O_CREAT | os.O_WRONLY), stream)

            def now():
                os.kill(os.getpid(), number)

            def then_now(**given):
                try:
                    app(**given)
                finally:
                    now()

            if later:
                atexit.register(now)
            else:
                main.app = then_now
            main.start()
            raise SystemExit
        print(number.name, later, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.long
def test_a_signal_after_the_output_is_complete_changes_nothing(table, model, tmp_path):
    plain = run("predict", model, table)
    assert plain.exit_code == 0
    line = [sys.executable, "-c", AT_THE_END, str(tmp_path), "predict", str(model), str(table)]
    ended = subprocess.run(line, capture_output=True, text=True, check=True, timeout=120)  # noqa: S603
    cases = [line.split() for line in ended.stdout.splitlines()]
    assert len(cases) == 6
    for name, later, code in cases:
        out, err = ((tmp_path / f"{name} {later} {end}").read_text(encoding="utf-8") for end in ("out", "err"))
        assert (int(code), out, err) == (0, plain.stdout, plain.stderr), (name, later)


def test_ctrl_c_while_the_program_is_loaded_is_130(tmp_path):
    (tmp_path / "typer.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n", encoding="utf-8")
    script = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    script += f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from abstain.cli.entry_point import main; main()"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)  # noqa: S603
    assert (ended.returncode, ended.stderr) == (130, "abstain: interrupted; no file was written\n")


@pytest.mark.long
def test_a_reader_that_closes_the_pipe_early_is_not_an_error(table, model):
    # rows may come from a pipe, too
    line = f"cat {table} | {sys.executable} -m abstain.cli.main predict {model} /dev/stdin | head -n 1"
    ended = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=True)  # noqa: S603
    assert ended.stdout.startswith("age,city,answer,label")
    assert ended.stderr == ""


@pytest.mark.parametrize(
    ("command", "sent", "text"),
    [
        ("predict {model} {table}", "> /dev/full", "standard output cannot be written (No space left on device)"),
        ("--version", "> /dev/full", "standard output cannot be written"),
        pytest.param(
            *("predict {model} {table}", ">&-", "standard output is closed; send it to a file"), marks=pytest.mark.long
        ),
    ],
)
def test_an_output_that_cannot_be_written_is_2(table, model, command, sent, text):
    line = f"{sys.executable} -m abstain.cli.main {command.format(model=model, table=table)} {sent}"
    ended = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=False)  # noqa: S603
    assert ended.returncode == 2, ended.stderr
    (sentence,) = ended.stderr.splitlines()
    assert text in sentence
