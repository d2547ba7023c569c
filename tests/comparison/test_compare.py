"""`abstain.compare`: every number against a count of its own, and intervals that keep their word."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, ShuffleSplit, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import abstain
from abstain.comparison.intervals import interval_of_mean
from abstain.comparison.rules import default_rules, left_out
from abstain.costs.costs import Costs
from abstain.estimators.svm.svc import RejectSVC
from compared import COSTS, Fixed, prices, rows

FOLDS = StratifiedKFold(4, shuffle=True, random_state=3)
MODELS = {"narrow": Fixed(-0.2, 0.2), "wide": Fixed(-1.0, 1.0), "none": Fixed(), "late": Fixed(2.0, 2.0)}


def test_every_number_against_a_count_of_its_own():
    X, y = rows()
    found = abstain.compare(MODELS, X, y, COSTS, cv=FOLDS)
    frame = found.to_frame()
    assert list(frame["mean_cost"]) == sorted(frame["mean_cost"])
    for name, model in MODELS.items():
        said = model.fit(X, y).predict(X)  # it learns nothing, so folds change nothing
        paid, accepted, wrong = prices(y, said), said != "reject", (said != "reject") & (said != y)
        row = frame.loc[name]
        assert row["mean_cost"] == pytest.approx(paid.mean())
        assert row["reject_rate"] == pytest.approx(1 - accepted.mean())
        assert row["error_rate"] == pytest.approx(wrong.mean())
        assert row["selective_error"] == pytest.approx(wrong[accepted].mean())
        assert row["sensitivity"] == pytest.approx(np.mean(said[accepted & (y == "b")] == "b"))
        assert row["positive_predictivity"] == pytest.approx(np.mean(y[said == "b"] == "b"))
        assert row["fit_seconds"] >= 0
        assert row["predict_seconds"] > 0


def test_intervals_are_those_of_the_costs_and_of_the_paired_differences():
    X, y = rows()
    found = abstain.compare(MODELS, X, y, COSTS, cv=FOLDS, confidence=0.9)
    paid = {name: prices(y, model.predict(X)) for name, model in MODELS.items()}
    best = min(paid, key=lambda name: paid[name].mean())
    assert found.best == best
    frame = found.to_frame()
    for name, own in paid.items():
        mean = tuple(frame.loc[name, ["mean_cost_lower", "mean_cost_upper"]])
        assert mean == pytest.approx(interval_of_mean(own, (0.0, 4.0), 0.9))
        assert 1 <= np.ptp(mean) / np.ptp(stats.ttest_1samp(own, 0).confidence_interval(0.9)) < 1.5
        if name != best:  # six pairs of four models
            pair = tuple(frame.loc[name, ["difference_lower", "difference_upper"]])
            assert pair == pytest.approx(interval_of_mean(own - paid[best], (-4.0, 4.0), 1 - 0.1 / 6))
            assert (name in found.not_told_apart) == (pair[0] <= 0)
    assert tuple(frame.loc[best, ["difference", "difference_lower", "difference_upper"]]) == (0, 0, 0)


def test_noise_is_not_ranked_and_a_difference_is():
    X, y = rows(400)
    twins = {"good": Fixed(), "twin": Fixed(0.01, 0.01), "bad": Fixed(3.0, 3.0)}
    found = abstain.compare(twins, X, y, COSTS)
    assert set(found.not_told_apart) == {"good", "twin"}


@pytest.mark.long
def test_the_interval_of_a_mean_cost_covers_it_as_often_as_stated():
    """Fixed rules have a true cost, from a million rows; 400 data sets of 150 rows each."""
    costs, model = Costs(1, 2, 0.3), Fixed(-0.3, 0.3)
    X, y = rows(1_000_000, seed=1)
    truth = prices(y, model.fit(X, y).predict(X), costs).mean()
    other = prices(y, Fixed().predict(X), costs).mean() - truth
    covered, paired, naive = [], [], []
    for start in range(0, 60_000, 150):
        part = slice(start, start + 150)
        paid, without = (prices(y[part], m.predict(X[part]), costs) for m in (model, Fixed()))
        low, high = interval_of_mean(paid, (0.0, 2.0), 0.95)
        covered.append(low <= truth <= high)
        naive.append((low + paid.mean()) / 2 <= truth <= (high + paid.mean()) / 2)
        low, high = interval_of_mean(without - paid, (-2.0, 2.0), 0.95)
        paired.append(low <= other <= high)
    margin = 3 * np.sqrt(0.95 * 0.05 / 400)
    assert abs(np.mean(covered) - 0.95) <= margin
    assert np.mean(paired) >= 0.95 - margin  # a tenth of the rows differ: more than 0.95
    assert np.mean(naive) < 0.95 - margin  # the judge has teeth


@pytest.mark.long
def test_the_interval_covers_the_cost_of_the_machines_fitted_on_the_folds():
    """What is promised is their mean cost on new rows; 80 data sets, five machines each, judged on 1,000 rows."""
    costs, (X_new, y_new) = Costs(1, 2, 0.3), rows(1_000, seed=1)
    wrong = np.where(y_new == "b", costs.false_negative, costs.false_positive)
    covered = []
    for seed in range(80):
        X, y = rows(120, seed=2 + seed)
        found = abstain.compare({"nearest": KNeighborsClassifier(15)}, X, y, costs, random_state=seed)
        folds = StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y)
        machines = [KNeighborsClassifier(15).fit(X[train], y[train]) for train, _ in folds]
        truth = np.mean([wrong @ (machine.predict(X_new) != y_new) / len(y_new) for machine in machines])
        low, high = found.mean_cost_interval[0]
        covered.append(low <= truth <= high)
    assert abs(np.mean(covered) - 0.95) <= 3 * np.sqrt(0.95 * 0.05 / 80)


def test_paired_intervals_are_less_than_half_as_wide():
    X, y = rows(1_000)
    found = abstain.compare({"one": Fixed(-0.2, 0.2), "two": Fixed(-0.3, 0.3)}, X, y, COSTS)
    width = np.ptp(found.difference_interval, axis=1).max()
    assert width < np.ptp(found.mean_cost_interval, axis=1).min() / 2


def test_repeated_rows_are_averaged_and_count_once():
    X, y = rows(90)
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=0)
    once, often = (abstain.compare(MODELS, X, y, COSTS, cv=folds) for folds in (FOLDS, cv))
    assert (often.n_splits, len(often.rows)) == (12, 90)
    names = ["mean_cost", "mean_cost_upper", "difference_upper", "reject_rate", "sensitivity"]
    np.testing.assert_allclose(often.to_frame()[names], once.to_frame()[names])


def test_rows_that_the_folds_leave_out_are_left_out():
    X, y = rows(90)
    cv = ShuffleSplit(n_splits=2, test_size=0.2, random_state=0)
    seen = np.unique(np.concatenate([test for _, test in cv.split(X)]))
    found = abstain.compare(MODELS, X, y, COSTS, cv=cv)
    np.testing.assert_array_equal(found.rows, seen)
    assert found.mean_cost[0] == pytest.approx(prices(y[seen], MODELS["narrow"].fit(X, y).predict(X[seen])).mean())


def test_no_row_is_decided_by_a_machine_that_was_fitted_on_it():
    class Memory(Fixed):
        def fit(self, X, y):
            self.seen = {tuple(x) for x in X}
            return super().fit(X, y)

        def predict(self, X):
            assert not any(tuple(x) in self.seen for x in X)
            return super().predict(X)

    X, y = rows(60)
    abstain.compare({"memory": Memory()}, X, y, COSTS, cv=KFold(3))
    with pytest.raises(AssertionError) as caught:  # the control
        abstain.compare({"leaky": Memory()}, X, y, COSTS, cv=[(np.arange(60), np.arange(10))])
    assert "model 'leaky' on fold 1 of 1" in caught.value.__notes__[0]


def test_the_positive_class_can_be_turned():
    X, y = rows()
    turned = Costs(COSTS.false_negative, COSTS.false_positive, (COSTS.reject_positive, COSTS.reject_negative))
    one, other = (abstain.compare(MODELS, X, y, c, pos_label=p) for c, p in ((COSTS, "b"), (turned, "a")))
    np.testing.assert_allclose(one.mean_cost, other.mean_cost)
    assert one.to_frame()["sensitivity"].iloc[0] != pytest.approx(other.to_frame()["sensitivity"].iloc[0])


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (False, True), ("no", "yes"), ("reject", "x")], ids=str)
def test_classifiers_that_reject_and_others_with_labels_of_any_kind(labels):
    X, y = rows(80)
    y = np.array(labels)[(y == "b").astype(int)]
    sentinel = {"reject_label": "none"} if "reject" in labels else {}
    models = {"rejecting": RejectSVC(COSTS, **sentinel), "other": SVC(), "logistic": LogisticRegression()}
    found = abstain.compare(models, X, y, COSTS, cv=3)
    assert found.tables[1].reject_rate == found.tables[2].reject_rate == 0
    assert 0 < found.tables[0].reject_rate < 1


TOLD_PRICES = {"Bartlett-Wegkamp", "embedded, linear"}  # those that know one price for both errors


@pytest.mark.parametrize("costs", [Costs(reject=0.2), Costs(3, 3, (0.6, 0.6)), COSTS, Costs(1, 1, (0.2, 0.3))], ids=str)
def test_rules_for_equal_costs_are_left_out_where_costs_differ(costs):
    names, symmetric = [*default_rules(costs)], costs in (Costs(reject=0.2), Costs(3, 3, 0.6))
    assert len(names) == (11 if symmetric else 9)
    assert names[-3:] == ["logistic, Chow", "forest, Chow", "boosting, Chow"]
    assert {*names} & TOLD_PRICES == (TOLD_PRICES if symmetric else set())
    assert {*left_out(costs)} == (set() if symmetric else TOLD_PRICES)


@pytest.mark.parametrize(("costs", "symmetric"), [(Costs(reject=0.2), True), (COSTS, False)], ids=str)
def test_the_default_rules_are_those_of_the_papers_and_three_machines(costs, symmetric):
    X, y = rows(60)
    found = abstain.compare(None, X, y, costs, cv=2)
    assert found.names == tuple(default_rules(costs))
    assert {name for name, _ in found.left_out} == (set() if symmetric else TOLD_PRICES)
    last = str(found).splitlines()[-1]
    assert last.startswith("Left out: embedded, linear; it supports only equal error costs") != symmetric
    for name in ("SVM", "SVM with costs, no rejects"):
        assert found.tables[found.names.index(name)].reject_rate == 0


@pytest.mark.long
def test_the_default_rules_decide_about_a_class_called_reject():
    X, y = rows(60)
    names = np.where(y == "a", "ok", "reject")
    found, same = (
        abstain.compare(None, X, given, Costs(reject=0.2), cv=2) for given in (names, np.where(y == "a", 0, 1))
    )
    np.testing.assert_array_equal(found.mean_cost, same.mean_cost)


def test_the_embedded_machine_is_fitted_for_the_price_of_a_reject_in_errors():
    X, y = rows(60)
    cheap, dear = (default_rules(Costs(4, 4, price), pos_label="a")["embedded, linear"] for price in (0.4, 2.0))
    cheap.set_params(gridsearchcv__cv=2)
    dear.set_params(gridsearchcv__cv=2)
    assert cheap[-1].estimator.reject_cost == 0.1
    assert dear[-1].estimator.reject_cost == 0.5
    assert (dear.fit(X, y).predict(X) != "reject").all()
    assert (cheap.fit(X, y).predict(X) == "reject").any()
    chosen = cheap[-1].best_estimator_
    assert chosen.pos_label == "a"
    tried = cheap[-1].cv_results_["mean_test_score"]
    assert cheap[-1].param_grid["C"][int(np.argmax(tried))] == chosen.C


def test_sparse_rows_are_not_made_dense():
    X, y = rows(90)
    found = abstain.compare(None, sparse.csr_array(X), y, Costs(reject=0.2), cv=2)
    dense = ("embedded, linear", "boosting, Chow")
    assert found.left_out == tuple((name, "it does not support sparse rows") for name in dense)
    assert not {*dense} & {*found.names}
    assert "forest, Chow" in found.names


def test_everything_rejected_is_said_without_a_warning():
    X, y = rows()
    found = abstain.compare({"silent": Fixed(-99.0, 99.0)}, X, y, COSTS)
    assert np.isnan(found.to_frame()["selective_error"]).all()
    assert " - " in str(found)


def test_the_table_starts_with_the_cheapest_and_marks_what_cannot_be_distinguished():
    X, y = rows(400)
    found = abstain.compare({"bad": Fixed(3.0, 3.0), "good": Fixed(), "twin": Fixed(0.01, 0.01)}, X, y, COSTS)
    title, _, head, *body = str(found).splitlines()
    assert "400 rows (266 negative 'a', 134 positive 'b'), 5 folds" in title
    assert "false negative 4, reject 0.3 / 0.5" in title
    assert head.split()[:3] == ["mean", "cost", "95%"]
    lines = {line.split()[0]: line for line in body[:3]}
    assert "best" in lines[found.best]
    (twin,) = {"good", "twin"} - {found.best}
    assert "~" in lines[twin]
    assert "~" not in lines["bad"]
    assert list(lines)[-1] == "bad"
    assert body[-2].startswith("~ no significant difference from the best (1 of 2)")


def test_the_result_is_frozen():
    found = abstain.compare({"one": Fixed()}, *rows(40), COSTS)
    assert repr(found) == "Comparison(names=('one',), rows=40, n_splits=5, best='one')"
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.costs = None
    with pytest.raises(ValueError, match="read-only"):
        found.prices[0] = 0


def test_progress_is_written_on_request_only(capsys, monkeypatch):
    monkeypatch.setattr("abstain.estimators.fitting.progress.QUIET_SECONDS", -1.0)
    X, y = rows(40)
    abstain.compare({"one": Fixed()}, X, y, COSTS, cv=3)
    assert capsys.readouterr() == ("", "")
    abstain.compare({"one": Fixed()}, X, y, COSTS, cv=3, verbose=True)
    assert "compare: 3 of 3 fits" in capsys.readouterr().err


def test_models_are_cloned():
    model = Fixed()
    abstain.compare({"one": model}, *rows(40), COSTS)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"models": [Fixed()]}, r"must be a dict of names to classifiers"),
        ({"models": {}}, r"models=\{\} must be a dict"),
        ({"models": {"x": 3}}, r"models\['x'\]=3 must be a string and a classifier"),
        ({"costs": None}, r"costs=None must be a Costs"),
        ({"confidence": 1}, r"confidence=1 must be strictly between 0 and 1"),
        ({"pos_label": "c"}, r"pos_label='c' is not one of the classes"),
    ],
)
def test_errors_say_what_to_do(change, text):
    X, y = rows(40)
    given = {"models": MODELS, "X": X, "y": y, "costs": COSTS, **change}
    with pytest.raises(ValueError, match=text):
        abstain.compare(**given)
