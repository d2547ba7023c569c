"""The pages of the judgements: sentences and tables that follow from made-up results."""


import numpy as np
import pytest

from experiment_modules import experiment_modules

pytest.importorskip("pandas", reason="the sets are pandas tables")
pytest.importorskip("polars", reason="the command line is judged, which needs it")
reading, sets, splits, ours, rivals, plan, summary, sentences, page = experiment_modules(
    *("judging-sets", "measure_reading", "measure_sets", "measure_split", "measure_ours", "measure_rivals", "plan"),
    *("summary", "sentences", "page"),
)

RNG = np.random.default_rng(0)
FACTS = {"experiment": "judging-sets", "processor_seconds": 1.0}
FACTS["machine"] = dict.fromkeys(("day", "abstain", "scikit-learn"), "")


def made_up(errors):
    """Answers in which a method decides this share of rows wrongly, and the others are right."""
    answers = {}
    for name, item in sets.GENERATED.items():
        K, n = len(item.classes), 2000
        code = RNG.integers(0, K, n)
        methods = {}
        for method, share in errors.items():
            choice = np.where(RNG.random(n) < share, (code + 1) % K, code)
            methods[method] = {costs: splits.answer(choice, 1.0, machine="svm") for costs in splits.costs_of(name)}
        answers[f"truth/{name}/0"] = {
            "truth": splits.packed(code),
            "rows": list(range(n)),
            "trained": n,
            "methods": methods,
        }
    return answers


@pytest.mark.parametrize(
    ("own", "boosting", "first", "second"),
    [
        (0.02, 0.2, "in 6 of 6 settings", "No method has a larger share"),
        (0.2, 0.02, "in 0 of 6 settings", "The largest share is that of “boosting”: 100 %"),
    ],
)
def test_the_page_says_whether_the_default_is_near_the_cheapest(monkeypatch, own, boosting, first, second):
    errors = {"command line": own, "boosting": boosting, "logistic": 0.3}
    found = summary.summary("second", made_up(errors))
    text = page.page({"judgements": {"second": {**found, **FACTS}}})
    assert first in text
    assert second in text
    assert "No set of this run has 20,000 rows or more." in text
    assert ("No method has a smaller regret." in text) == (own < boosting)
    monkeypatch.setattr(summary, "LARGE", 100)
    found = summary.summary("second", made_up(errors))["large"]
    assert (found["less"], found["more"]) == ((6, 0) if own < boosting else (0, 6))
    assert found["ratio"]["mean"] * (own - boosting) > 0
    said = sentences.against_boosting({"large": found, "protocol": {"large": 100}})
    assert f"in {found['less']} settings and more in {found['more']}" in said


def test_a_split_that_is_missing_is_an_error():
    answers = made_up({"command line": 0.1, "boosting": 0.1})
    answers["truth/two/1"] = {**answers["truth/two/0"], "methods": {}}
    with pytest.raises(ValueError, match="other splits of two"):
        summary.summary("second", answers)


def test_a_variant_stands_in_the_default_s_place():
    # the default errs twice as often as the former one, and its variant never errs
    errors = {"command line": 0.2, "--machine svm": 0.1, "--machine best": 0.0, "boosting": 0.05, "logistic": 0.3}
    found = summary.summary("second", made_up(errors))
    assert found["methods"] == ["command line", "logistic", "boosting"]
    assert found["ranks"]["mean"]["command line"] == pytest.approx(2.0)
    assert {name: item["rank"] for name, item in found["variants"].items()} == {
        "--machine svm": pytest.approx(2.0),
        "--machine best": pytest.approx(1.0),
    }
    best, former = found["variants"]["--machine best"], found["former"]["all"]
    assert (best["near"], best["cheapest"], best["against_default"]["more"]) == (6, 6, 6)
    assert best["regret"]["mean"] == pytest.approx(0.0)
    assert former["ratio"]["mean"] == pytest.approx(1.0, abs=0.3)
    assert (former["less"], former["more"]) == (0, 6)
    assert found["former"]["small"]["sets"] == 2
    text = page.page({"judgements": {"second": {**found, **FACTS}}})
    assert "| --machine best |" in text
    assert "| 6 : 0 |" in text
    assert "more in 6" in text
    unfinished = "- Of “--no-novelty”, “--machine laplacian” and “MachineSearch” not all settings were finished"
    assert unfinished in text


def test_sets_with_nearly_no_cost_are_told_apart_by_the_stated_rule():
    answers = made_up({"command line": 0.02, "boosting": 0.1})
    third = {f"truth/{name}/0": answers[f"truth/{name}/0"] for name in ("two", "three")}
    third["truth/votes/0"] = {**third["truth/two/0"]}
    right = splits.unpacked(third["truth/votes/0"]["truth"])
    third["truth/votes/0"]["methods"] = {
        "command line": {costs: splits.answer(np.where(np.arange(2000) < 40, 2, right), 1.0) for costs in splits.TWO},
        "boosting": {costs: splits.answer(np.where(np.arange(2000) < 10, 2, right), 1.0) for costs in splits.TWO},
    }
    found = summary.summary("second", third)
    free = found["nearly_free"]
    assert free["sets"] == ["votes"]  # the cheapest rejects 0.5 % of the rows there
    assert found["overall"]["command line"]["regret"]["mean"] == pytest.approx(4 ** (1 / 3) - 1)
    assert free["overall"]["command line"]["regret"]["mean"] == pytest.approx(0.0)
    assert (
        "Without “House votes”, on which the cheapest method has nearly no cost" in sentences.regret_of_others(found)[0]
    )


def test_the_rate_of_the_guard_and_what_it_rejected_are_kept():
    answers = made_up({"command line": 0.1, "boosting": 0.1})
    for name in sets.GENERATED:
        for item in answers[f"truth/{name}/0"]["methods"]["command line"].values():
            item.update(guard=0.005, novel=4)
    found = summary.summary("second", answers)
    assert {(*item["fits"][0].values(), item["tested"]) for item in found["blocks"]} == {("svm", 0.005, 4, 2000)}
    assert "called 0.20 % of the test rows novel; its rate was 0.50 % to 0.50 %" in sentences.guard(found)[0]


def test_the_first_judgement_is_kept_and_comes_after_the_second():
    found = {**summary.summary("second", made_up({"command line": 0.1, "boosting": 0.1})), **FACTS}
    text = page.page({"judgements": {"first": found, "second": found}})
    assert 0 < text.index("## The second judgement") < text.index("## The first judgement")
    assert text.index("(ranks_second.png)") < text.index("(ranks.png)")


def test_a_method_that_fails_rejects_every_row_and_says_why(monkeypatch):
    def fails(*_):
        raise RuntimeError("no convergence")

    monkeypatch.setitem(ours.SECOND, "command line", fails)
    monkeypatch.setitem(rivals.RIVALS, "logistic", fails)
    for found in (ours.ours("command line", "two", 0, "1:5:0.4"), rivals.rival("logistic", "two", 0)):
        item = next(iter(found["methods"].values()))["1:5:0.4"]
        assert item["error"] == "RuntimeError: no convergence"
        assert set(splits.unpacked(item["choice"])) == {2}
    answers = made_up({"command line": 0.1, "boosting": 0.1})
    answers["logistic/two/0"] = rivals.rival("logistic", "two", 0)
    answers["truth/two/0"] = splits.truth("two", 0)
    told = summary.failed(answers)
    assert [(item["method"], item["costs"]) for item in told] == [("logistic", costs) for costs in splits.TWO]
    assert "3 fits failed, which count as rejecting every row: of “logistic”" in sentences.failures({"failed": told})[0]
