"""The file: complete, escaped, its policy true to its program; written whole or not at all."""

import base64
import builtins
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from abstain import Costs
from abstain.report import render, write_report
from report.reported import report_of, rows


class Elements(HTMLParser):
    """Every element with its attributes, and the texts of scripts and styles, as a browser's parser sees them."""

    def __init__(self, page):
        super().__init__()
        self.found, self.texts = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.found and self.found[-1][0] in ("script", "style"):
            self.texts.append((self.found[-1], data))


@pytest.fixture(scope="module")
def page():
    return render(report_of(Costs(1, 5, 0.3), title="</title><script>1</script>", row_names=["</script>"] * 400))


def test_the_policy_names_the_page_s_own_program_and_style(page):
    parsed = Elements(page)
    policy = next(attrs["content"] for _, attrs in parsed.found if "http-equiv" in attrs)
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    named = set(re.findall(r"'sha256-([^']+)'", policy))
    inside = [text for (tag, attrs), text in parsed.texts if (tag == "style" or not attrs) and text.strip()]
    assert named == {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inside}
    assert len(named) == 3  # two scripts and the style


def test_the_page_names_no_address_and_no_handler(page):
    for tag, attrs in Elements(page).found:
        assert not any(name.startswith("on") or name in ("src", "style", "action") for name in attrs), (tag, attrs)
        assert attrs.get("href", "#").startswith(("#", "data:,")), (tag, attrs)
    assert set(re.findall(r"https?://[^\s\"'<]+", page)) <= {"http://www.w3.org/2000/svg"}


def test_the_data_hold_every_bit_of_the_scores(page):
    start = page.index('id="data">') + len('id="data">')
    text = page[start : page.index("</script>", start)]
    assert not set("<>&") & set(text)
    data = json.loads(text)
    scores = np.frombuffer(base64.b64decode(data["steps"]["score"]), dtype="<f8")
    np.testing.assert_array_equal(scores, np.sort(rows()[1]))


def test_twenty_thousand_rows_stay_light():
    y, score = rows(n=20_000)
    rng = np.random.default_rng(0)
    page = render(report_of(Costs(1, 5, 0.3), y=y, score=score + rng.normal(size=len(score)) * 1e-3))
    assert len(page) < 500_000


def test_more_rows_make_no_larger_file():
    y, score = rows(n=60_000)
    assert len(render(report_of(Costs(1, 5, 0.3), y=y, score=score))) < 200_000


def test_a_file_is_replaced_only_if_told_so(tmp_path):
    path = tmp_path / "report.html"
    report = report_of(Costs(1, 5, 0.3), title="first")
    assert write_report(report, str(path)) == path
    with pytest.raises(FileExistsError, match=r"report\.html exists; pass force=True to replace it, or use another"):
        write_report(report_of(Costs(1, 5, 0.3), title="second"), path)
    assert "first" in path.read_text(encoding="utf-8")
    write_report(report_of(Costs(1, 5, 0.3), title="second"), path, force=True)
    assert "<title>second</title>" in path.read_text(encoding="utf-8")
    assert [other.name for other in tmp_path.iterdir()] == ["report.html"]


def test_a_failure_leaves_the_old_file_and_no_draft(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_report(report_of(Costs(1, 5, 0.3)), path, force=True)
    assert path.read_text(encoding="utf-8") == "old"
    assert [other.name for other in tmp_path.iterdir()] == ["report.html"]


def test_without_jinja2_an_error_says_what_to_install(monkeypatch):
    imported = builtins.__import__

    def without(name, *rest):
        if name == "jinja2":
            raise ImportError(name)
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'abstain\[report\]'"):
        render(report_of(Costs(1, 5, 0.3)))
