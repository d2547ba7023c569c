"""Write the counts of scikit-learn's checks of every estimator into docs/api.md: ``python docs/write_checks.py``.

The page has a table for the newest scikit-learn and one for the oldest that is allowed: run it with each of them. The
settings, and the reasons for the checks that fail, are in tests/check_cases.py.
"""

from __future__ import annotations

import platform
import re
import sys
from pathlib import Path

import numpy as np
import sklearn

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "api.md"
OLDEST = re.search(r"scikit-learn>=([0-9.]+)", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
sys.path.insert(0, str(ROOT / "tests"))

from check_cases import CASES, run, stated  # noqa: E402 (after the path)


def table() -> str:
    """Run all checks; return the table, and the reasons of those that fail."""
    lines = ["| estimator | passed | not for it | stated to fail |", "|---|---|---|---|"]
    why: dict[str, set[str]] = {}
    for name, cases in CASES.items():
        for settings, estimator in cases:
            passed, skipped, failed = run(estimator)
            reasons = stated(f"{name}({settings})")
            if odd := failed.keys() ^ (reasons.keys() - {*skipped}):
                raise SystemExit(f"{name}({settings}): {sorted(odd)} must fail where tests/check_cases.py states it.")
            for check in failed:
                why.setdefault(reasons[check], set()).add(check)
            shown = ", ".join(f"`{check}`" for check in sorted(failed))
            lines.append(f"| `{name}({settings})` | {len(passed)} | {len(skipped)} | {shown} |")
            print(lines[-1], flush=True)
    versions = f"scikit-learn `{sklearn.__version__}`, NumPy `{np.__version__}`, Python `{platform.python_version()}`"
    given = [f"- {reason} ({', '.join(f'`{check}`' for check in sorted(checks))})" for reason, checks in why.items()]
    return "\n".join([f"Run with {versions} by `docs/write_checks.py`:", "", *lines, "", *given, ""])


def main() -> None:
    """Write the page."""
    text, found = PAGE.read_text(encoding="utf-8"), table()
    mark = "checks on the oldest" if sklearn.__version__.startswith(f"{OLDEST[1]}.") else "checks"
    between = re.compile(rf"(<!-- {mark} -->\n).*?(<!-- end of {mark} -->)", re.DOTALL)
    PAGE.write_text(between.sub(lambda parts: f"{parts[1]}\n{found}\n{parts[2]}", text), encoding="utf-8")


if __name__ == "__main__":
    main()
