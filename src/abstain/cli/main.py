"""The command `abstain` and its sub-commands, each in its own file.

Only typer is imported here and at the top of those files, so that help and completion work without loading NumPy.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from abstain.cli.commands import compare, evaluate, export, fit, predict, reproduce
from abstain.cli.commands.options import FILE, Given, command_of, option
from abstain.cli.exit_codes import exit_on_error, own_process

# Plain help, because rich takes longer to load than everything else.
app = typer.Typer(
    name="abstain",
    help="Support vector machines that know when not to decide.",
    epilog="Exit codes: 0 success, 1 a bug in abstain, 2 usage, 3 bad data or model file, "
    "4 not converged (result written), 130 interrupted.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"abstain {version('abstain')}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
]


@app.callback()
def _abstain(version: Version = False) -> None:
    """Support vector machines that know when not to decide."""


@command_of(
    *("output", "splits", "csv", "force"),
    output=option(Path, "FOLDER", "For the output.", "--output", "-o", default=Path("demo")),
    splits=option(int, "N", "Number of random splits for the mean costs.", default=20, min=1),
    csv=option(FILE, "FILE", "Only write the biopsies as FILE and FILE with _new in its name."),
)
def _demo(given: Given) -> None:
    """Show on biopsies what a reject option saves, with a picture."""
    from abstain.cli.commands.demo import demo, write_tables

    if given.csv is not None:
        write_tables(given.csv, force=given.force)
    else:
        demo(given.output, given.splits)


app.command("demo")(_demo)
for _module in (fit, predict, evaluate, compare, export, reproduce):
    app.command(_module.__name__.rpartition(".")[2])(_module.command)


def start() -> None:
    """Run the command; an output that cannot be written is one sentence also for help and the version."""
    with own_process(), exit_on_error():
        try:
            app(prog_name="abstain")
        except SystemExit:
            sys.stdout.flush()
            raise


if __name__ == "__main__":
    start()
