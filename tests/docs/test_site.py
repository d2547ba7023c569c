"""The site is built by Sphinx without a warning and asks for nothing from elsewhere; a fault stops the build."""

import re

import pytest

pytest.importorskip("sphinx", reason="Sphinx is not installed; `make docs` brings it")
pytest.importorskip("furo", reason="the site's theme is not installed; `make docs` brings it")
FETCHED = re.compile(r'<(?:script|img|iframe|link)\b[^>]*\s(?:src|href)="(?:https?:)?//')
pytestmark = pytest.mark.filterwarnings("ignore")  # of Sphinx and its extensions; their own are errors of the build


def test_the_site_is_built_without_a_warning_and_asks_for_nothing_from_elsewhere(site, capsys):
    site.gather()
    site.draw()
    assert site.build("html") == 0, capsys.readouterr().err
    pages = {page.name: page.read_text(encoding="utf-8") for page in site.SITE.rglob("*.html")}
    assert len(pages) > 60
    assert [name for name, text in pages.items() if FETCHED.search(text)] == []
    assert pages["theory.html"].count("<math") > 100
    assert "<!--" not in pages["benchmarks.html"].split("<article", 1)[1].split("</article", 1)[0]


@pytest.mark.parametrize(
    "tag", ['<script defer src="https://x/m.js">', '<link rel="stylesheet" href="//x/f.css">', '<img src="http://x/y">']
)
def test_what_is_fetched_from_elsewhere_is_found(tag):
    assert FETCHED.search(tag)


@pytest.mark.parametrize(
    ("page", "fault"),
    [("[x](nowhere.md)", "nowhere"), ("", None)],
    ids=["an unknown page", "no fault"],
)
def test_a_fault_stops_the_build(site, page, fault, capsys):
    site.SOURCE.mkdir()
    (site.SOURCE / "index.md").write_text(f"# A page\n\nWords. {page}\n", encoding="utf-8")
    code = site.build("html")
    assert (code == 0) == (fault is None)
    assert fault is None or fault in capsys.readouterr().err


WIDE = """# A page

$$
x = {sum}
$$

| {head} |
| {rule} |
| {body} |

```pycon
>>> {code}
```

## One heading

## Another heading
"""


def test_nothing_is_wider_than_the_screen(site, browser):
    site.SOURCE.mkdir()
    names = {"head": "column", "rule": "---", "body": "1.0 ± 0.1"}
    columns = {part: " | ".join([text] * 16) for part, text in names.items()}
    page = WIDE.format(sum=" + ".join(["x_1"] * 60), code=" + ".join(["1.0"] * 60), **columns)
    (site.SOURCE / "index.md").write_text(page, encoding="utf-8")
    assert site.build("html") == 0
    for width in (390, 800, 1366, 1500):
        shown = browser.new_page(viewport={"width": width, "height": 800})
        shown.goto((site.SITE / "index.html").as_uri())
        assert shown.locator("table").count() == shown.locator("math").count() == 1
        for box in ("document.documentElement", "document.querySelector('.content')"):
            assert shown.evaluate(f"{box}.scrollWidth - {box}.clientWidth") <= 0, (width, box)
        for part in (".table-wrapper", "div.math", "pre"):  # they scroll inside their own boxes
            inside = f"document.querySelector('{part}')"
            assert shown.evaluate(f"{inside}.scrollWidth > {inside}.clientWidth"), (width, part)
            assert shown.evaluate(f"getComputedStyle({inside}).overflowX") == "auto"
        shown.close()
