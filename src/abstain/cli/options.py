"""All arguments and options of the commands in one table, and their values in a run."""

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

import typer

if TYPE_CHECKING:
    from abstain.cli.tables.notation import Notation


Option = tuple[Any, Any, Any]  # its type, its default, and how typer declares it

FLOAT, INT, TEXT, TEXTS, FILE = float | None, int | None, str | None, list[str] | None, Path | None
NOTATION = ("encoding", "decimal", "thousands", "dates", "missing_value")
LIMITS = "Limits on rejects and errors"
ROWS = "Rows: a CSV (also .csv.gz), Parquet or Excel file"


class Given(SimpleNamespace):
    """The values of a command's options by name, and `unfinished`, what warnings said of fits that did not finish."""

    def __getattr__(self, name: str) -> Any:
        """The default of an option that the command does not have."""
        if name not in OPTIONS:
            raise AttributeError(name)
        return OPTIONS[name][1]

    def but(self, **changes: Any) -> Self:
        """Return the same with other values."""
        return type(self)(**vars(self) | changes)

    def stated(self, *names: str) -> dict[str, Any]:
        """Return those of these options that were given, as users write them, with their values."""
        found = {option_name(name): getattr(self, name) for name in names}
        return {name: value for name, value in found.items() if value not in (None, []) and value is not False}

    @property
    def notation(self) -> "Notation":
        """How the table is written."""
        from abstain.cli.tables.notation import Notation

        return Notation.of(*(getattr(self, name) for name in NOTATION))


def option(kind: Any, metavar: str | None, text: str, *names: str, default: Any = None, **checks: Any) -> Option:
    """Declare an option; its name is that of the parameter unless `names` are given, and `...` makes it required."""
    return kind, default, typer.Option(*names, metavar=metavar, help=text, **checks)


def argument(kind: Any, metavar: str, text: str) -> Option:
    """Declare an argument that is an existing file, or several."""
    return kind, ..., typer.Argument(metavar=metavar, exists=True, dir_okay=False, help=text)


def _flag(name: str, text: str) -> Option:
    return option(bool, None, text, name, default=False)


def _file(text: str) -> Option:
    return option(FILE, "FILE", text, exists=True, dir_okay=False)


# The headings of the help, in order, each with its options
SECTIONS: dict[str, dict[str, Option]] = {
    "Arguments": {
        "model": argument(Path, "MODEL", "A model file written by 'abstain fit'."),
        "data": argument(Path, "DATA", f"{ROWS}."),
        "reviews": argument(list[Path], "REVIEW", "Files of 'abstain predict --review' with verdicts."),
        "name": (TEXT, None, typer.Argument(metavar="NAME", help="Name of the experiment; lists all if not given.")),
    },
    "Options": {
        "target": option(str, "COL", "Column of the labels, of two or more classes.", "--target", "-t", default=...),
        "output": option(FILE, "FILE", "File to write.", "--output", "-o"),
        "pos_label": option(TEXT, "LABEL", "The positive class; required for text classes whose costs differ."),
        "false_positive": option(FLOAT, "COST", "Cost of deciding a negative row positive; 1 if not given."),
        "false_negative": option(FLOAT, "COST", "Cost of deciding a positive row negative; 1 if not given."),
        "reject": option(TEXT, "COST", "Cost of a reject, or two: for negative and positive rows, as in 0.2/0.5."),
        "report": option(FILE, "HTML", "Also write a report as one HTML file."),
        "also": option(list[Path] | None, "REVIEW", "Also train on verdicts in these files; repeatable.", exists=True),
        "review": option(FILE, "FILE", "Also write the rejected rows for people to review, .xlsx or .csv."),
        "capacity": option(INT, "ROWS", "The most rows that people can review; the model answers the rest.", min=1),
        "audit": option(int, "ROWS", "Answered rows, drawn at random into the review file.", default=0, min=0),
        "reasons": _flag("--reasons", "Add the column 'sentence': why each rejected row is rejected."),
        "id": option(TEXT, "COL", "Column that names the rows in the report or review, instead of lines."),
        "cases": _file("The rows that were predicted: are they together like the training rows?"),
        "onnx": option(Path, "FILE", "ONNX file to write.", "--onnx", default=...),
        "splits": option(int, "N", "Number of random splits for the mean costs.", default=20, min=1),
        "csv": option(FILE, "FILE", "Only write the biopsies, as .csv, .xlsx or .parquet: FILE, and one with _new."),
    },
    "Costs": {
        "cost_matrix": _file("Error costs by class as a CSV: rows actual, columns predicted (actual,pred_a,pred_b)."),
        "actions": _file("Actions instead of answers as a CSV: names, then costs by class (action,good,bad)."),
        "reject_actions": option(TEXT, "NAMES", "The actions that hand the case on, with commas."),
        "reject_label": option(TEXT, "LABEL", 'Label of a reject; "reject" by default.'),
        "false_positive_column": option(TEXT, "COL", "Column with each row's cost of a false positive."),
        "false_negative_column": option(TEXT, "COL", "Column with each row's cost of a false negative."),
        "reject_column": option(TEXT, "COL", "Column with each row's cost of a reject."),
        "row_costs": option(TEXT, "PREFIX", "Columns PREFIXCLASS:ACTION with each row's cost of an action."),
    },
    LIMITS: {
        "reject_rate": option(TEXTS, "SHARE", "Instead of costs: the largest share of rejects; or CLASS=SHARE."),
        "max_error": option(TEXTS, "SHARE", "Instead of costs: the largest error of accepted rows; or CLASS=SHARE."),
        "class_error": option(TEXTS, "RATE", "Instead of costs: the largest error of each true class; or CLASS=RATE."),
        "confidence": option(float, "SHARE", "With which --max-error holds.", default=0.9, min=0.001, max=0.999),
        "novelty": option(FLOAT, "RATE", "The largest share of usual rows rejected as novel; by default at most 0.01."),
        "no_novelty": _flag("--no-novelty", "Do not reject rows unlike the training rows."),
    },
    "Table": {
        "ignore": option(TEXTS, "COL", "Columns to leave out, with commas."),
        "keep": option(TEXTS, "COL", "Text columns to keep although they differ in nearly every row."),
        "categorical": option(TEXTS, "COL", "Columns of numbers that are categories, with commas."),
        "groups": option(TEXT, "COL", "A column of groups, such as patients, that folds never split; not a feature."),
        "drop_unlabelled": _flag("--drop-unlabelled", "Leave out rows without a label."),
        "missing_value": option(TEXTS, "VALUE", "A number or text that stands for a missing value; may be repeated."),
        "dates": option(TEXT, "HOW", "Read dates as days since 1970: days, day-first or month-first (01/02/2024)."),
        "decimal": option(str, "SIGN", "Decimal sign of numbers in text: . or ,", default="."),
        "thousands": option(TEXT, "SIGN", "Sign between thousands: , or . or ' or space; none if not given."),
        "encoding": option(TEXT, "NAME", "Encoding of a CSV, such as windows-1252; UTF-8 if not given."),
    },
    "Machine and search": {
        "machine": option(
            str, "NAME", "auto, svm, laplacian, logistic, forest, boosting, best, linear or nothing.", default="auto"
        ),
        "cluster": option(TEXT, "ADDRESS", "Dask scheduler for --machine linear, as in tcp://10.0.0.5:8786."),
        "C": option(FLOAT, "C", "Weight of the losses; chosen by cross-validation if not given.", "--C"),
        "gamma": option(FLOAT, "GAMMA", "Kernel parameter gamma; chosen by cross-validation if not given."),
        "Cs": option(TEXT, "VALUES", "Values of C to try, as in 0.1,1,10, or how many.", "--Cs"),
        "gammas": option(TEXT, "VALUES", "Values of gamma to try, as in 0.01,0.1,scale, or how many."),
        "search": option(
            str, "HOW", "full, halving (subsamples first), or auto: halving beyond 5000 rows.", default="auto"
        ),
        "folds": option(int, "N", "Number of cross-validation folds.", default=5, min=2),
        "seed": option(int, "N", "Random seed.", default=0, min=0),
    },
    "Time and memory": {
        "time_limit": option(FLOAT, "SECONDS", "Limit on the training time.", min=0.001),
        "max_memory": option(FLOAT, "MB", "Limit on the memory beside the program's own.", min=1),
    },
    "Output": {
        "prefix": option(str, "TEXT", "Prefix for the names of the added columns.", default=""),
        "spreadsheet_safe": option(
            bool, None, "Make texts inert that a spreadsheet would run as formulas.", default=True
        ),
        "json": _flag("--json", "Print the result as JSON."),
        "force": _flag("--force", "Replace an existing file."),
    },
}
MACHINES = "With commas: svm, logistic, forest, boosting, laplacian, linear, best, auto; all: the first four."
_SAME = "Compare with a guard as in fit: the largest share of usual rows that it rejects."
_PAGE = option(FILE, "HTML", "Also write a report as one HTML file.", "--output", "-o")
_ROWS = "A .csv, .xlsx or .parquet; CSV on standard output if not given."
OWN: dict[str, Option] = {  # those that differ by command
    "demo output": option(Path, "FOLDER", "For the output.", "--output", "-o", default=Path("demo")),
    "check target": option(TEXT, "COL", "Column of the labels; guessed if not given.", "--target", "-t"),
    "fit data": argument(list[Path], "DATA", f"{ROWS}; several Parquet files with --machine linear."),
    "fit output": option(Path, "MODEL", "Model file to write.", "--output", "-o", default=...),
    "predict output": option(FILE, "TABLE", _ROWS, "--output", "-o"),
    "evaluate target": option(TEXT, "COL", "Column of the labels; detected if not given.", "--target", "-t"),
    "audit output": _PAGE,
    "audit confidence": option(float, "SHARE", "Confidence of each interval.", default=0.95, min=0.001, max=0.999),
    "compare output": _PAGE,
    "compare machine": option(str, "NAMES", MACHINES, default="all"),
    "compare novelty": option(FLOAT, "RATE", _SAME),
}
OPTIONS = {name: declared for section in SECTIONS.values() for name, declared in section.items()}
HEADINGS = {name: heading for heading, section in SECTIONS.items() for name in section}


def option_name(name: str) -> str:
    """The option as users write it."""
    return f"--{name.replace('_', '-')}"
