"""scikit-learn's checks with settings other than the defaults; every check that fails is stated in check_cases.py."""

import re
from pathlib import Path

import pytest
import sklearn
from sklearn.utils import get_tags

import abstain
from abstain import Actions, Costs, Forced, MachineSearch, RejectSVC, ThresholdRejector
from check_cases import CASES, FAILS, SIDES, run, stated

# by the name of its line on the page; those after the second are long where this scikit-learn is on the page
ALL = {f"{name}({settings})": estimator for name, cases in CASES.items() for settings, estimator in cases}
SECOND = {f"{name}({cases[1][0]})" for name, cases in CASES.items()}
PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
TABLES = re.findall(r"Run with scikit-learn `(.*)`, NumPy.*\n((?:\n?\|.*)*)", PAGE)
LINE = re.compile(r"^\| `(.*)` \| (\d+) \| (\d+) \| (.*) \|$", re.MULTILINE)
EACH = [pytest.param(case, id=case, marks=[] if case in SECOND else pytest.mark.long) for case in ALL]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", EACH)
def test_exactly_the_stated_checks_fail(case):
    passed, skipped, failed = run(ALL[case])
    assert failed.keys() == stated(case).keys() - {*skipped}, failed
    for version, lines in TABLES:
        if version == sklearn.__version__:  # the page has the counts of this run
            counts = {line: (int(good), int(other)) for line, good, other, _ in LINE.findall(lines)}
            assert counts[case] == (len(passed), len(skipped))


@pytest.mark.filterwarnings("ignore")
def test_the_rejects_are_why_checks_fail():
    # control: these fail where rows are rejected, and pass in Forced
    for case in FAILS.keys() & {f"RejectSVC({settings})" for settings, _ in CASES["RejectSVC"]}:
        if "Actions" not in case:
            assert not run(Forced(ALL[case]))[2]


def test_every_public_estimator_has_five_settings():
    known = {name for name in abstain.__all__ if hasattr(getattr(abstain, name), "fit")}
    assert known == CASES.keys()
    assert min(map(len, CASES.values())) >= 5


def test_the_page_has_a_line_for_each_on_two_versions():
    assert FAILS.keys() <= ALL.keys()
    assert len(TABLES) == 2
    for version, lines in TABLES:
        found = LINE.findall(lines)
        assert [case for case, *_ in found] == [*ALL]
        for case, _, _, failed in found:
            known = {*re.findall(r"`(\w+)`", failed)}
            if version == sklearn.__version__:
                assert known <= stated(case).keys()


TWO = [
    RejectSVC(SIDES),
    RejectSVC(Costs.from_table({0: {1: 1}, 1: {0: 2}}, reject=0.3)),
    RejectSVC(Actions({0: {0: 0, 1: 2}, 1: {0: 3, 1: 0}, "call": 0.3})),
    RejectSVC(pos_label=1),
    RejectSVC(Costs(reject=0.3), rule="bartlett-wegkamp"),
    ThresholdRejector(RejectSVC(), reject_rate=(0.2, 0.1)),
    ThresholdRejector(RejectSVC(), max_error=(0.2, 0.1)),
    ThresholdRejector(RejectSVC(), reject_rate=0.2, method="roc"),
    ThresholdRejector(RejectSVC(), class_error={0: 0.2, 1: 0.2}, random_state=0),  # which names every class
]
SEVERAL = [
    RejectSVC(),
    RejectSVC(Costs(reject=0.3)),
    RejectSVC(Costs.from_table({0: {1: 1, 2: 2}, 1: {0: 5, 2: 3}, 2: {0: 1, 1: 1}}, reject=0.3)),
    ThresholdRejector(RejectSVC(), reject_rate=0.2),
    ThresholdRejector(RejectSVC(), Costs(reject=0.3), method="roc"),
    ThresholdRejector(RejectSVC(), reject_rate={0: 0.2, 1: 0.2}),  # a dict may leave out classes
    ThresholdRejector(RejectSVC(), class_error={0: 0.2, 1: 0.2, 2: 0.2}, random_state=0),
]
X, Y = [[float(i)] for i in range(60)], [0, 1, 2] * 20


@pytest.mark.parametrize("estimator", TWO, ids=str)
def test_what_takes_two_classes_says_so(estimator):
    assert not get_tags(estimator).classifier_tags.multi_class
    words = "Only binary classification is supported|name exactly the classes of y|no rate for the class 2"
    with pytest.raises(ValueError, match=words):
        estimator.fit(X, Y)


@pytest.mark.parametrize("estimator", SEVERAL, ids=str)
def test_what_takes_several_says_so(estimator):
    assert get_tags(estimator).classifier_tags.multi_class
    assert len(estimator.fit(X, Y).classes_) == 3


def test_the_search_says_what_its_machines_take():
    def tags(*machines):
        found = get_tags(MachineSearch(machines=machines or "auto")).input_tags
        return found.sparse, found.allow_nan

    assert tags() == tags("svm", "logistic") == (True, False)
    assert tags("boosting") == (False, True)
    assert tags("forest") == (True, True)
    assert tags("forest", "svm") == (True, False)
    assert get_tags(MachineSearch(machines=5)).input_tags.sparse  # the error is raised by fit


def test_costs_have_the_same_hash_before_and_after_use():
    joblib = pytest.importorskip("joblib")
    for costs in (SIDES, Costs(reject=0.3), TWO[2].costs):
        before = joblib.hash(costs)
        RejectSVC(costs).fit(X, [0, 1] * 30).decide(X)
        assert vars(costs).keys() > costs.__getstate__().keys()  # control: something was computed and kept
        assert joblib.hash(costs) == before
