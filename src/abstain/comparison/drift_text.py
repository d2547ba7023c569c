"""The result of a test for drift in one sentence, as a text table, and as a table for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from abstain.comparison.text import aligned
from abstain.html import html_table

if TYPE_CHECKING:
    from abstain.comparison.drift_result import Drift, DriftTest

_NAMED = 3  # differences in the sentence
_LINES = 20  # tests in the tables
_HEAD = ("", "here", "before", "difference", "p-value", "corrected")


def sentence_of(drift: Drift) -> str:
    """The verdict in one line, with the largest significant differences."""
    rows = f"{drift.n_rows:,} row{'s' * (drift.n_rows != 1)}"
    if not drift.tests:
        return f"This batch cannot be compared with the training rows: it has {rows}."
    if not drift.drifted:
        count = f"{len(drift.tests)} test{'s' * (len(drift.tests) != 1)}"
        return f"This batch is like the training rows, as far as {count} on {rows} can tell."
    named = [test.words for at, test in enumerate(drift.significant) if at < _NAMED or test.name == "rejects"]
    more = len(drift.significant) - len(named)
    listed = "; ".join([*named, *[f"{more} more difference{'s' * (more > 1)}"] * (more > 0)])
    if drift.effect == "negligible":
        most = percent(drift.significant[0].difference)
        return (
            f"This batch differs from the training rows (p {_p(drift.p_value)}), but by little: no share by more than "
            f"{most.removesuffix(' %')} percentage points; {listed}."
        )
    return f"This batch is unlike the training rows (p {_p(drift.p_value)}): {listed}."


def words_of(test: DriftTest) -> str:
    """The shares of one test, here and before."""
    here, before = percent(test.here), percent(test.before)
    if test.kind == "scores" and test.before == 0:
        return f"{here} of the rows are more unusual than all calibration rows"
    if test.kind == "scores":
        return f"{here} of the rows are as unusual as the most unusual {before} at calibration"
    if test.kind in ("missing", "category"):
        column = test.label if test.kind == "missing" else test.label[0]
        value = "no value" if test.kind == "missing" else _quoted(test.label[1])
        return f"{here} of the rows have {value} in column {_quoted(column)}, {before} in training"
    what = {
        "novel": "of the rows are novel",
        "rejects": "of the rows are rejected by the classifier",
        "decisions": f"of the decisions are {_quoted(test.label)}",
    }[test.kind]
    return f"{here} {what}, {before} at calibration"


def as_text(drift: Drift) -> str:
    """The sentence and a line for each test, most significant first."""
    lines = aligned([_HEAD, *map(_line, _ordered(drift)[:_LINES])], left=(0,))
    return "\n".join([drift.sentence, "", *lines, *_rest(drift), "", _note(drift)])


def as_html(drift: Drift) -> str:
    """The same for notebooks."""
    note = " ".join([*_rest(drift), _note(drift)])
    return html_table(drift.sentence, ["test", *_HEAD[1:]], map(_line, _ordered(drift)[:_LINES]), note)


def percent(share: float) -> str:
    """A share in percent, with two digits below 10 %."""
    return f"{100 * share:.0f} %" if share >= 0.0995 or share == 0 else f"{100 * share:.2g} %"


def _ordered(drift: Drift) -> list[DriftTest]:
    return sorted(drift.tests, key=lambda test: (test.corrected, test.p_value))


def _line(test: DriftTest) -> tuple[str, ...]:
    name = {
        "scores": "scores above the largest difference",
        "decisions": f"decisions: {_quoted(test.label)}",
        "missing": f"{test.name}: no value",
    }.get(test.kind, test.name)
    if test.kind == "category":
        name = f"{test.name}: {_quoted(test.label[1])}"
    shares = percent(test.here), percent(test.before)
    return (name, *shares, f"{test.difference:.3f} {test.effect}", f"{test.p_value:.2g}", f"{test.corrected:.2g}")


def _rest(drift: Drift) -> list[str]:
    more = len(drift.tests) - _LINES
    return [f"and {more} more, less significant"] if more > 0 else []


def _note(drift: Drift) -> str:
    return (
        f"{drift.n_rows:,} rows here, {drift.n_calibration:,} at calibration; columns are compared with all training "
        f"rows. p-values corrected for {len(drift.tests)} tests; level {drift.level:g}."
    )


def _p(value: float) -> str:
    return "< 1e-16" if value < 1e-16 else f"= {value:.1g}"


def _quoted(value: Any) -> str:
    return repr(str(value)[:60])
