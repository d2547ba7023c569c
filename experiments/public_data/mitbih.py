"""MIT-BIH Arrhythmia: ventricular ectopic beats against beats of normal conduction (A14 section 5)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from public_data.access import load_table
from public_data.bunch import in_scikit_learn_form
from public_data.checksums import verify
from public_data.download import fetch
from public_data.folder import VARIABLE
from public_data.physionet import BEATS, read_annotations, read_signal, windows
from public_data.size import check_size
from public_data.sources import SOURCES
from public_data.table import UNREADABLE, Table

__all__ = ["load_mitbih"]

RECORDS = (105, 106, 114, 116, 119, 124, 200, 201, 203, 205, 207, 208, 210, 213, 214, 215, 219, 221, 223, 228, 233)
MOST_MB = 4  # of one file of a record; the largest has 1.95 MB
FEATURES = [
    "rr_prev",
    "rr_next",
    "rr_local",
    "ratio_prev_local",
    "ratio_next_prev",
    "qrs_width",
    "r_amp",
    "qrs_max",
    "qrs_min",
    "qrs_ptp",
    "qrs_energy",
    "qrs_area",
    "max_slope",
    "pre_energy",
    "post_energy",
    "post_max",
    "post_min",
    "template_corr",
]
ADC_ZERO, ADC_PER_MV = 1024, 200


def load_mitbih(
    *,
    features: bool = True,
    records: Iterable[int] | None = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Load beats of the MIT-BIH Arrhythmia Database: normal conduction (N, L, R) 0, ventricular ectopic (V) 1.

    49948 beats of 21 records. Beats of one record come from one patient, so split by ``groups`` for a fair test.

    Parameters
    ----------
    features : bool, default=True
        True: 18 features per beat, derived for this library and available only from a data folder. False: the 200
        samples of lead MLII around the R point, in mV, also available from PhysioNet (40 MB).
    records : iterable of int, default=None
        The records to keep, such as ``(214, 221)``; None: all 21.
    return_X_y, as_frame : bool, default=False
        As in `load_letter`.

    Returns
    -------
    Bunch or (data, target)
        As returned by `load_letter`, with for each row ``groups``, its record, and ``sample``, the R point at 360 Hz;
        for windows also ``symbol``: N, L, R or V.
    """
    kept = _checked_records(records)
    if features:
        source = SOURCES["mitbih_features"]
        table = load_table(source, elsewhere=_no_public_features)
    else:
        source = SOURCES["mitbih_beats"]
        table = load_table(source, read_file=_read_beats, elsewhere=_beats_of_physionet)
    rows = np.isin(table.data[:, 0], kept)
    groups, sample = table.data[rows, :2].astype(np.int64).T
    data = table.data[rows, 2:]
    more: dict[str, Any] = {"groups": groups, "sample": sample}
    names = FEATURES
    if not features:
        more["symbol"] = np.array([chr(int(code)) for code in data[:, 0]])
        data = (data[:, 1:] - ADC_ZERO) / ADC_PER_MV
        names = [f"mv_{k:+d}" for k in range(-90, 110)]
    return in_scikit_learn_form(
        source,
        data.astype(np.float64),
        (table.target[rows] > 0).astype(np.int64),
        names,
        ["normal conduction", "ventricular ectopic"],
        return_X_y=return_X_y,
        as_frame=as_frame,
        **more,
    )


def _checked_records(records: Iterable[int] | None) -> list[int]:
    if records is None:
        return list(RECORDS)
    kept = list(records)
    if not kept or not set(kept) <= set(RECORDS):
        raise ValueError(
            f"records={kept!r} must be some of the 21 records {', '.join(map(str, RECORDS))}, or None for all of them."
        )
    return kept


def _no_public_features() -> Table:
    raise FileNotFoundError(
        f"the features of MIT-BIH beats were derived for this library, and no public source has them; set {VARIABLE} "
        f"to a folder that contains {SOURCES['mitbih_features'].file!r}, or use load_mitbih(features=False) for the "
        f"windows, which are cut from the records at {SOURCES['mitbih_beats'].url}."
    )


def _beats(record: NDArray[Any], sample: NDArray[Any], symbol: Iterable[str], window: NDArray[np.int16]) -> Table:
    """Convert beats to canonical form: record, sample, character code of the symbol, then the window."""
    codes = np.array([ord(kind) for kind in symbol], dtype=np.int32)
    data = np.column_stack([record.astype(np.int32), sample.astype(np.int32), codes, window])
    return Table(data, np.where(codes == ord("V"), 1, -1).astype(np.int64))


def _read_beats(path: Path) -> Table:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:  # NumPy does not close a damaged file
        return _beats(arrays["record"], arrays["sample"], arrays["symbol"], arrays["windows"])


def _beats_of_physionet() -> Table:
    source = SOURCES["mitbih_beats"]
    way_out = "delete the files mitdb-* in the cache to download them again"
    try:
        parts = [_beats_of_record(record) for record in RECORDS]
    except UNREADABLE as error:
        raise ValueError(f"the records of {source.url} cannot be read ({error}); {way_out}.") from error
    table = Table(np.concatenate([part.data for part in parts]), np.concatenate([part.target for part in parts]))
    verify(source.name, table, f"the download from {source.url}", way_out)
    return table


def _beats_of_record(record: int) -> Table:
    source = SOURCES["mitbih_beats"]
    header, signals, annotations = (
        fetch(source.name, f"{source.url}/{record}.{kind}", MOST_MB, f"mitdb-{record}.{kind}")
        for kind in ("hea", "dat", "atr")
    )
    for path in (header, signals, annotations):
        check_size(path, MOST_MB)
    sample, code = read_annotations(annotations)
    kept = np.isin(code, list(BEATS))
    symbol = [BEATS[k] for k in code[kept].tolist()]
    window = windows(read_signal(header, signals), sample[kept])
    return _beats(np.full(len(symbol), record), sample[kept], symbol, window)
