"""The tasks: one for each method, set and split; those of this library also for each of the costs."""

from __future__ import annotations

from harness import Task
from measure_ours import OURS, ours
from measure_rivals import RIVALS, rival
from measure_sets import ALL, GENERATED, JUDGEMENTS
from measure_split import costs_of, truth

SHARED = ("measure_reading.py", "measure_sets.py", "measure_split.py")
SOURCES = {ours: (*SHARED, "measure_ours.py"), rival: (*SHARED, "measure_rivals.py"), truth: SHARED}
# the later ones are left out if the time of a run ends before; within a rank the longest are first
RANKS = {"--no-novelty": 1, "--machine laplacian": 1, "MachineSearch": 1, "--machine best": 2}
# seconds relative to each other, of a set with many rows
WEIGHTS = {"--machine best": 4.0, "--machine laplacian": 2.0, "--machine svm": 2.0, "SVC, Platt": 2.0, "forest": 2.0}


def tasks(judgement: str, fast: bool) -> list[Task]:
    """By rank, then the longest first, so that the last are short; a fast run has generated rows and few candidates."""
    judged = JUDGEMENTS[judgement]
    sets = GENERATED if fast else judged.sets
    few = {"few": True} if fast else {}
    found = []
    for name, item in sets.items():
        for seed in range(1 if fast else judged.splits_of(item.rows)):
            here = {"name": name, "seed": seed}
            found += [
                Task(f"{method}/{name}/{seed}/{costs}", ours, {"method": method, **here, "costs": costs}, SOURCES[ours])
                for method in OURS[judgement]
                for costs in costs_of(name)
            ]
            found += [
                Task(f"{method}/{name}/{seed}", rival, {"method": method, **here, **few}, SOURCES[rival])
                for method in RIVALS
            ]
            found.append(Task(f"truth/{name}/{seed}", truth, here, SOURCES[truth]))
    return sorted(found, key=lambda task: (RANKS.get(task.arguments.get("method"), 0), -_weight(task.arguments)))


def _weight(arguments: dict[str, str]) -> float:
    """About how long a task takes, in units of its own."""
    item, method = ALL[arguments["name"]], arguments.get("method")
    return item.rows * len(item.classes) * (0.0 if method is None else WEIGHTS.get(method, 1.0))
