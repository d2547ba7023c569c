"""Count the attacks in the tests and write them to fuzz/results.json, from which docs/attacks.md has its numbers.

``python fuzz/count.py``, after `make native-test`; then ``python docs/write_numbers.py``. The runs of the fuzzers are
kept as they are in the file: they are entered by hand from what libFuzzer prints.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "fuzz" / "results.json"
FILES = {
    "damaged_files": "tests/files/test_damaged_files.py",
    "manifests": "tests/files/test_manifests.py",
    "mutations": "tests/files/test_mutations.py",
    "forgeries": "tests/files/test_forgeries.py",
    "forged_trees": "tests/files/test_forged_trees.py",
    "rejector_codec": "tests/files/test_rejector_codec.py",
    "csv_faults": "tests/cli/input/test_csv_faults.py",
    "csv_records": "tests/cli/input/test_csv_records.py",
    "encodings": "tests/cli/input/test_encoding.py",
    "typed_tables": "tests/cli/input/test_typed_tables.py",
    "atomic": "tests/files/test_atomic.py",
    "outputs": "tests/cli/output/test_files.py",
    "exit_codes": "tests/cli/test_exit_codes.py",
    "hostile_text": "tests/report/test_hostile_text.py",
    "sparse": "tests/test_compressed.py",
    "hard_cases": "tests/estimators/hard_cases",
    "memory": "tests/estimators/test_memory_limits.py",
    "downloads": "tests/datasets/test_public_sources.py",
}


def main() -> None:
    """Collect the tests, run the test of failing allocations, and write the counts."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0", *FILES.values()]
    collected = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    found = [line for line in collected.splitlines() if "::" in line]
    command = [str(ROOT / "build" / "native-test" / "test_allocation")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    places = [int(number) for number in re.findall(r"ran out in (\d+) places", printed)]
    corpus = [path for path in (ROOT / "fuzz" / "corpus").rglob("*") if path.is_file()]
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    counts = {
        "tests": {name: sum(test.startswith(path) for test in found) for name, path in FILES.items()},
        "allocations": sum(places),
        "corpus": len(corpus),
        "runs": known.get("runs", {}),
    }
    RESULTS.write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")


main()
