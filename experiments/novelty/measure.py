"""The tasks: the README's example, damaged rows, rows like the training rows, lower rates, and other patients."""

from __future__ import annotations

from harness import Task
from measure_damage import MOST, commands, example
from measure_damage import trial as damage
from measure_patients import LEARNED, REPEATS
from measure_patients import trial as patients
from measure_promise import trial as promised
from measure_rates import trial as limited
from measure_sets import LOADERS
from public_data.mitbih import RECORDS

DAMAGED, SPLITS, TOGETHER = 5, 60, 20
SMALL = ("heart",)


def tasks(fast: bool) -> list[Task]:
    """Splits of the promise are run together by twenties."""
    names, splits, together = (SMALL, 4, 4) if fast else (tuple(LOADERS), SPLITS, TOGETHER)
    found = [Task(key, of, {}, sources("damage")) for key, of in (("example", example), ("commands", commands))]
    for name in names:
        for seed in range(1 if fast else DAMAGED):
            arguments = {"name": name, "seed": seed, "most": 10 if fast else MOST}
            found.append(Task(f"damage/{name}/{seed}", damage, arguments, sources("damage")))
            rated = (*sources("rates"), "measure_damage.py")
            found.append(Task(f"limit/{name}/{seed}", limited, {"name": name, "seed": seed}, rated))
        for first in range(0, splits, together):
            arguments = {"name": name, "seeds": list(range(first, first + together))}
            found.append(Task(f"promise/{name}/{first}", promised, arguments, sources("promise")))
    how = {"repeats": 1, "learned": 600} if fast else {"repeats": REPEATS, "learned": LEARNED}
    for record in RECORDS[:2] if fast else RECORDS:
        found.append(Task(f"patient/{record}", patients, {"record": record, **how}, sources("patients")))  # noqa: PERF401
    return found


def sources(part: str) -> tuple[str, ...]:
    """The files that a task depends on."""
    return (f"measure_{part}.py", "measure_sets.py", "measure_detectors.py")
