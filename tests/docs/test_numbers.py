"""Every measured number on the pages is written from a results file; none is typed.

The rule: in the prose of a page a number is chosen, derived or measured. Chosen and derived ones stand in code or in a
formula, measured ones have a comment that says where they are from, and a bare number that looks measured is refused.
"""

import json
import re

import pytest

from docs.pages import PAGES, measured_literals, write_numbers


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_the_numbers_are_those_of_the_results(page):
    assert write_numbers.written(page.text) == page.text, "run python docs/write_numbers.py"


def test_there_are_references():
    assert sum(len(page.numbers()) for page in PAGES) >= 5


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_code_host_shows_no_raw_roles_or_labels(page):
    shown = re.sub(r"<!--.*?-->", "", page.text, flags=re.DOTALL)
    assert re.findall(r"\{[\w:-]+\}`|^```+\{.*|^:::.*|^\([\w-]+\)=$", shown, re.MULTILINE) == []
    for line in page.text.splitlines():  # a comment that starts a line would end the paragraph
        assert not line.lstrip(" -*").startswith("<!--number")


def test_stale_numbers_are_found_and_written(results):
    page = "It takes 9\N{NO-BREAK SPACE}%<!--number benchmarks:share:.1%--> of (8<!--number benchmarks:change-->)."
    new = write_numbers.written(page, results)
    shown = write_numbers.without_references(new)
    assert shown == "It takes 12.3\N{NO-BREAK SPACE}% of (−0.5)."
    assert write_numbers.written(new, results) == new


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_no_measured_number_is_typed(page):
    assert measured_literals(page.text) == []


@pytest.mark.parametrize(
    "typed",
    [
        "It rejects 17 % of the rows.",
        "It rejects 7% of the rows.",
        "A fit takes 0.4 seconds.",
        "A fit takes 3 s.",
        "It is 12 times as fast.",
        "It is 9 times as fast.",
        "The embedded machine wins 70 of 78 pairs.",
        "It wins 4 to 6 pairs.",
        "A gap of 6 to 47 % remains.",
        "The risk falls by 30 to 42 %.",
        "It needs 1,024 rows.",
        "The mean cost is 0.082, not 0.084.",
        "| double hinge | 0.063 |",
        "(about 193 pairs)",
        "It took 12.5 ms (best of 3 runs).",
    ],
)
def test_the_rule_has_teeth(typed):
    assert measured_literals(typed)


@pytest.mark.parametrize(
    "allowed",
    [
        "A price of `0.3` and $r = 0.24$, on `1024` rows.",
        "416<!--number benchmarks:memory.peak_mb:.0f--> MB, 7.1\N{NO-BREAK SPACE}%<!--number 1/benchmarks:a.b:.1%-->.",
        "In 1970 Chow; in FR02 and GRKC08, A14 (21) and (22), figure 10 and table 1.",
        "float64, C++20, x86-64-v4, SHA-256",
        "Three sets; one case in ten.",
        "1. First\n2. Second\n",
        "```pycon\n>>> 0.1 + 0.2\n0.30000000000000004\n```",
        "[a link](page-2014.html#a-15-b)",
        "$$\nx = 0.5\n$$",
    ],
)
def test_the_rule_allows_numbers_that_are_not_measurements(allowed):
    assert measured_literals(allowed) == []


@pytest.fixture
def results(tmp_path):
    (tmp_path / "benchmarks").mkdir()
    means = [{"name": "a b, 1 thread", "ratio": 0.125}, {"name": "c", "ratio": 2}]
    held = {"means": means, "share": 0.123, "status": "ok", "day": "2026-11-15", "change": -0.5}
    held |= {"prices": [0.5, 0.4], "cost": [7, 8], "all": {"0.45": {"wins": 3}}}
    (tmp_path / "benchmarks" / "results.json").write_text(json.dumps(held), encoding="utf-8")
    (tmp_path / "experiments" / "x-1").mkdir(parents=True)
    (tmp_path / "experiments" / "x-1" / "results.json").write_text(json.dumps({"n": {"rows": 20114}}), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("benchmarks:means[name=a b, 1 thread].ratio:.2f", "0.12"),
        ("1/benchmarks:means[name=a b, 1 thread].ratio:.0f", "8"),
        ("benchmarks:means[name=c&ratio=2].ratio", "2"),
        ("benchmarks:means.1.ratio", "2"),
        ("benchmarks:share:.1%", "12.3\N{NO-BREAK SPACE}%"),
        ("benchmarks:cost[prices=0.4]", "8"),
        ("benchmarks:change:.1f", "−0.5"),
        ("benchmarks:all['0.45'].wins", "3"),
        ("benchmarks:day", "2026-11-15"),
        ("benchmarks:status", "ok"),
        ("x-1:n.rows:,", "20,114"),
    ],
)
def test_a_reference_is_the_number_it_leads_to(results, reference, text):
    assert write_numbers.resolve(reference, results) == text


@pytest.mark.parametrize(
    ("reference", "match"),
    [
        ("benchmarks", "not of the form"),
        ("nothing:a.b", "no results for 'nothing': experiments/nothing/results.json does not exist"),
        ("benchmarks:means[name=d].ratio", r"cannot be resolved at '\[name=d\]'"),
        ("benchmarks:means[name=c&ratio=3].ratio", r"cannot be resolved at '\[name=c&ratio=3\]'"),
        ("benchmarks:means.7.ratio", "cannot be resolved at '7'"),
        ("benchmarks:shares", r"cannot be resolved at 'shares'; found \['means', 'share', 'status', .*\]"),
        ("benchmarks:cost[prices=0.3]", r"cannot be resolved at '\[prices=0.3\]'; found a list"),
        ("benchmarks:means", "is a list, not a number"),
    ],
)
def test_a_reference_that_leads_nowhere_says_where(results, reference, match):
    with pytest.raises(LookupError, match=match):
        write_numbers.resolve(reference, results)
