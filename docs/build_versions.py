"""Put the site of every released version beside that of main into build/versions: ``python docs/build_versions.py``.

``make docs`` comes first and builds the site of main. A version is a tag such as v1.2.3, built from its own files in
its own environment, by its own ``make docs``. ``index.html`` leads to the newest release, or to main if there is none.
Every page has a list of all versions, those included that are newer than its own.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
TARGET = BUILD / "versions"
VERSION = re.compile(r"v(\d+)\.(\d+)\.(\d+)\Z")  # no candidates for a release


def released(tags: list[str]) -> list[str]:
    """The newest patch of each minor version, newest first."""
    found: dict[tuple[int, int], tuple[int, str]] = {}
    for tag in tags:
        if parts := VERSION.match(tag):
            major, minor, patch = map(int, parts.groups())
            found[major, minor] = max(found.get((major, minor), (-1, "")), (patch, tag))
    return [found[key][1] for key in sorted(found, reverse=True)]


def front_page(names: list[str]) -> str:
    """A page that leads to the first of the versions, and lists all."""
    links = "".join(f'<li><a href="{escape(name)}/">{escape(name)}</a></li>' for name in names)
    first = escape(names[0])
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>abstain</title>'
        f'<meta name="viewport" content="width=device-width"><meta http-equiv="refresh" content="0; url={first}/">'
        f"<p>abstain, by version:</p><ul>{links}</ul></html>\n"
    )


def listed(page: str, names: list[str], own: str, depth: int) -> str:
    """The text of a page of one version, ``depth`` folders below that version's own, with links to all versions."""
    up = "../" * (depth + 1)
    links = "".join(f'<a style="margin-left: .6em" href="{up}{escape(name)}/">{escape(name)}</a>' for name in names)
    versions = (
        f'<details class="versions" style="padding: .5em 1em"><summary>Version {escape(own)}</summary>{links}</details>'
    )
    at = page.find('<div class="sidebar-tree">')  # of the theme furo; else at the end
    at = at if at >= 0 else max(page.rfind("</body>"), 0)
    return page[:at] + versions + page[at:]


def build(tag: str) -> None:
    """Build the site of a tag and copy it."""
    source = BUILD / "versions-source" / tag
    called("git", "-C", ROOT, "worktree", "add", "--detach", "--force", source, tag)
    try:
        called("make", "-C", source, "docs")
        shutil.copytree(source / "build" / "site", TARGET / tag)
    finally:
        called("git", "-C", ROOT, "worktree", "remove", "--force", source)


def called(*command: object) -> str:
    """Run a command; return what it prints."""
    done = subprocess.run([*map(str, command)], stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603 (our own)
    return done.stdout


def main() -> None:
    """Build all."""
    shutil.rmtree(TARGET, ignore_errors=True)
    shutil.copytree(BUILD / "site", TARGET / "main")
    tags = released(called("git", "-C", ROOT, "tag", "--list", "v*").split())
    for tag in tags:
        build(tag)
    names = [*tags, "main"]
    for name in names:
        for path in (TARGET / name).rglob("*.html"):
            depth = len(path.relative_to(TARGET / name).parts) - 1
            path.write_text(listed(path.read_text(encoding="utf-8"), names, name, depth), encoding="utf-8")
    (TARGET / "index.html").write_text(front_page(names), encoding="utf-8")


if __name__ == "__main__":
    main()
