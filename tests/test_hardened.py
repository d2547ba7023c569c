"""The compiled module was built with the protections that CMakeLists.txt turns on."""

import platform
import shutil
import subprocess
import sys
from importlib.util import find_spec

import pytest

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the protections are those of ELF files"),
    pytest.mark.skipif(shutil.which("readelf") is None, reason="readelf is not installed"),
]


def listed(option, path=None):
    path = path or find_spec("abstain._native").origin
    command = [shutil.which("readelf"), option, "-W", path]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603


def protections(path=None):
    dynamic, segments, symbols = (listed(option, path) for option in ("-d", "-l", "--dyn-syms"))
    stack = next(line for line in segments.splitlines() if "GNU_STACK" in line)
    return {
        "every symbol is bound when it is loaded": "BIND_NOW" in dynamic,
        "its tables are read-only then": "GNU_RELRO" in segments,
        "the stack is not executable": "RWE" not in stack,
        "stacks are protected": "__stack_chk_fail" in symbols,
        "library calls check sizes": "__memcpy_chk" in symbols or "__snprintf_chk" in symbols,
    }


def test_the_module_is_hardened():
    if platform.libc_ver()[0] != "glibc":
        pytest.skip("checked library calls are those of glibc")
    assert [name for name, holds in protections().items() if not holds] == []


def test_a_module_without_protections_would_be_seen(tmp_path):
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("a C++ compiler is not installed")
    (tmp_path / "plain.cpp").write_text('extern "C" int f() { return 1; }', encoding="utf-8")
    flags = ["-shared", "-fPIC", "-fno-stack-protector", "-Wl,-z,lazy", "-Wl,-z,norelro"]
    command = [compiler, *flags, str(tmp_path / "plain.cpp"), "-o", str(tmp_path / "plain.so")]
    subprocess.run(command, check=True)  # noqa: S603
    missing = [name for name, holds in protections(tmp_path / "plain.so").items() if not holds]
    assert len(missing) == 4  # all but the stack
