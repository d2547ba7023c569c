"""What is asked for instead of costs: a share of rejects, or a ceiling on errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from abstain.cli.exit_codes import UsageError
from abstain.cli.tables.notation import number_of

NAMES = {
    "reject_rate": "largest share of rejects",
    "max_error": "largest error among the accepted",
    "class_error": "largest error by true class",
}


@dataclass(frozen=True)
class Budget:
    """What is asked for.

    Attributes
    ----------
    name : str
        "reject_rate", "max_error" or "class_error".
    share : float or dict of str to float
        For all rows, or by the class answered, or the true one.
    confidence : float
        Of the ceiling on the error among the accepted.
    """

    name: str
    share: float | dict[str, float]
    confidence: float

    @property
    def facts(self) -> dict[str, Any]:
        """What was asked for."""
        asked: dict[str, Any] = {NAMES[self.name]: self.share}
        return asked | ({"confidence": self.confidence} if self.name == "max_error" else {})


def stated_budget(given: Any, costs: dict[str, Any]) -> Budget | None:
    """Return the budget that the options of a command state; None without one.

    Parameters
    ----------
    given : Given
        Each share is one text, or CLASS=SHARE repeated.
    costs : dict of str to object
        The options given that state costs, which exclude a budget.
    """
    asked = given.stated(*NAMES)
    if not asked:
        return None
    if others := [*[*asked][1:], *costs]:
        raise UsageError(
            f"{next(iter(asked))} and {others[0]} both say when to reject; give costs, --reject-rate, --max-error or "
            "--class-error."
        )
    ((option, texts),) = asked.items()
    return Budget(option[2:].replace("-", "_"), _shares(option, texts), given.confidence)


def _shares(option: str, texts: Sequence[str]) -> float | dict[str, float]:
    if len(texts) == 1 and "=" not in texts[0]:
        return _share(option, texts[0], texts[0])
    found: dict[str, float] = {}
    for text in texts:
        name, sign, share = text.rpartition("=")
        if not sign or name in found:
            raise UsageError(f"{option} {text!r} must be one share, as in 0.1, or one for each class, as in CLASS=0.1.")
        found[name] = _share(option, text, share)
    return found


def _share(option: str, text: str, number: str) -> float:
    share = number_of(number)
    if not 0.0 <= share <= 1.0:
        raise UsageError(f"{option} {text!r} must be a share between 0 and 1, as in 0.1.")
    return share
