"""Draw the pictures of docs/after_the_reject.md from its own commands: ``python docs/build_after.py``.

It needs LibreOffice and pdftoppm for the workbook, and Chromium with playwright for the report.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageChops  # matplotlib brings it

DOCS = Path(__file__).resolve().parent
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)
COLOURS = 64  # of a picture: the repository keeps every version


def run(command: str) -> None:
    """Run a line of the page, without the shell."""
    subprocess.run([sys.executable, "-m", *shlex.split(command)], check=True, capture_output=True)  # noqa: S603 - ours


def follow(page: str) -> None:
    """Run the scripts and commands of the page, in this folder; reviews are written as workbooks too."""
    names: dict[str, object] = {}
    for kind, block in BLOCK.findall(page):
        if kind == "python":
            exec(compile(block, "page", "exec"), names)  # noqa: S102 - our own text
            continue
        for line in block.splitlines():
            command = line.removeprefix("$ ")
            run(command)
            if "--review cases.csv" in command:
                run(f"{command.replace('cases.csv', 'cases.xlsx')} --force")


def workbook(path: Path, picture: Path, size: tuple[int, int]) -> None:
    """Draw the upper left part of the first sheet, as LibreOffice prints it."""
    folder = path.parent / "office"
    office = ["soffice", f"-env:UserInstallation=file://{folder / 'profile'}", "--headless"]
    subprocess.run([*office, "--convert-to", "pdf", "--outdir", folder, path], check=True, capture_output=True)  # noqa: S603
    drawn = folder / "page"
    subprocess.run(["pdftoppm", "-r", "100", "-png", "-f", "1", "-l", "1", "-singlefile", folder / f"{path.stem}.pdf", drawn], check=True)  # noqa: E501, S603, S607
    image = Image.open(drawn.with_suffix(".png")).convert("RGB")
    left, top, _, _ = ImageChops.difference(image, Image.new("RGB", image.size, "white")).getbbox() or (0, 0, 0, 0)
    image.crop((left - 10, top - 10, left + size[0], top + size[1])).quantize(COLOURS).save(picture, optimize=True)


def report(path: Path, picture: Path, reviewed: int) -> None:
    """Draw the slider of the report at a number of reviewed rows."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 900, "height": 900})
        page.goto(path.as_uri())
        slider, reading = page.locator("#capacity"), page.locator('[data-review="reviewed"]').first
        for place in range(int(slider.get_attribute("max") or 0)):  # places are steps of about one in 250 rows
            slider.fill(str(place))
            if int(reading.text_content() or 0) >= reviewed:
                break
        page.locator("section", has=page.locator("#capacity")).screenshot(path=picture)
        browser.close()
    Image.open(picture).convert("RGB").quantize(COLOURS).save(picture, optimize=True)


def main() -> None:
    """Draw both pictures."""
    text = (DOCS / "after_the_reject.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        follow(text)
        workbook(Path(folder) / "cases.xlsx", DOCS / "after_cases.png", (1210, 560))
        report(Path(folder) / "report.html", DOCS / "after_capacity.png", 50)


if __name__ == "__main__":
    main()
