"""What the verdicts of people say about a model: its errors where it answers, the cost of both together, its promises.

::

    cost per row = (sum of the costs of handing on, by verdict + answered * mean cost of the audited rows) / all rows

The rows drawn from a batch speak for that batch alone. Rows without a verdict count in the way that makes the intervals
widest: a rejected row has the least and the largest cost of handing on in the two ends, an audited one is right and
wrong. Rows over capacity are answered, although the model rejects them, and no promise is about them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from abstain.labels import Labels
from abstain.review.codes import Drawn
from abstain.review.intervals import mean_interval, share_interval, share_of_batches

NONE = -1  # the code of a row without a verdict
Ends = tuple[float, float, float]  # an estimate and its interval


@dataclass(frozen=True, eq=False)
class Case:
    """A row that people have seen: the class that is the verdict or `NONE`, the action of the model, and its costs.

    The action of an audited row is the model's answer; the others are handed on. Costs are classes by actions, or None.
    `over` rows are audited ones that the model answers only because they are over capacity.
    """

    truth: int
    choice: int
    audited: bool
    costs: Any
    drawn: Drawn
    over: bool = False


@dataclass(frozen=True, eq=False)
class Audit:
    """Cases with verdicts, drawn from batches.

    Attributes
    ----------
    cases : list of Case
    labels : Labels
        The classes and actions.
    confidence : float
        Of each interval.
    """

    cases: list[Case]
    labels: Labels
    confidence: float = 0.95

    @cached_property
    def batches(self) -> dict[Drawn, list[Case]]:
        """The audited cases of each batch."""
        found: dict[Drawn, list[Case]] = {case.drawn: [] for case in self.cases}
        for case in self.cases:
            found[case.drawn] += [case] * case.audited
        return found

    def total(self, count: str) -> int:
        """The sum of a number of `Drawn` over all batches."""
        return sum(getattr(batch, count) for batch in self.batches)

    @cached_property
    def judged(self) -> list[Case]:
        """The audited rows with a verdict."""
        return [case for case in self.cases if case.audited and case.truth != NONE]

    @cached_property
    def reviewed(self) -> list[Case]:
        """The rejected rows with a verdict."""
        return [case for case in self.cases if not case.audited and case.truth != NONE]

    def of_rows(self, over: bool) -> "Audit":
        """Return the audit of the answered rows that are over capacity, or of all others; the rest is handed on."""
        part = dict[Drawn, Drawn]()
        for batch, cases in self.batches.items():
            answered = batch.over if over else batch.answered - batch.over
            most = batch.audited - sum(case.over != over for case in cases)  # rows that are lacking may be of either
            handed_on = batch.handed_on + batch.answered - answered
            part[batch] = batch._replace(answered=answered, audited=min(most, answered), handed_on=handed_on)
        moved = [(part[one.drawn], one.audited and one.over == over) for one in self.cases]
        pairs = zip(self.cases, moved, strict=True)
        return replace(self, cases=[replace(one, drawn=drawn, audited=own) for one, (drawn, own) in pairs])

    def answer(self, case: Case) -> int:
        """The class that the model answers."""
        return self.labels.answers[case.choice]

    def wrong(self, case: Case) -> bool:
        """Whether the answer is not the verdict."""
        return self.answer(case) != case.truth

    def _rows(self, of: Callable[[Case], bool], confidence: float) -> Ends:
        """The number of answered rows of a kind, estimated, and its interval."""
        total, drawn = ([getattr(batch, name) for batch in self.batches] for name in ("answered", "audited"))
        known = [[of(case) for case in cases if case.truth != NONE] for cases in self.batches.values()]
        found, judged = np.array([*map(sum, known)]), np.array([*map(len, known)])
        ends = share_of_batches(found, found + drawn - judged, drawn, total, confidence)
        low, high = (sum(total) * end for end in ends)
        return sum(total) * self._mean([np.array(rows, dtype=np.float64) for rows in known]), low, high

    def _mean(self, values: list[Any]) -> float:
        """The mean over all answered rows, from the values of the judged rows of each batch."""
        weighed = [(batch.answered, of.mean()) for batch, of in zip(self.batches, values, strict=True) if len(of)]
        return float(np.average([mean for _, mean in weighed], weights=[n for n, _ in weighed])) if weighed else np.nan

    def error(self, label: Any = None) -> dict[str, Any] | None:
        """The share of wrong ones among all answered rows, or those answered as a class; None for other actions."""
        if not self.judged or NONE in map(self.answer, self.judged):
            return None
        if label is None:
            ends, n = self._rows(self.wrong, self.confidence), self.total("answered")
            value, low, high = (end / n for end in ends)
            return _estimate(value, low, high, len(self.judged), wrong=sum(map(self.wrong, self.judged)))
        code = self.labels.classes.tolist().index(label)
        own = [case for case in self.judged if self.answer(case) == code]
        found, each = sum(map(self.wrong, own)), (1.0 + self.confidence) / 2.0
        wrong = self._rows(lambda case: self.answer(case) == code != case.truth, each)
        right = self._rows(lambda case: self.answer(case) == code == case.truth, each)
        value, low, high = _share(wrong, right)
        if len(self.batches) == 1:  # all rows with this answer are drawn alike, and how many there are is not known
            lacking = self.total("audited") - len(self.judged)
            lacking -= sum(case.audited and case.truth == NONE and self.answer(case) != code for case in self.cases)
            low, _ = share_interval(found, len(own) + lacking, None, self.confidence)
            _, high = share_interval(found + lacking, len(own) + lacking, None, self.confidence)
        return _estimate(value, low, high, len(own), wrong=found)

    def cost(self) -> dict[str, Any] | None:
        """The cost per row of model and people together; None without costs or without an audit."""
        priced = [case.costs for case in self.cases if case.costs is not None]
        answered, handed_on = self.total("answered"), self.total("handed_on")
        if not priced or not (self.judged or not answered):
            return None
        hands_on, total = np.array(self.labels.hands_on), answered + handed_on
        possible, reject = (np.stack(priced)[..., which] for which in (~hands_on, hands_on))
        answers, least, most = list[Any](), list[Any](), list[Any]()
        for batch, cases in self.batches.items():
            known = [c.costs[:, c.choice] if c.truth == NONE else c.costs[[c.truth], c.choice] for c in cases]
            lacking = [possible] * (batch.audited - len(cases))
            least.append(np.array([costs.min() for costs in known + lacking]))
            most.append(np.array([costs.max() for costs in known + lacking]))
            answers.append(np.array([costs[0] for costs, c in zip(known, cases, strict=True) if c.truth != NONE]))
        low, high = mean_interval(least, most, possible, [batch.answered for batch in self.batches], self.confidence)
        handed = np.array([c.costs[c.truth, c.choice] for c in self.reviewed])
        missing = handed_on - len(handed)
        cheap, dear = (missing * reject.min(), missing * reject.max()) if missing else (0.0, 0.0)
        likely = missing * handed.mean() if len(handed) else (cheap + dear) / 2
        means = [self._mean(answers) if self.judged else 0.0, low, high]
        sums = [handed.sum() + more for more in (likely, cheap, dear)]
        value, low, high = ((of + answered * mean) / total for of, mean in zip(sums, means, strict=True))
        return _estimate(value, low, high, len(self.judged) + len(handed))

    def of_class(self, label: Any) -> dict[str, Any]:
        """The share of the rows of a true class that are answered wrongly; rejected rows count as not.

        With W of them wrong and G right among the answered rows, and R among the rejected ones, it is W / (W + G + R).
        The intervals of W and G hold together, and rejected rows without a verdict may be of any class.
        """
        code, each = self.labels.classes.tolist().index(label), (1.0 + self.confidence) / 2.0
        R, of_it = (sum(case.truth == code for case in cases) for cases in (self.reviewed, self.judged))
        wrong = self._rows(lambda case: case.truth == code and self.wrong(case), each)
        right = self._rows(lambda case: case.truth == code and not self.wrong(case), each)
        unknown = self.total("handed_on") - len(self.reviewed)
        return _estimate(*_share(wrong, right, R, unknown), of_it + R)

    def rejects(self) -> dict[str, int]:
        """What the rejected rows turned out to be: rows by class, and those without a verdict."""
        known = self.labels.classes.tolist()
        found = {str(label): sum(case.truth == code for case in self.reviewed) for code, label in enumerate(known)}
        return found | {"no verdict": self.total("handed_on") - len(self.reviewed)}


def _share(wrong: Ends, right: Ends, more: int = 0, unknown: int = 0) -> Ends:
    """The share of the wrong rows among them, the right ones and more, of which some are not known to be such rows."""
    of, low, high = wrong[0] + right[0] + more, wrong[1] + right[2] + more + unknown, wrong[2] + right[1] + more
    return (wrong[0] / of if of > 0 else np.nan, wrong[1] / max(low, 1), wrong[2] / high if high else 1.0)


def _estimate(value: float, low: float, high: float, rows: int, **more: int) -> dict[str, Any]:
    return {"estimate": float(value), "from": float(low), "to": float(high), "rows": rows, **more}
