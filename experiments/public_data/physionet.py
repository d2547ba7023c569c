"""Records of PhysioNet's MIT-BIH Arrhythmia Database: two 12-bit signals and the annotated beats.

The formats are described in the WFDB Programmer's Guide: the header (.hea) names the signals, format 212 (.dat)
packs two samples into three bytes, the MIT annotation format (.atr) is a sequence of 16-bit words.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["BEATS", "LEAD", "read_annotations", "read_signal", "windows"]

LEAD = "MLII"
BEATS = {1: "N", 2: "L", 3: "R", 5: "V"}  # annotation codes of the four kinds of beats kept
SKIP, NUM, SUB, CHN, AUX = 59, 60, 61, 62, 63  # pseudo-annotations
BEFORE, AFTER = 90, 110  # samples of a window before the R point, and from the R point on


def read_signal(header: Path, signals: Path) -> NDArray[np.int16]:
    """Read lead MLII, in the converter's units, from a record's header and its file in format 212.

    ::

        bytes b0 b1 b2:   signal 0 = b0 + 256 (b1 mod 16)    signal 1 = b2 + 256 (b1 div 16)    minus 4096 if >= 2048
    """
    lines = [line.split() for line in header.read_text(encoding="ascii").splitlines() if line and line[0] != "#"]
    length, described = int(lines[0][3]), lines[1:3]
    if [line[1] for line in described] != ["212", "212"]:
        raise ValueError("the record must hold two signals in format 212")
    packed = np.fromfile(signals, dtype=np.uint8).astype(np.int16)
    if len(packed) != 3 * length:
        raise ValueError(f"{signals.name} has {len(packed)} bytes, but its header declares {3 * length}")
    b0, b1, b2 = packed.reshape(-1, 3).T
    lead = [line[-1] for line in described].index(LEAD)
    signal = (b0 + 256 * (b1 % 16), b2 + 256 * (b1 // 16))[lead]
    return np.where(signal >= 2048, signal - 4096, signal).astype(np.int16)


def read_annotations(path: Path) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Read the sample and the code of every annotation of a file in the MIT format.

    Each word is a code (high 6 bits) and a distance in samples from the previous annotation (10 bits). SKIP is followed
    by a 32-bit distance, high word first; AUX by a text of that many bytes, padded to whole words; NUM, SUB and CHN
    modify the previous annotation; a zero word ends the file.
    """
    words = np.fromfile(path, dtype="<u2").tolist()
    samples, codes = [], []
    time, place = 0, 0
    while words[place] != 0:
        code, value = divmod(words[place], 1024)
        place += 1
        if code == SKIP:
            distance = (words[place] << 16) + words[place + 1]
            time += distance - (1 << 32) * (distance >> 31)
            place += 2
        elif code == AUX:
            place += (value + 1) // 2
        elif code not in {NUM, SUB, CHN}:
            time += value
            samples.append(time)
            codes.append(code)
    return np.array(samples, dtype=np.int64), np.array(codes, dtype=np.int64)


def windows(signal: NDArray[np.int16], samples: NDArray[np.int64]) -> NDArray[np.int16]:
    """Cut a window around each sample; beyond the ends of the record the end sample is repeated."""
    places = samples[:, None] + np.arange(-BEFORE, AFTER)
    return signal[np.clip(places, 0, len(signal) - 1)]
