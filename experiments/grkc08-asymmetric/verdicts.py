"""The questions that GRKC08 leaves open, and verdicts on our numbers by stated criteria."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.numbers import signed

NO_REJECT = ("weighted SVM, no reject", "SVM, no reject")
SMALL = ("german", "heart", "wdbc")  # wdbc: of the --fast run
RIVALS = ("naive", "naive, weighted SVM", "Chow on Platt", "Chow on isotonic", "ROC")
ASKED = ("naive",)  # the one in the paper's question


@dataclass(frozen=True)
class Question:
    """The question, what the paper says, our result, and the verdict."""

    text: str
    paper: str
    here: str
    verdict: str


def blocks_of(results: dict[str, Any], *names: str) -> list[dict[str, Any]]:
    """The blocks of these data sets."""
    return [block for block in results["blocks"] if block["data"] in names]


def significant_sign(item: dict[str, Any]) -> int:
    """+1 if the rule costs significantly more than the double hinge, -1 if less, 0 otherwise."""
    return int(item["low"] > 0) - int(item["high"] < 0)


def verdict(signs: list[int]) -> str:
    """Whether the double hinge is cheaper than another rule, from the significant signs of the blocks."""
    if 2 * signs.count(1) > len(signs) and -1 not in signs:
        return "holds"
    return "does not hold" if -1 in signs and 1 not in signs else "cannot be judged"


def questions(results: dict[str, Any]) -> list[Question]:
    """All questions, with answers."""
    small = blocks_of(results, *SMALL)
    asked = [_cheaper(rival, small) for rival in RIVALS]
    return [*asked, _larger(results), _pays(results["blocks"]), _trivial(results["blocks"])]


def _cheaper(rival: str, blocks: list[dict[str, Any]]) -> Question:
    found = [block["minus_double_hinge"][rival] for block in blocks]
    signs = [significant_sign(item) for item in found]
    spread = f"{signed(min(item['mean'] for item in found))} to {signed(max(item['mean'] for item in found))}"
    here = f"costs significantly more in {signs.count(1)}, less in {signs.count(-1)} of {len(signs)} blocks; {spread}"
    text = f"Is the double hinge cheaper than “{rival}” with asymmetric costs?"
    return Question(text, "open question" if rival in ASKED else "not compared", here, verdict(signs))


def _larger(results: dict[str, Any]) -> Question:
    blocks = blocks_of(results, "covtype")
    text = "Is it cheaper than the naive rule with a larger training set?"
    if not blocks:
        return Question(text, "open question", "not run", "cannot be judged")
    parts = []
    for block in blocks:
        gap, own = block["minus_double_hinge"]["naive"]["mean"], block["rules"]["double hinge"]["cost"]["mean"]
        parts.append(f"{signed(gap, 4)} ({signed(100 * gap / own, 0)} %) at n = {block['training_rows']:,}")
    sign = significant_sign(blocks[-1]["minus_double_hinge"]["naive"])
    return Question(text, "open question", "; ".join(parts), verdict([sign]))


def _pays(blocks: list[dict[str, Any]]) -> Question:
    signs = [significant_sign(block["minus_double_hinge"][rule]) for block in blocks for rule in NO_REJECT]
    here = f"machines that never reject cost significantly more in {signs.count(1)} of {len(signs)} comparisons"
    return Question("Does rejecting pay?", "not compared", here, verdict(signs))


def _trivial(blocks: list[dict[str, Any]]) -> Question:
    better = [b["rules"]["double hinge"]["cost"]["mean"] < min(b["one_decision_for_all"].values()) for b in blocks]
    here = f"in {sum(better)} of {len(better)} blocks"
    text = "Is it better than the same decision for all rows?"
    return Question(text, "not compared", here, "holds" if all(better) else "does not hold")
