"""What the verdicts of people say about a model: its errors where it answers, the cost of both together, its promises.

::

    cost per row = (sum of the costs of handing on, by verdict + answered * mean cost of the audited rows) / all rows

Rejected rows without a verdict have the least and the largest cost of handing on in the two ends of the interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from abstain.labels import Labels
from abstain.review.intervals import Interval, mean_interval, share_interval

NONE = -1  # the code of a row without a verdict


@dataclass(frozen=True, eq=False)
class Case:
    """A row that people have seen: the class that is the verdict or `NONE`, the action of the model, and its costs.

    The action of an audited row is the model's answer; the others are handed on. Costs are classes by actions, or None.
    `drawn` is its batch.
    """

    truth: int
    choice: int
    audited: bool
    costs: Any
    drawn: Any = None


@dataclass(frozen=True, eq=False)
class Audit:
    """Cases with verdicts, drawn from batches.

    Attributes
    ----------
    cases : list of Case
    answered, handed_on : int
        The rows of all batches that the model answers, and those that it hands on.
    labels : Labels
        The classes and actions.
    confidence : float
        Of each interval.
    """

    cases: list[Case]
    answered: int
    handed_on: int
    labels: Labels
    confidence: float = 0.95

    @cached_property
    def judged(self) -> list[Case]:
        """The audited rows with a verdict."""
        return [case for case in self.cases if case.audited and case.truth != NONE]

    @cached_property
    def reviewed(self) -> list[Case]:
        """The rejected rows with a verdict."""
        return [case for case in self.cases if not case.audited and case.truth != NONE]

    def answer(self, case: Case) -> int:
        """The class that the model answers."""
        return self.labels.answers[case.choice]

    def wrong(self, case: Case) -> bool:
        """Whether the answer is not the verdict."""
        return self.answer(case) != case.truth

    def error(self, label: Any = None) -> dict[str, Any] | None:
        """The share of wrong ones among all answered rows, or those answered as a class; None for other actions."""
        answers, total = [self.answer(case) for case in self.judged], self.answered if label is None else None
        if not answers or NONE in answers:
            return None
        code = None if label is None else self.labels.classes.tolist().index(label)
        wrong = [case for case, answer in zip(self.judged, answers, strict=True) if code in (None, answer)]
        rows, found = len(wrong), sum(map(self.wrong, wrong))
        interval = share_interval(found, rows, total, self.confidence)
        return _estimate(found / rows if rows else np.nan, interval, rows, wrong=found)

    def cost(self) -> dict[str, Any] | None:
        """The cost per row of model and people together; None without costs or without an audit."""
        priced = [case.costs for case in self.cases if case.costs is not None]
        if not priced or not (self.judged or not self.answered):
            return None
        hands_on, total = np.array(self.labels.hands_on), self.answered + self.handed_on
        possible, reject = (np.stack(priced)[..., which] for which in (~hands_on, hands_on))
        answers, handed = (np.array([c.costs[c.truth, c.choice] for c in of]) for of in (self.judged, self.reviewed))
        low, high = mean_interval(answers, possible, self.answered, self.confidence) if len(answers) else (0.0, 0.0)
        missing = self.handed_on - len(handed)
        least, most = (missing * reject.min(), missing * reject.max()) if missing else (0.0, 0.0)
        likely = missing * handed.mean() if len(handed) else (least + most) / 2
        sums = [handed.sum() + more for more in (likely, least, most)]
        means = [answers.mean() if len(answers) else 0.0, low, high]
        value, low, high = ((of + self.answered * mean) / total for of, mean in zip(sums, means, strict=True))
        return _estimate(value, (low, high), len(answers) + len(handed))

    def of_class(self, label: Any) -> dict[str, Any]:
        """The share of the rows of a true class that are answered wrongly; rejected rows count as not.

        With W of them wrong and G right among the answered rows, and R among the rejected ones, it is W / (W + G + R).
        The intervals of W and G hold together, and rejected rows without a verdict may be of any class.
        """
        code = self.labels.classes.tolist().index(label)
        of_it, each = [case for case in self.judged if case.truth == code], (1.0 + self.confidence) / 2.0
        W, R = sum(map(self.wrong, of_it)), sum(case.truth == code for case in self.reviewed)
        counts = (share_interval(k, len(self.judged), self.answered, each) for k in (W, len(of_it) - W))
        wrong, right = (self.answered * np.array(interval) for interval in counts)
        unknown, scale = self.handed_on - len(self.reviewed), self.answered / max(len(self.judged), 1)
        least, most = wrong[0] + right[1] + R + unknown, wrong[1] + right[0] + R
        share = W * scale / (len(of_it) * scale + R) if of_it or R else np.nan
        return _estimate(share, (wrong[0] / max(least, 1), wrong[1] / most if most else 1.0), len(of_it) + R)

    def rejects(self) -> dict[str, int]:
        """What the rejected rows turned out to be: rows by class, and those without a verdict."""
        known = self.labels.classes.tolist()
        found = {str(label): sum(case.truth == code for case in self.reviewed) for code, label in enumerate(known)}
        return found | {"no verdict": self.handed_on - len(self.reviewed)}


def _estimate(value: float, interval: Interval, rows: int, **more: int) -> dict[str, Any]:
    low, high = map(float, interval)
    return {"estimate": float(value), "from": low, "to": high, "rows": rows, **more}
