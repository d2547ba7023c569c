"""How the tests run commands: in this process, on files in a folder of their own."""

from functools import cache

import numpy as np
import typer.testing

from abstain import load
from abstain.cli.input.costs import stated_costs
from abstain.cli.main import app
from abstain.cli.options import Given
from abstain.estimators.unwrap import unguarded

typer.testing._get_command = cache(typer.testing._get_command)  # else all options are made anew in every run


def run(*arguments):
    return typer.testing.CliRunner().invoke(app, [str(argument) for argument in arguments])


def stated(false_positive, false_negative, reject, matrix, classes, *, pos_label=None, decimal="."):
    """The costs that these options state."""
    errors = {"false_positive": false_positive, "false_negative": false_negative}
    return stated_costs(
        Given(**errors, reject=reject, cost_matrix=matrix, pos_label=pos_label, decimal=decimal), classes
    )


def pipeline_of(path):
    """The Pipeline in a model file, without the guard around it."""
    return unguarded(load(path))


def heard(result):
    """The lines on stderr, without the one that a small table is too small for a guard."""
    return [line for line in result.stderr.splitlines() if "too few to reject rows unlike them" not in line]


def said(result):
    """The one sentence on stderr, besides that one."""
    (line,) = heard(result)
    return line


def write_table(path, rows=80, seed=0, labels=("no", "yes")):
    """A table with a number, a category and missing cells of both, whose classes overlap."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % 2
    age = np.round(30 + 20 * y + rng.normal(0, 8, rows), 2)
    city = np.where(rng.random(rows) < 0.2 + 0.6 * y, "Ulm", "Bonn")
    lines = ["age,city,answer"]
    for at in range(rows):
        shown_age = "" if at % 17 == 3 else f"{age[at]}"
        shown_city = "" if at % 19 == 5 else city[at]
        lines.append(f"{shown_age},{shown_city},{labels[y[at]]}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


FIT = ("--target", "answer", "--pos-label", "yes", "--false-negative", 5, "--reject", 0.3, "--C", 10, "--gamma", 0.5)
EVEN = ("--target", "answer", "--reject", 0.3, "--C", 10, "--gamma", 0.5)  # equal costs: no class is positive
