"""Facts about the machine of a measurement."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("abstain", "numpy", "scipy", "scikit-learn", "scikit-learn-intelex")


def facts() -> dict[str, str]:
    """Processor, cores, memory, system, compiler, versions and day."""
    found = {
        "day": datetime.now(tz=UTC).date().isoformat(),
        "processor": _processor(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "python": platform.python_version(),
        "compiler": _compiler(),
    }
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "absent"
    return found


def _processor() -> str:
    """The model by name, and the widest vectors it has, because many virtual machines hide the model."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    flags = next((set(line.split()) for line in lines if line.startswith("flags")), set[str]())
    vectors = next((name for name in ("avx512f", "avx2", "avx", "sse4_2") if name in flags), "no vector flags")
    return f"{names[0] if names else platform.machine()} ({vectors})"


def _compiler() -> str:
    gcc = shutil.which("g++")
    return subprocess.check_output([gcc, "--version"], text=True).splitlines()[0] if gcc else "unknown"
