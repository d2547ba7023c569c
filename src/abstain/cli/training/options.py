"""Arguments and options shared by several commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", exists=True, dir_okay=False, help="Rows: a CSV (also .csv.gz), Parquet or Excel file."
    ),
]
Model = Annotated[
    Path, typer.Argument(metavar="MODEL", exists=True, dir_okay=False, help="A model file written by 'abstain fit'.")
]
Target = Annotated[
    str, typer.Option("--target", "-t", metavar="COL", help="Column of the labels, of two or more classes.")
]
PosLabel = Annotated[
    str | None, typer.Option(metavar="LABEL", help="The positive class; required for text classes whose costs differ.")
]
FalsePositive = Annotated[
    float | None, typer.Option(metavar="COST", help="Cost of deciding a negative row positive; 1 if not given.")
]
FalseNegative = Annotated[
    float | None, typer.Option(metavar="COST", help="Cost of deciding a positive row negative; 1 if not given.")
]
Reject = Annotated[
    str | None,
    typer.Option(metavar="COST", help="Cost of a reject, or two: for negative and positive rows, as in 0.2/0.5."),
]
FalsePositiveColumn = Annotated[
    str | None, typer.Option(metavar="COL", help="Column with each row's cost of a false positive.")
]
FalseNegativeColumn = Annotated[
    str | None, typer.Option(metavar="COL", help="Column with each row's cost of a false negative, such as an amount.")
]
RejectColumn = Annotated[str | None, typer.Option(metavar="COL", help="Column with each row's cost of a reject.")]
CostMatrix = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="Error costs of any number of classes as a CSV: rows actual, columns predicted (actual,pred_a,pred_b).",
    ),
]
Actions = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="Actions instead of answers, as a CSV: their names, then the cost of each by class (action,good,bad).",
    ),
]
RejectActions = Annotated[
    str | None,
    typer.Option(metavar="NAMES", help="The actions that hand the case on, with commas; or a column 'rejects'."),
]
RejectRate = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SHARE",
        help="Instead of costs: the largest share of rows to reject as ambiguous, without novel rows (--novelty); or "
        "CLASS=SHARE, repeated.",
    ),
]
MaxError = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SHARE", help="Instead of costs: the largest error among the accepted rows; or CLASS=SHARE, repeated."
    ),
]
ClassError = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RATE",
        help="Instead of costs: the largest share of each true class answered wrongly; or CLASS=RATE, repeated.",
    ),
]
Confidence = Annotated[
    float, typer.Option(metavar="SHARE", min=0.001, max=0.999, help="Confidence with which --max-error holds.")
]
Categorical = Annotated[
    list[str] | None, typer.Option(metavar="COL", help="A numeric column to treat as categories; may be repeated.")
]
Ignore = Annotated[list[str] | None, typer.Option(metavar="COL", help="A column to leave out; may be repeated.")]
Groups = Annotated[
    str | None,
    typer.Option(metavar="COL", help="A column of groups, such as patients, that folds never split; not a feature."),
]
Machine = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="svm, logistic, forest or boosting; best chooses among them by cross-validated mean cost; linear is an "
        "svm without a kernel, for millions of rows.",
    ),
]
C = Annotated[
    float | None,
    typer.Option("--C", metavar="C", help="Weight of the losses; chosen by cross-validation if not given."),
]
Gamma = Annotated[
    float | None,
    typer.Option(metavar="GAMMA", help="Kernel parameter gamma; chosen by cross-validation if not given."),
]
Cs = Annotated[
    str | None,
    typer.Option(
        "--Cs", metavar="VALUES", help="Values of C to try, as in 0.1,1,10, or how many; 10 (linear: 6) if not given."
    ),
]
Gammas = Annotated[
    str | None,
    typer.Option(metavar="VALUES", help="Values of gamma to try, as in 0.01,0.1,scale, or how many; 5 if not given."),
]
Search = Annotated[
    str,
    typer.Option(
        metavar="HOW",
        help="full: all pairs of C and gamma on all rows; halving: subsamples first; auto: halving beyond 5000 rows.",
    ),
]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Random seed.")]
TimeLimit = Annotated[float | None, typer.Option(metavar="SECONDS", min=0.001, help="Limit on the training time.")]
MaxMemory = Annotated[
    float | None,
    typer.Option(metavar="MB", min=1, help="Limit on the memory for the table and the fit, beside the program's own."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]
Encoding = Annotated[
    str | None, typer.Option(metavar="NAME", help="Encoding of a CSV, such as windows-1252; UTF-8 if not given.")
]
Decimal = Annotated[str, typer.Option(metavar="SIGN", help="Decimal sign of numbers in text: . or ,")]
Thousands = Annotated[
    str | None, typer.Option(metavar="SIGN", help="Sign between thousands: , or . or ' or space; none if not given.")
]
Dates = Annotated[
    str | None,
    typer.Option(
        metavar="HOW",
        help="Turn dates into days since 1970-01-01: days, or day-first or month-first for dates such as 01/02/2024.",
    ),
]
MissingValue = Annotated[
    list[str] | None,
    typer.Option(metavar="VALUE", help="A number or text that stands for a missing value; may be repeated."),
]
DropUnlabelled = Annotated[bool, typer.Option("--drop-unlabelled", help="Leave out rows without a label.")]
