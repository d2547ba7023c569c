"""The data folder, and public sources that are served from this machine."""

import gzip
import os
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from sklearn.datasets import load_breast_cancer


@pytest.fixture
def data():
    """The data folder; the test is skipped where there is none."""
    if "ABSTAIN_DATA" not in os.environ:
        pytest.skip("ABSTAIN_DATA names no folder with the data")
    return Path(os.environ["ABSTAIN_DATA"])


@pytest.fixture
def no_folder(monkeypatch, data):
    """The data folder, for the test to make files of, while the library does not know of it."""
    monkeypatch.delenv("ABSTAIN_DATA")
    return data


@pytest.fixture
def wdbc_folder(tmp_path, monkeypatch):
    """A data folder with nothing but WDBC, written from scikit-learn's copy."""
    X, y = load_breast_cancer(return_X_y=True)
    rows = [",".join([*map(repr, row), str(1 - label)]) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    write_gzip(tmp_path / "wdbc.csv.gz", ["header", *rows])
    monkeypatch.setenv("ABSTAIN_DATA", str(tmp_path))
    return tmp_path


def write_gzip(path, lines):
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def public(tmp_path, monkeypatch):
    """Give a folder served over http from 127.0.0.1, its address, and an empty cache of downloads."""
    folder, cache = tmp_path / "public", tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setenv("ABSTAIN_CACHE", str(cache))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}", cache
        server.shutdown()
        thread.join()
