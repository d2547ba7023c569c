"""RejectSVCCV(kernel="auto"): two kernels in one search, compared with a search for each and with loops."""

import pickle
import re
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.utils.estimator_checks import check_estimator

from abstain import Actions, Costs, MachineSearch, RejectSVC, RejectSVCCV, load, save
from abstain.estimators.search import halving
from abstain.estimators.search.rounds import coarse_to_fine
from abstain.gammas import resolve_gamma
from abstain.report import report_for

COSTS = Costs(reject=0.2)
KERNELS = ("rbf", "laplacian")
LISTS = {"Cs": [0.1, 1.0, 10.0], "gammas": ["scale", 0.3]}
ACTIONS = Actions({"wait": {0: 0, 1: 3}, "treat": {0: 1, 1: 0}, "ask": 0.3}, rejects=["ask"])


def boxes(n, seed=0):
    """Classes whose border follows the axes, which suits distances that are sums over features."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 4))
    return X, (np.abs(X[:, 0]) + np.abs(X[:, 1]) + rng.normal(0, 0.1, n) > 1).astype(int)


def moons(n):
    return make_moons(n, noise=0.3, random_state=0)


@pytest.fixture(scope="module")
def rows():
    return moons(150)


@pytest.fixture(scope="module")
def alone(rows):
    return {kernel: RejectSVCCV(COSTS, **LISTS, kernel=kernel, cuts="bayes").fit(*rows) for kernel in KERNELS}


def test_lists_are_tried_with_each_kernel(rows, alone):
    both = RejectSVCCV(COSTS, **LISTS, kernel="auto", cuts="bayes").fit(*rows)
    results = both.cv_results_
    found = {
        tuple(one.values()): score for one, score in zip(results["params"], results["mean_test_score"], strict=True)
    }
    own = {kernel: machine.cv_results_ for kernel, machine in alone.items()}
    wanted = {
        (*one.values(), kernel): score
        for kernel, table in own.items()
        for one, score in zip(table["params"], table["mean_test_score"], strict=True)
    }
    assert found == pytest.approx(wanted, rel=1e-12)
    assert {*results["param_kernel"].tolist()} == {*KERNELS}
    best = max(alone.values(), key=lambda machine: machine.cv_results_["mean_test_score"].max())
    assert (both.kernel_, both.C_, both.gamma_) == (best.kernel, best.C_, best.gamma_)
    last = RejectSVC(COSTS, C=both.C_, gamma=both.gamma_, kernel=both.kernel_).fit(*rows)
    np.testing.assert_allclose(both.decision_function(rows[0]), last.decision_function(rows[0]), atol=1e-2)
    assert (both.kernel, clone(both).kernel) == ("auto", "auto")


@pytest.mark.parametrize(("make", "kernel"), [(boxes, "laplacian"), (moons, "rbf")])
def test_each_kernel_can_be_chosen(make, kernel):
    found = RejectSVCCV(COSTS, kernel="auto").fit(*make(600))
    assert found.kernel_ == kernel == found._now.machine.kernel.name


@pytest.mark.parametrize(("Cs", "gammas"), [(10, 5), (6, 4), (7, 3), (3, 2)])
def test_numbers_of_values_are_shared(Cs, gammas, rows):
    both = RejectSVCCV(COSTS, Cs=Cs, gammas=gammas, kernel="auto", cuts="bayes").fit(*rows)
    pairs = both.cv_results_["params"]
    assert Cs * gammas <= len(pairs) <= Cs * gammas + 1
    assert np.isfinite(both.cv_results_["mean_test_score"]).all()
    assert len({tuple(one.values()) for one in pairs}) == len(pairs)
    for kernel in KERNELS:
        own = [one for one in pairs if one["kernel"] == kernel]
        assert {one["C"] for one in own} == {*np.logspace(-2, 3, Cs).tolist()}
        widths = resolve_gamma("scale", rows[0], None, kernel) * 4.0 ** np.linspace(-2, 2, gammas)
        assert sorted({one["gamma"] for one in own}) == pytest.approx(widths)
        whole = RejectSVCCV(COSTS, Cs=Cs, gammas=gammas, kernel=kernel, cuts="bayes").fit(*rows).cv_results_
        known = {
            (one["C"], one["gamma"]): score
            for one, score in zip(whole["params"], whole["mean_test_score"], strict=True)
        }
        for one, score in zip(pairs, both.cv_results_["mean_test_score"], strict=True):
            if one["kernel"] == kernel:  # starts of the fits differ, which may move a row within the tolerance
                assert score == pytest.approx(known[one["C"], one["gamma"]], abs=0.01)


@pytest.mark.parametrize("seed", range(3))
def test_each_fold_is_decided_by_the_kernel_that_the_others_choose(seed):
    X, y = boxes(80, seed)
    found = RejectSVCCV(COSTS, kernel="auto", cuts="bayes").fit(X, y)
    results = found.cv_results_
    scores = np.array([results[f"split{fold}_test_score"] for fold in range(5)])
    masses = [len(test) for _, test in StratifiedKFold(5).split(X, y)]
    honest = 0.0
    for fold in range(5):
        others = [k for k in range(5) if k != fold]
        means = np.average(scores[others], axis=0, weights=[masses[k] for k in others])
        best = [pair for pair in range(len(means)) if means[pair] >= means.max() - 1e-12]
        first = min(
            best, key=lambda pair: (results["params"][pair]["C"], KERNELS.index(results["params"][pair]["kernel"]))
        )
        honest += scores[fold, first] * masses[fold]
    assert found.best_score_ == pytest.approx(honest / len(y))
    assert found.best_score_ <= results["mean_test_score"].max()  # the greatest of all promises more


FITS = {
    "no costs": (None, {}),
    "actions": (ACTIONS, {}),
    "row costs": (None, {"row_costs": np.random.default_rng(0).uniform(0.5, 2, (150, 1)) * [1.0, 2.0, 0.3]}),
    "weights": (COSTS, {"sample_weight": np.random.default_rng(1).integers(1, 3, 150)}),
    "groups": (COSTS, {"groups": np.arange(150) // 5}),
}


@pytest.mark.parametrize("case", FITS)
def test_it_takes_what_one_kernel_takes(case, rows, tmp_path):
    costs, given = FITS[case]
    chosen = {}
    for kernel in ("auto", *KERNELS):
        search = RejectSVCCV(costs, Cs=[0.1, 10.0], gammas=[0.3], kernel=kernel, cuts="bayes", cv=3)
        chosen[kernel] = search.fit(*rows, **given)
    best = {kernel: chosen[kernel].cv_results_["mean_test_score"].max() for kernel in KERNELS}
    found = chosen["auto"]
    assert found.cv_results_["mean_test_score"].max() == pytest.approx(max(best.values()))
    assert best[found.kernel_] == pytest.approx(max(best.values()))
    save(found, tmp_path / "auto.abstain")
    again = load(tmp_path / "auto.abstain")
    np.testing.assert_array_equal(again.decision_function(rows[0]), found.decision_function(rows[0]))
    assert (again.kernel_, again.best_score_) == (found.kernel_, found.best_score_)


@pytest.mark.parametrize("costs", [None, COSTS], ids=["votes", "costs"])
def test_several_classes(costs):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] > 0).astype(int) + (np.abs(X[:, 1]) > 1)
    found = RejectSVCCV(costs, **LISTS, kernel="auto", cv=3, cuts="bayes").fit(X, y)
    alone = [RejectSVCCV(costs, **LISTS, kernel=kernel, cv=3, cuts="bayes").fit(X, y) for kernel in KERNELS]
    grid = np.concatenate([machine._now.grid.costs for machine in alone], axis=1)
    np.testing.assert_allclose(found._now.grid.costs, grid, atol=1e-12)
    assert found._now.machine.kernel.name == found.kernel_


def test_a_file_of_shared_numbers_comes_back(rows, tmp_path):
    found = RejectSVCCV(COSTS, kernel="auto", cv=3).fit(*rows)
    save(found, tmp_path / "auto.abstain")
    again, other = load(tmp_path / "auto.abstain"), pickle.loads(pickle.dumps(found))  # noqa: S301
    for one in (again, other):
        for name, values in found.cv_results_.items():
            np.testing.assert_equal(one.cv_results_[name], values)
        assert (one.kernel_, one.C_, one.gamma_) == (found.kernel_, found.C_, found.gamma_)
    facts = dict(report_for(found, *rows).model_facts)
    assert facts["Kernel"] == found.kernel_


def test_sparse_rows_choose_as_dense_ones():
    X, y = boxes(120)
    X[np.abs(X) < 0.3] = 0.0
    dense, sparse = (RejectSVCCV(COSTS, **LISTS, kernel="auto", cv=3).fit(one, y) for one in (X, csr_array(X)))
    assert (dense.kernel_, dense.C_) == (sparse.kernel_, sparse.C_)
    np.testing.assert_allclose(dense._now.grid.costs, sparse._now.grid.costs, atol=0.02)


def test_halving_drops_pairs_of_both_kernels(monkeypatch):
    monkeypatch.setattr(halving, "FIRST", 100)
    X, y = boxes(600)
    found = RejectSVCCV(COSTS, kernel="auto", search="halving", cv=3).fit(X, y)
    rows, kernels = found.cv_results_["n_resources"], found.cv_results_["param_kernel"].data
    assert [int((rows >= size).sum()) for size in np.unique(rows)] == [50, *halving.Schedule.of(600, 50).pairs[1:]]
    assert {*kernels[rows > rows.min()]} == {*KERNELS}  # the best of each gamma stay for the second round
    assert found.kernel_ == "laplacian"


def test_under_a_time_limit_the_middle_of_each_kernel_comes_first(rows):
    tried = np.ones((10, 2, 10), dtype=bool)
    first = next(iter(coarse_to_fine(tried, 2)))
    assert np.argwhere(first.any(axis=1)).tolist() == [[2, 4], [7, 4]]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        late = RejectSVCCV(COSTS, kernel="auto", time_limit=1e-9).fit(*rows)
    assert re.search(r"with 50 of the 50 pairs on no fold \(C from .* None finished", str(told[0].message))
    assert (late.kernel_, late.C_) == ("rbf", np.logspace(-2, 3, 10)[4])
    assert late.gamma_ == pytest.approx(resolve_gamma("scale", rows[0]))


def test_it_stands_for_the_svm_of_a_machine_search(rows):
    svm = RejectSVCCV(kernel="auto", Cs=[0.1, 1.0], gammas=[0.3])
    found = MachineSearch(COSTS, ("svm",), svm=svm, cv=3).fit(*rows)
    alone = clone(svm).set_params(costs=COSTS, cv=3).fit(*rows)
    assert found.choice_.chosen.best["kernel"] == alone.kernel_
    assert found.best_score_ == pytest.approx(alone.best_score_)


def test_other_estimators_refuse_it(rows):
    with pytest.raises(ValueError, match="kernel='auto' must be one of"):
        RejectSVC(kernel="auto").fit(*rows)


def test_groups_of_a_splitter_are_kept(rows):
    groups = np.arange(150) % 7
    own = RejectSVCCV(COSTS, **LISTS, kernel="auto", cv=GroupKFold(3)).fit(*rows, groups=groups)
    listed = RejectSVCCV(COSTS, **LISTS, kernel="auto", cv=[*GroupKFold(3).split(*rows, groups)]).fit(*rows)
    np.testing.assert_array_equal(own._now.grid.costs, listed._now.grid.costs)


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_every_check_of_scikit_learn_passes():
    results = check_estimator(RejectSVCCV(kernel="auto", Cs=[0.1, 10.0], gammas=[1.0]), on_fail=None, on_skip=None)
    assert {one["check_name"]: one["exception"] for one in results if one["status"] == "failed"} == {}
    assert sum(one["status"] == "passed" for one in results) > 50
