"""The evaluation of a model on labelled rows: its decisions, what they cost, and the verdict on them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.cli.commands.evaluation_facts import count_facts, curve_facts, tables
from abstain.cli.exit_codes import Note
from abstain.cli.input.columns import labels, left_out_rows, row_names, unlabelled
from abstain.cli.input.cost_columns import row_costs_of
from abstain.cli.input.deciding import Deciding, target_of
from abstain.cli.input.models import FittedModel
from abstain.cli.output.printing import progress
from abstain.cli.tables.notation import Notation
from abstain.cli.tables.read_table import PLAIN, opened
from abstain.comparison.drift_result import Drift
from abstain.comparison.judges import Judge, judge_of
from abstain.comparison.verdict import FORCED, verdict_on
from abstain.costs.row_costs import RowCosts

IF_NEW = "All numbers hold for new rows only if the model was neither trained nor chosen on these."


@dataclass(frozen=True, eq=False)
class Judged:
    """Labelled rows and the predictions of a model.

    Attributes
    ----------
    model : FittedModel
        The model.
    path : Path
        The file with the rows.
    places : list of str
        The position of each row in the file.
    y_true, y_pred : ndarray of shape (n,)
        The labels and the predictions, rejects included.
    score : ndarray of float64, shape (n,) or (n, n_classes)
        The scores, oriented towards the second of two classes.
    forced : ndarray of shape (n,)
        The predictions if no row may be rejected.
    row_costs : RowCosts or None
        The costs of each row, if the model reads them from columns.
    outside : dict of str to list
        Records of the columns with values that training did not have.
    novel : ndarray of bool, shape (n,)
        The rows that are rejected as unlike the training rows.
    drift : Drift or None
        Whether the rows together are like the training rows, if the model has a guard.
    """

    model: FittedModel
    path: Path
    places: list[str]
    y_true: NDArray[Any]
    y_pred: NDArray[Any]
    score: NDArray[np.float64]
    forced: NDArray[Any]
    row_costs: RowCosts | None = None
    outside: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    novel: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    drift: Drift | None = None

    @classmethod
    def of(
        cls,
        model: FittedModel,
        path: Path,
        target: str | None = None,
        *,
        id: str | None = None,  # noqa: A002 (the name of the option)
        notation: Notation = PLAIN,
        drop_unlabelled: bool = False,
    ) -> Self:
        """Read a labelled table and decide its rows, one batch at a time; `id` is the column that names them."""
        found, costs, places, empty = list[tuple[Any, ...]](), list[Any](), list[str](), list[int]()
        deciding = Deciding(model, notation)
        model = deciding.model
        with opened(path, notation) as table, progress("evaluate", path) as report:
            model.check(table)
            table.check_has([] if id is None else [id], "--id")
            for whole in table.batches:
                target = target or target_of(model, table, whole)
                table.check_has([target], "--target")
                text = labels(table, whole, target, model.plan.missing)
                present = np.array([label is not None for label in text])
                batch = whole.only(present)
                empty.extend(np.asarray(whole.places)[~present].tolist())
                report(table.position())
                if not present.any():
                    continue
                truth, decided = model.labels(text[present], table, batch, target), deciding.decide(table, batch)
                found.append((truth, decided.label, decided.score, decided.forced, decided.reason == "novel"))
                costs.append(row_costs_of(model.plan, table, batch))
                lines = [f"{table.unit} {place}" for place in batch.places]
                places.extend(lines if id is None else row_names(table, batch, id, lines))
        if empty and not (drop_unlabelled and found):
            raise unlabelled(table, str(target), len(empty), empty[0])
        for words in deciding.outside.words() + [f"{left_out_rows(len(empty))}."] * bool(empty):
            warnings.warn(f"{path}: {words}", Note, stacklevel=2)
        by_row = RowCosts.of(np.concatenate(costs)) if model.plan.costs else None
        y_true, y_pred, score, forced, novel = map(np.concatenate, zip(*found, strict=True))
        outside, drift = deciding.outside.facts(), deciding.drift()
        return cls(model, path, places, y_true, y_pred, score, forced, by_row, outside, novel, drift)

    @property
    def costs(self) -> Any:
        """The costs of the rows, or of the model; None if there are none."""
        return self.model.costs if self.row_costs is None else self.row_costs

    @property
    def judge(self) -> Judge:
        """What decisions on these rows cost."""
        model, by_row = self.model, self.row_costs
        costs, own = (model.costs, None) if by_row is None else (None, by_row.table())
        return judge_of(self.y_true, costs, own, model.positive, classes=np.asarray(model.classes))

    def paid(self, answers: NDArray[Any]) -> NDArray[np.float64]:
        """Return the cost of each of these answers."""
        return self.judge.prices(np.arange(len(answers)), answers, self.model.reject_label)

    def verdict(self, reject_rate: float) -> dict[str, Any]:
        """Return the verdict against the alternatives on these rows, and warnings; both need costs and two classes."""
        if self.costs is None or len(np.unique(self.y_true)) < 2:
            return {"verdict": {"sentence": IF_NEW}, "warnings": []}
        judge = self.judge
        found = verdict_on(
            "The machine",
            self.paid(self.y_pred),
            judge.blind(np.arange(len(self.y_true))),
            {FORCED: self.paid(self.forced)},
            reject_rate=reject_rate,
            largest=float(judge.costs.table().max()),
        )
        facts = found.facts()
        return {"verdict": facts | {"sentence": f"{found.sentence} {IF_NEW}"}, "warnings": list(found.warnings)}

    def facts(self) -> dict[str, Any]:
        """Counts, metrics and key points of the curves, as plain values."""
        counts = tables(self)
        facts = count_facts(self, counts)
        if self.costs is not None:
            facts["mean cost"] = float(self.paid(self.y_pred).mean())
        return facts | curve_facts(self) | self.verdict(counts.reject_rate)
