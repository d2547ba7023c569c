"""Labels and names that try to be programs: shown as text, never run. A careless page, as a control, is taken over."""

import numpy as np
import pytest

from abstain import Costs
from abstain.report import Report, render
from report.reported import comparison_of

pytestmark = pytest.mark.long  # a browser opens a page for each of them

ATTACKS = {
    "end tag": "</script><script>window.taken = 1; alert(1)</script>",
    "image": '<img src="x" onerror="window.taken = 1">',
    "attribute": "\"'><svg onload=window.taken=1>",
    "comment": "<!--<script>",
    "template": "{{ 7 * 7 }}{% raw %}${7*7}",
    "line end": "a\u2028b\u2029c\r\n\x00d",
    "right to left": "\u202egnp.exe\u202c \u200f\u2066x",
    "surrogate": "lone \ud800 surrogate",
    "address": "javascript:window.taken=1",
    "formula": "=cmd|' /C calc'!A0",
    "path": "../../x",
    "long": "w" * 20_000,
    "entity": "&lt;b&gt;&amp;",
}


def hostile(text):
    """A report with the text in every place that takes one."""
    n = 40
    score = np.linspace(-3, 3, n)
    y = np.array([text, text + "!"], dtype=object)[(score + np.tile([-1, 1], n // 2) > 0).astype(int)]
    costs = Costs(1, 2, 0.3)
    return Report.of(
        y,
        score,
        costs,
        costs.score_thresholds(),
        title=text,
        question=text,
        data_facts={text: text},
        model_facts={text: text},
        comparison=comparison_of({text: [0.1, 0.3], "other": [0.5, 0.1]}, left_out=((text, text),)),
        row_names=[text] * n,
        warnings=[text],
    )


@pytest.mark.parametrize("text", ATTACKS.values(), ids=ATTACKS.keys())
def test_text_stays_text(open_report, text):
    seen = open_report(hostile(text), width=360)
    page = seen.page
    page.locator("#typed").fill("0.2")
    assert page.evaluate("window.taken") is None
    assert page.locator("script").count() == 4
    assert page.locator("img, iframe, object, embed, :not(.plot) > svg, [onerror], [onload]").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    if text.isascii() and len(text) <= 60 and text.isprintable():
        for place in ("h1", ".lead", ".warnings li", ".rejected tbody td:first-child", ".facts dt", ".rules tbody th"):
            assert text in page.locator(place).all_text_contents()
        assert {text, f"{text}!"} <= set(page.locator("bdi.below, bdi.above").all_text_contents())


def test_what_turns_the_direction_is_shown_and_turns_nothing(open_report):
    seen = open_report(hostile(ATTACKS["right to left"]))
    assert seen.page.locator("h1").text_content() == "⟨U+202E⟩gnp.exe⟨U+202C⟩ ⟨U+200F⟩⟨U+2066⟩x"


@pytest.mark.parametrize("name", ["end tag", "image"])
def test_the_control_is_taken_over(open_file, tmp_path, name):
    path = tmp_path / "careless.html"
    path.write_text(f'<p>{ATTACKS[name]}</p><script>const label = "{ATTACKS[name]}";</script>', encoding="utf-8")
    seen = open_file(path)
    seen.page.wait_for_function("window.taken === 1")


def test_the_judge_sees_requests_and_complaints(open_file, tmp_path):
    path = tmp_path / "loud.html"
    loud = '<img src="http://127.0.0.1:9/x.png"><script>console.log("loud"); nowhere()</script>'
    path.write_text(loud, encoding="utf-8")
    seen = open_file(path)
    assert "http://127.0.0.1:9/x.png" in seen.requests
    assert any("loud" in text for text in seen.complaints)
    assert any("nowhere" in text for text in seen.complaints)


def test_the_policy_stops_a_program_that_got_in(open_file, tmp_path):
    intruder = "<script>window.taken = 1</script><img src=http://127.0.0.1:9/x>"
    page = render(hostile("ok")).replace("</main>", f"{intruder}</main>")
    path = tmp_path / "entered.html"
    path.write_text(page, encoding="utf-8")
    seen = open_file(path)
    assert seen.page.evaluate("window.taken") is None
    for kind in ("script-src", "img-src"):
        assert any("Content Security Policy" in text and kind in text for text in seen.complaints)
