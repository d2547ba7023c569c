"""Write the sets of a judgement as Parquet, for a machine without the packages: export.py FOLDER [first|second]."""

import sys
from pathlib import Path

from measure_reading import keep_rows
from measure_sets import JUDGEMENTS

if __name__ == "__main__":
    folder, which = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "second"
    folder.mkdir(parents=True, exist_ok=True)
    for name, item in JUDGEMENTS[which].sets.items():
        keep_rows(folder / f"{name}.parquet", *item.load())
