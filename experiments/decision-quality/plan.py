"""The tasks: one for each data set, split and family of methods, so that a family can be measured again by itself."""

from __future__ import annotations

from harness import Task
from measure_others import others
from measure_sets import SETS
from measure_svm import svm
from measure_tuned import tuned

from abstain import RejectSVCCV

SPLITS = 10
SHARED = ("measure_sets.py", "measure_trial.py")
# family -> its function and the files that its answers depend on
FAMILIES = {
    "others": (others, (*SHARED, "measure_others.py")),
    "svm": (svm, (*SHARED, "measure_svm.py")),
    "tuned": (tuned, (*SHARED, "measure_svm.py", "measure_tuned.py")),
}


def tasks(fast: bool) -> list[Task]:
    """All families on all splits; a version of the library without tuned cuts leaves that family out."""
    names, splits = (("thyroid", "wine"), 2) if fast else (tuple(SETS), SPLITS)
    kept = [family for family in FAMILIES if family != "tuned" or "cuts" in RejectSVCCV().get_params()]
    more = {"others": {"few": True}} if fast else {}
    return [
        Task(f"{family}/{name}/{seed}", work, {"name": name, "seed": seed, **more.get(family, {})}, sources)
        for family, (work, sources) in FAMILIES.items()
        if family in kept
        for name in names
        for seed in range(splits)
    ]
