"""The tasks: one for each method, set and split; those of this library also for each of the costs."""

from __future__ import annotations

from harness import Task
from measure_ours import known, ours
from measure_rivals import RIVALS, rival
from measure_sets import GENERATED, SETS
from measure_split import costs_of, splits_of, truth

SHARED = ("measure_sets.py", "measure_split.py")
SOURCES = {ours: (*SHARED, "measure_ours.py"), rival: (*SHARED, "measure_rivals.py"), truth: SHARED}


def tasks(fast: bool) -> list[Task]:
    """Large sets first, so that the last tasks are short; a fast run has generated rows and few candidates."""
    sets = GENERATED if fast else SETS
    plan = [
        (name, seed)
        for name in sorted(sets, key=lambda name: -sets[name].rows)
        for seed in range(1 if fast else splits_of(sets[name].rows))
    ]
    few = {"few": True} if fast else {}
    found = []
    for name, seed in plan:
        here = {"name": name, "seed": seed}
        found += [
            Task(f"{method}/{name}/{seed}/{costs}", ours, {"method": method, **here, "costs": costs}, SOURCES[ours])
            for method in known()
            for costs in costs_of(name)
        ]
        found += [
            Task(f"{method}/{name}/{seed}", rival, {"method": method, **here, **few}, SOURCES[rival])
            for method in RIVALS
        ]
        found.append(Task(f"truth/{name}/{seed}", truth, here, SOURCES[truth]))
    return found
