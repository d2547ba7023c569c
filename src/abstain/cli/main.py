"""The command `abstain` and its sub-commands, with their help, the essential options first.

Only typer is imported here. The files that run commands are imported when they do, so that help and completion work
without loading NumPy.
"""

import inspect
import re
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from abstain.cli.exit_codes import exit_on_error, one_line, own_process
from abstain.cli.options import HEADINGS, LIMITS, NOTATION, OPTIONS, OWN, SECTIONS, Given

_PLAINLY = {  # the words of the parsers of options
    r"Input should be a valid number.*|'.*' is not a valid float.*": "must be a number with a decimal point, as in 2.5",
    r"Input should be a valid integer.*|'.*' is not a valid integer.*": "must be a whole number, as in 20",
    r"(?:Input should be greater than or equal to |\S+ is not in the range x>=)([\d.]*\d)\.?": r"must be \1 or more",
    r"(?:Input should be less than or equal to |\S+ is not in the range x<=)([\d.]*\d)\.?": r"must be \1 or less",
    r"\S+ is not in the range ([\d.]*\d)<=x<=([\d.]*\d)\.?": r"must be from \1 to \2",
    r"path '(.*,.*)' does not exist\.?": r"path '\1' does not exist; name several files by repeating the option",
}


class Commands(TyperGroup):
    """The commands; what is wrong with an option is said in one sentence, with the way to the help."""

    def main(self, *args: Any, **given: Any) -> Any:
        """Run a command."""
        try:
            code = super().main(*args, **given | {"standalone_mode": False})
        except Exception as error:
            if not hasattr(error, "format_message"):
                raise
            text = error.format_message()
            for words, plainly in _PLAINLY.items():
                text = re.sub(words, plainly, text)
            text = re.sub(r"^Invalid value for '(--[\w-]+)[^']*':(?= must)", r"\1", text)
            path = getattr(getattr(error, "ctx", None), "command_path", "abstain")
            if type(error).__name__ != "NoArgsIsHelpError":  # whose text is the help
                text = f"abstain: {one_line(text).rstrip('.')}; see '{path} --help'.".replace("?;", "? Or")
            sys.stderr.write(f"{text}\n")
            code = getattr(error, "exit_code", 2)
        if given.get("standalone_mode", True):
            sys.exit(code if isinstance(code, int) else 0)
        return code


class Sectioned(TyperCommand):
    """A command whose help has the headings of `SECTIONS`."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write each heading with its options; the option for help, which the table does not have, comes last."""
        sections: dict[str, list[tuple[str, str]]] = {heading: [] for heading in SECTIONS}
        trains = any(parameter.name == "machine" for parameter in self.params)
        for parameter in self.get_params(ctx):
            name, text = parameter.get_help_record(ctx) or ("", "")
            shown = parameter.metavar if parameter.param_type_name == "argument" else name
            heading = HEADINGS.get(str(parameter.name), "Output")
            of_training = heading in ("Limits on rejects and errors", "Machine and search")
            sections["Options" if of_training and not trains else heading].append((str(shown), text))
        for heading, lines in sections.items():
            if lines:
                with formatter.section(heading):
                    formatter.write_dl(lines)


# Plain help, because rich takes longer to load than everything else.
app = typer.Typer(
    cls=Commands,
    name="abstain",
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
    """Classify rows, and reject those where an error would cost more than a review."""


def command_of(*names: str, file: str = "") -> Callable[[Callable[[], None]], Callable[..., None]]:
    """Declare a command by its name, its help and its options: names in `OPTIONS`, or headings of several.

    A `file` of `abstain.cli.commands`, with its name if none is given, has what it runs, and is imported only then.
    """
    named = {name for one in names for name in SECTIONS.get(one, [one])}

    def made(declared: Callable[[], None]) -> Callable[..., None]:
        def command(**values: Any) -> None:
            with exit_on_error() as unfinished:
                module = import_module(f"abstain.cli.commands.{file or declared.__name__}")
                getattr(module, f"run_{declared.__name__}")(Given(**values, unfinished=unfinished))

        parameters = []
        for name in (name for name in OPTIONS if name in named):
            kind, default, how = OWN.get(f"{declared.__name__} {name}", OPTIONS[name])
            given = inspect.Parameter.empty if default is ... else default
            kept = Annotated[kind, how]  # type: ignore[valid-type]
            parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=given, annotation=kept))
        command.__name__, command.__doc__, command.__annotations__ = declared.__name__, declared.__doc__, {}
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return app.command(cls=Sectioned)(command)

    return made


LEARNING = (
    *("target", "output", "false_positive", "false_negative", "reject", "pos_label", "Costs", "Table"),
    *("machine", "seed", "Time and memory", "json", "force"),
)


@command_of("output", "splits", "csv", "force")
def demo() -> None:
    """Show on biopsies what a reject option saves, with a picture."""


@command_of("data", "target", "Table", "json", file="fit")
def check() -> None:
    """Find all problems of a table at once, and the command that works."""


@command_of("data", "also", *LEARNING, LIMITS, "cluster", "C", "gamma", "Cs", "gammas", "search")
def fit() -> None:
    """Train on labelled rows and write the model.

    Example: abstain fit loans.csv --target risk --pos-label bad --false-negative 5 --reject 0.5 -o loans.model

    Numeric columns are scaled, text columns are one-hot encoded, missing cells are imputed; C and gamma, or the
    parameters of another --machine, are chosen by cross-validated mean cost. With a column of costs each row has its
    own: the model reads the same columns when it predicts and is evaluated. The model also rejects rows that are unlike
    the training rows, unless --no-novelty is given.
    """


@command_of(
    *("model", "data", "output", "review", "capacity", "audit", "id", "seed", "reasons", "prefix"),
    *("spreadsheet_safe", *NOTATION, "json", "force"),
)
def predict() -> None:
    """Write each row with the model's answer.

    The answer has the columns label, rejected, reason (decided, ambiguous, or novel for rows that are unlike the
    training rows), score, probability_CLASS, cost_CLASS and cost_reject (the expected costs of the decisions; for
    actions cost_ACTION), and p_value (how usual the row is among the training rows). The score is the log-odds of the
    class that sorts last; more than two classes have score_CLASS each. Probabilities and expected costs are accurate
    only near the thresholds, where decisions change. With --json a summary is printed, and -o is required for the rows.
    """


@command_of("model", "data", "target", "report", "id", *NOTATION, "drop_unlabelled", "json", "force", file="predict")
def evaluate() -> None:
    """Evaluate a model on labelled rows that it was not trained on."""


@command_of("model", "reviews", "cases", "confidence", "output", *NOTATION, "json", "force", file="predict")
def audit() -> None:
    """Learn from the verdicts of people how often the model is wrong.

    Example: abstain audit loans.model review.xlsx --cases loans_today.csv -o audit.html

    The rows that 'predict --audit' mixed into the review file say how often the model is wrong where it answers, what
    it costs together with people, and whether it keeps its promises; rows in several files say how far reviewers agree.
    """


@command_of("data", *LEARNING, "novelty", "folds", file="fit")
def compare() -> None:
    """Compare all rules and machines on your data.

    Cross-validated mean costs, with intervals and a verdict.
    """


@command_of("model", "data", *NOTATION, "json", file="predict")
def drift() -> None:
    """Test whether rows are together like the training rows.

    The scores of the guard, its share of novel rows, the decisions, missing cells and categories are compared with the
    training rows. p-values are corrected for the number of tests.
    """


@command_of("model", "onnx", "force", file="predict")
def export() -> None:
    """Write the model as an ONNX graph.

    Its outputs are label, score and rejected; with a guard also novel and p_value.
    """


@command_of("name", file="demo")
def reproduce() -> None:
    """Run a published experiment.

    This needs a checkout of the repository, with its folder experiments/.
    """


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
