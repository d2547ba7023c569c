"""Write the counts of scikit-learn's checks of every estimator into docs/api.md: ``python docs/write_checks.py``.

The settings, and the reasons for the checks that fail, are in tests/check_cases.py.
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
BETWEEN = re.compile(r"(<!-- checks -->\n).*?(<!-- end of checks -->)", re.DOTALL)
sys.path.insert(0, str(ROOT / "tests"))

from check_cases import CASES, REASONS, run, stated  # noqa: E402 (after the path)


def table() -> str:
    """Run all checks; return the table, and the reasons of those that fail."""
    lines = ["| estimator | passed | not for it | stated to fail |", "|---|---|---|---|"]
    seen: set[str] = set()
    for name, cases in CASES.items():
        for settings, estimator in cases:
            passed, skipped, failed = run(estimator)
            if unknown := failed.keys() - stated(name, settings):
                raise SystemExit(f"{name}({settings}) fails {sorted(unknown)}, not stated in tests/check_cases.py.")
            seen |= failed.keys()
            shown = ", ".join(f"`{check}`" for check in sorted(failed))
            lines.append(f"| `{name}({settings})` | {passed} | {skipped} | {shown} |")
            print(lines[-1], flush=True)
    versions = f"scikit-learn `{sklearn.__version__}`, NumPy `{np.__version__}`, Python `{platform.python_version()}`"
    why = [f"- `{check}`: {REASONS[check]}" for check in sorted(seen)]
    return "\n".join([f"Run with {versions} by `docs/write_checks.py`:", "", *lines, "", *why, ""])


def main() -> None:
    """Write the page."""
    text = PAGE.read_text(encoding="utf-8")
    found = table()
    PAGE.write_text(BETWEEN.sub(lambda parts: f"{parts[1]}\n{found}\n{parts[2]}", text), encoding="utf-8")


if __name__ == "__main__":
    main()
