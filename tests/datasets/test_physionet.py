"""WFDB's formats, written here by their definition and read by the library."""

import csv
import gzip
from dataclasses import replace

import numpy as np
import pytest
from public_data import load_mitbih
from public_data.physionet import read_annotations, read_signal, windows
from public_data.sources import SOURCES

CODES = {"N": 1, "L": 2, "R": 3, "V": 5}
OTHER = 28  # a change of rhythm, in the database always with a text


def write_signal(folder, record, signals, leads):
    """Two samples of 12 bits in three bytes: low eight bits of the first, both high fours, low eight of the second."""
    first, second = (np.asarray(signal) % 4096 for signal in signals)
    packed = np.column_stack([first & 255, (second >> 8 << 4) | (first >> 8), second & 255]).astype(np.uint8)
    (folder / f"{record}.dat").write_bytes(packed.tobytes())
    lines = [
        f"{record} 2 360 {len(first)}",
        *(f"{record}.dat 212 200 11 1024 995 0 0 {lead}" for lead in leads),
        "# 69 M",
    ]
    (folder / f"{record}.hea").write_text("\n".join(lines) + "\n", encoding="ascii")


def write_annotations(path, annotations):
    """`annotations` are (sample, code, text); far apart they need SKIP."""
    words, time = [], 0
    for sample, code, text in annotations:
        distance = sample - time
        if not 0 <= distance < 1024:
            words += [59 << 10, (distance >> 16) & 0xFFFF, distance & 0xFFFF]
            distance = 0
        words.append(code << 10 | distance)
        if text:
            padded = text.encode() + b"\0" * (len(text) % 2)
            words += [63 << 10 | len(text), *np.frombuffer(padded, dtype="<u2").tolist()]
        time = sample
    path.write_bytes(np.array([*words, 0], dtype="<u2").tobytes())


@pytest.mark.parametrize("lead", [0, 1])
def test_a_signal_of_format_212(lead, tmp_path):
    signals = np.array([[0, 1, 255, 256, 2047, -1, -2048, 1024], [2047, -2048, 7, -7, 995, 1024, 16, 4095 - 4096]])
    write_signal(tmp_path, 7, signals, ["MLII", "V5"][:: 1 - 2 * lead])
    np.testing.assert_array_equal(read_signal(tmp_path / "7.hea", tmp_path / "7.dat"), signals[lead])


def test_a_record_cut_short_is_refused(tmp_path):
    write_signal(tmp_path, 7, np.zeros((2, 10), dtype=int), ["MLII", "V5"])
    (tmp_path / "7.dat").write_bytes((tmp_path / "7.dat").read_bytes()[:-3])
    with pytest.raises(ValueError, match=r"7.dat has 27 bytes, but its header declares 30"):
        read_signal(tmp_path / "7.hea", tmp_path / "7.dat")


def test_annotations_with_skips_texts_and_remarks(tmp_path):
    written = [(18, OTHER, "(N"), (77, 1, ""), (1100, 5, "odd"), (200000, 3, ""), (200000, 2, ""), (199990, 1, "")]
    write_annotations(tmp_path / "7.atr", written)
    words = np.fromfile(tmp_path / "7.atr", dtype="<u2").tolist()
    remarks = [60 << 10 | 3, 61 << 10 | 1, 62 << 10 | 1]  # NUM, SUB and CHN after the last annotation
    (tmp_path / "7.atr").write_bytes(np.array([*words[:-1], *remarks, 0], dtype="<u2").tobytes())
    samples, codes = read_annotations(tmp_path / "7.atr")
    assert samples.tolist() == [sample for sample, _, _ in written]
    assert codes.tolist() == [code for _, code, _ in written]


def test_windows_repeat_the_end_sample():
    cut = windows(np.arange(300, dtype=np.int16), np.array([95, 50, 250]))
    np.testing.assert_array_equal(cut[0], np.arange(5, 205))
    np.testing.assert_array_equal(cut[1], np.maximum(np.arange(-40, 160), 0))
    np.testing.assert_array_equal(cut[2], np.minimum(np.arange(160, 360), 299))


def publish(folder, data):
    """Write the 21 records again: the windows in their places on a flat line, and all annotations."""
    with np.load(data / "mitbih" / "beats.npz") as arrays:
        beats = {name: arrays[name] for name in ("windows", "record", "sample")}
    with gzip.open(data / "mitbih" / "annotations.csv.gz", "rt") as lines:
        notes = list(csv.reader(lines))[1:]
    for record in np.unique(beats["record"]).tolist():
        rows = beats["record"] == record
        signal = np.full(650000, 1000)
        places = beats["sample"][rows][:, None].astype(int) + np.arange(-90, 110)
        inside = (places >= 0) & (places < len(signal))
        signal[places[inside]] = beats["windows"][rows][inside]
        other = np.full(len(signal), 3)
        pair, leads = ([other, signal], ["V5", "MLII"]) if record == 114 else ([signal, other], ["MLII", "V1"])
        write_signal(folder, record, pair, leads)
        kept = [(int(sample), CODES.get(kind, OTHER), aux) for name, sample, kind, aux in notes if name == str(record)]
        write_annotations(folder / f"{record}.atr", kept)


def test_beats_from_the_public_records(public, data, monkeypatch):
    folder, address, cache = public
    expected = load_mitbih(features=False)
    monkeypatch.delenv("ABSTAIN_DATA")
    publish(folder, data)
    monkeypatch.setitem(SOURCES, "mitbih_beats", replace(SOURCES["mitbih_beats"], url=address))
    loaded = load_mitbih(features=False)
    for name in ("data", "target", "groups", "sample", "symbol"):
        np.testing.assert_array_equal(loaded[name], expected[name])

    altered = bytearray((cache / "mitdb-208.dat").read_bytes())
    altered[3 * int(expected.sample[expected.groups == 208][5])] ^= 1  # one bit, at an R point
    (cache / "mitdb-208.dat").write_bytes(altered)
    with pytest.raises(ValueError, match=r"does not hold the data set 'mitbih_beats'.*; delete the files mitdb-\* in"):
        load_mitbih(features=False)
    (cache / "mitdb-208.atr").write_bytes(b"\1\4" * 3)  # without its end
    with pytest.raises(
        ValueError, match=r"the records of http://127.0.0.1:\d+ cannot be read \(.*\); delete the files"
    ):
        load_mitbih(features=False)
