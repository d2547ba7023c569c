"""The site is built by Sphinx without a warning, asks for nothing from elsewhere, and an unknown number stops it."""

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
    assert "{number}" not in pages["benchmarks.html"]


@pytest.mark.parametrize(
    "tag", ['<script defer src="https://x/m.js">', '<link rel="stylesheet" href="//x/f.css">', '<img src="http://x/y">']
)
def test_what_is_fetched_from_elsewhere_is_found(tag):
    assert FETCHED.search(tag)


@pytest.mark.parametrize(
    ("page", "fault"),
    [("{number}`benchmarks:nowhere`", "cannot be resolved at 'nowhere'"), ("[x](nowhere.md)", "nowhere"), ("", None)],
    ids=["an unknown number", "an unknown page", "no fault"],
)
def test_a_fault_stops_the_build(site, page, fault, capsys):
    site.SOURCE.mkdir()
    (site.SOURCE / "index.md").write_text(f"# A page\n\nWords. {page}\n", encoding="utf-8")
    code = site.build("html")
    assert (code == 0) == (fault is None)
    assert fault is None or fault in capsys.readouterr().err
