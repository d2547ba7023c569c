"""The inputs of the fuzzers in fuzz/corpus, replayed: seeds, and everything that once broke something."""

import importlib.util
import random
import time
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
FUZZ = HERE.parent / "fuzz"
TARGETS = ("model_files", "tables", "native")


def target(name):
    spec = importlib.util.spec_from_file_location(f"fuzz_{name}", FUZZ / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def inputs(name):
    found = sorted((FUZZ / "corpus" / name).iterdir())
    return found + sorted((HERE / "files" / "data").glob("*.abstain")) if name == "model_files" else found


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_of_the_corpus_breaks_anything(name):
    run = target(name).run
    accepted = [run(path.read_bytes()) for path in inputs(name)]
    assert True in accepted  # an input that is always refused early tests little
    assert False in accepted


def test_mutated_model_files_are_refused_or_written_again():
    """What `make fuzz` does for minutes, without coverage: a thousand forgeries with right checksums."""
    fuzz, rng = target("model_files"), random.Random(0)  # noqa: S311
    files = [path.read_bytes() for path in inputs("model_files")]

    def bytewise(data):
        at = rng.randrange(len(data))
        return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]

    end, accepted = time.monotonic() + 1, []
    while time.monotonic() < end and len(accepted) < 1000:
        accepted.append(fuzz.run(fuzz.mutate(rng.choice(files), len(accepted), bytewise)))
    assert 0 < sum(accepted) < len(accepted) / 2


def test_the_corpus_is_small():
    files = [path for name in TARGETS for path in (FUZZ / "corpus" / name).iterdir()]
    assert sum(path.stat().st_size for path in files) < 300_000
    assert len(files) < 150


def test_a_broken_loader_would_be_found(monkeypatch):
    """The control: a loader that accepts what the library would not write."""
    fuzz = target("model_files")
    data = (HERE / "files" / "data" / "0.2.0-machine.abstain").read_bytes()
    assert fuzz.run(data)
    other = (HERE / "files" / "data" / "0.2.0-linear.abstain").read_bytes()
    read = fuzz.read
    monkeypatch.setattr(fuzz, "read", lambda file, _, most: read(type(file)(other), len(other), most))
    with pytest.raises(AssertionError, match="would write differently"):
        fuzz.run(data)


def test_a_reader_that_loses_a_cell_would_be_found(monkeypatch):
    """The control: a reader that loses the first cell of each row."""
    fuzz = target("tables")
    assert fuzz.run(b"\0\0a,b,y\n1,,x\n2,u,z\n")
    monkeypatch.setattr(fuzz.csv_records.Records, "_without_quotes", lambda *_: None)
    monkeypatch.setattr(fuzz.csv_records.Records, "_frame", without_first_cells)
    with pytest.raises(AssertionError, match="differ from those"):
        fuzz.run(b"\0\0a,b,y\n1,,x\n2,u,z\n")


def without_first_cells(records, rows):
    import polars as pl

    schema = dict.fromkeys(records.columns, pl.String)
    return pl.DataFrame([["", *row[1:]] for row in rows], schema=schema, orient="row")


def test_a_native_error_of_another_type_would_be_found():
    """The control: a core that raises what is not allowed."""
    fuzz = target("native")

    class Broken:
        def __getattr__(self, name):
            def call(**_):
                raise RuntimeError(name)

            return call

    with pytest.raises(RuntimeError):
        fuzz.run(b"\0", Broken())
