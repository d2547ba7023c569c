"""Fuzz one target for some seconds: ``python fuzz/run.py TARGET SECONDS``, as `make fuzz` does for all of them.

libFuzzer, by way of atheris, keeps the inputs that reach new code in build/fuzz/TARGET, beginning with those of
fuzz/corpus/TARGET; an input that breaks something is written to build/fuzz/found. Add it to the corpus, which
tests/test_fuzz_corpus.py replays.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "fuzz"
TARGETS = ("model_files", "tables", "native")
SANITIZED = {
    "UBSAN_OPTIONS": "abort_on_error=1:print_stacktrace=1",
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
    "PYTHONMALLOC": "malloc",
}


def main() -> None:
    """Fuzz the target named on the command line."""
    target, seconds = sys.argv[1], int(sys.argv[2])
    if target not in TARGETS:
        raise SystemExit(f"TARGET {target!r} must be one of {', '.join(TARGETS)}")
    if target == "native" and "LD_PRELOAD" not in os.environ:
        # libstdc++ as well: the sanitizer finds the function that throws when it starts
        libraries = " ".join(_library(name) for name in ("libasan.so", "libstdc++.so"))
        environment = os.environ | SANITIZED | {"LD_PRELOAD": libraries}
        os.execve(sys.executable, [sys.executable, *sys.argv], environment)  # noqa: S606 (itself again)
    os.nice(10)
    import atheris

    sys.path.insert(0, str(HERE))
    # the counters of the compiled core take the place of coverage in Python
    with contextlib.nullcontext() if target == "native" else atheris.instrument_imports(include=["abstain"]):
        module = importlib.import_module(target)
    kept, found = BUILD / target, BUILD / "found"
    kept.mkdir(parents=True, exist_ok=True)
    found.mkdir(exist_ok=True)
    options = [
        f"-max_total_time={seconds}",
        f"-max_len={module.LONGEST}",
        f"-artifact_prefix={found}/{target}-",
        "-len_control=0",
        "-timeout=20",
        "-rss_limit_mb=3000",
        "-print_final_stats=1",
    ]
    words = HERE / f"{target}.dict"
    options += [f"-dict={words}"] if words.exists() else []
    native = _sanitized_core() if target == "native" else None

    def run(data: bytes) -> None:
        module.run(data) if native is None else module.run(data, native)

    def mutate(data: bytes, longest: int, seed: int) -> bytes:
        return module.mutate(bytes(data), seed, lambda raw: atheris.Mutate(raw, longest))[:longest]

    extra = {"custom_mutator": mutate} if hasattr(module, "mutate") else {}
    folders = [kept, HERE / "corpus" / target, *getattr(module, "SEEDS", ())]
    atheris.Setup([sys.argv[0], *options, *map(str, folders)], run, **extra)
    atheris.Fuzz()


def _library(name: str) -> str:
    command = ["g++", f"-print-file-name={name}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _sanitized_core() -> Any:
    """The core built under the sanitizers, with its counters handed to libFuzzer."""
    from atheris import core_with_libfuzzer

    (path,) = BUILD.glob("_native*.so")
    spec = importlib.util.spec_from_file_location("_native", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} cannot be imported")
    native = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(native)
    core, fuzzer = ctypes.CDLL(str(path)), ctypes.CDLL(core_with_libfuzzer.__file__)
    for name in ("abstain_counters", "abstain_counter_count", "abstain_counter_table"):
        getattr(core, name).restype = ctypes.c_size_t
    count, counters, table = core.abstain_counter_count(), core.abstain_counters(), core.abstain_counter_table()
    for name, start, size in (("8bit_counters", counters, 1), ("pcs", table, 2 * ctypes.sizeof(ctypes.c_size_t))):
        initialise = getattr(fuzzer, f"__sanitizer_cov_{name}_init")
        initialise(ctypes.c_size_t(start), ctypes.c_size_t(start + count * size))
    return native


main()
