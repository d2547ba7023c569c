"""RejectSVCCV: its progress line, interrupts, the time limit, and arguments that are refused."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from abstain import Costs, RejectSVCCV
from abstain.estimators.fitting import progress
from abstain.estimators.fitting.progress import Pace

ASYMMETRIC = Costs(1, 5, 0.3)
SMALL = {"Cs": [0.3, 3.0], "gammas": [0.2]}


@pytest.fixture(scope="module")
def rows(data):
    return data[0] / 8, data[1]


class TestProgress:
    def test_a_line_of_fits_if_asked(self, rows, capsys, monkeypatch):
        monkeypatch.setattr(progress, "QUIET_SECONDS", -1.0)
        X, y = np.tile(rows[0], (6, 1)), np.tile(rows[1], 6)
        RejectSVCCV(ASYMMETRIC, verbose=True).fit(X, y)
        err = capsys.readouterr().err
        assert "\rRejectSVCCV: " in err
        assert re.search(r" of 250 fits, about \d+ s left", err)

    def test_nothing_if_not_asked_or_quickly_done(self, rows, capsys):
        RejectSVCCV(ASYMMETRIC, **SMALL).fit(*rows)
        RejectSVCCV(ASYMMETRIC, **SMALL, verbose=True).fit(*rows)
        assert capsys.readouterr() == ("", "")

    def test_the_time_left_follows_from_the_fits_that_are_done(self, capsys, monkeypatch):
        monkeypatch.setattr(progress, "QUIET_SECONDS", -1.0)
        line = progress.FitsLine("Search", Pace(np.array([1.0, 4.0]), threads=2), shown=True)
        line.begin_round(4, 100, [(1000, 2)], 0, 2)
        line.begin(np.array([0, 1, 0, 1]))
        # C = 4 takes sqrt(4) times as long as C = 1; a later round 100 times as long as the mean of its C, on 2 threads
        line.report(np.array([2.0, 0.0, 0.0, 0.0]))
        line.report(np.array([2.0, 6.0, 0.0, 0.0]))
        line.report(np.zeros(4))
        with line:
            pass
        assert capsys.readouterr().err.split("\r")[1:] == [
            "Search: round 1 of 2, 100 rows: 1 of 4 fits, about 5 min left",  # (4 + 2 + 4) / 2 + 100 * 3
            "Search: round 1 of 2, 100 rows: 2 of 4 fits, about 7 min left",  # (2 + 6) / 2 + 100 * 4
            "Search: round 1 of 2, 100 rows: 0 of 4 fits".ljust(61) + "\n",  # nothing is known
        ]

    @pytest.mark.parametrize(("seconds", "words"), [(0.2, "1 s"), (89, "89 s"), (200, "3 min"), (9000, "2.5 h")])
    def test_the_time_left_in_words(self, seconds, words):
        assert progress.in_words(seconds) == words

    def test_the_line_counts_and_ends(self, capsys, monkeypatch):
        line = progress.SearchLine("Search", 1250, shown=True)
        with line:
            line.report(10)
            assert capsys.readouterr().err == ""  # two seconds have not passed
            monkeypatch.setattr(progress, "QUIET_SECONDS", -1.0)
            line.began -= 100.0
            line.report(1000)  # the other 250 take a quarter of the time
        assert capsys.readouterr().err == "\rSearch: 1,000 of 1,250 fits, about 25 s left\n"


# One process for all: importing takes longer than the work.
INTERRUPT = """
import sys
sys.path.insert(0, sys.argv[1])
from estimators.hard_cases.data import noisy
from estimators.hard_cases.interrupts import interrupted
from abstain import Costs, RejectSVCCV, reject_svc_path

def search(X, y, threads):
    RejectSVCCV(Costs(reject=0.2), n_jobs=threads).fit(X, y)

def path(X, y, threads):
    reject_svc_path(X, y, Costs(reject=0.2), n_jobs=threads)

BEYOND_ONE_BLOCK = 6000
for work, threads, n in ((search, 1, 2000), (search, 2, 2000), (search, 2, BEYOND_ONE_BLOCK), (path, 1, 3000)):
    print(work.__name__, threads, n, file=sys.stderr)
    X, y = noisy(n, 10, shift=0.0)
    interrupted(lambda: work(X, y, threads), threads)
"""


@pytest.mark.long
def test_an_interrupt_stops_a_search_and_a_path_within_a_tenth_of_a_second():
    done = subprocess.run(  # noqa: S603 (our own interpreter and script)
        [sys.executable, "-c", INTERRUPT, str(Path(__file__).parents[1])],
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr


class TestTimeLimit:
    """The limit is for search and last fit together; what is not finished counts as not tried, and says so."""

    def hard(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(3000, 10))
        return X, X[:, 0] + rng.normal(size=3000) > 0

    def test_what_is_finished_is_compared(self):
        X, y = self.hard()
        began = time.monotonic()
        with pytest.warns(ConvergenceWarning) as told:
            clf = RejectSVCCV(
                ASYMMETRIC, Cs=np.logspace(-2, 4, 60), time_limit=2.0, n_jobs=1, cuts="bayes", search="full"
            ).fit(X, y)
        assert re.search(r"ran out of time: \d+ of the 1500 fits .*raise time_limit=2\.0", str(told[0].message))
        assert time.monotonic() - began < 30.0  # without a limit it takes minutes; a loose bound for busy machines
        splits = np.array([clf.cv_results_[f"split{fold}_test_score"] for fold in range(5)])
        unfinished = np.isnan(splits)
        assert 0 < unfinished.sum() < unfinished.size
        most = (~unfinished).sum(axis=0)
        compared = np.where(most == most.max(), np.nan_to_num(splits).sum(axis=0) / np.maximum(most, 1), -np.inf)
        assert clf.cv_results_["params"][int(np.argmax(compared))] == {"C": clf.C_, "gamma": clf.gamma_}
        ranks = clf.cv_results_["rank_test_score"]
        assert ranks[unfinished.any(axis=0)].min() > ranks[~unfinished.any(axis=0)].max(initial=0)

    def test_without_any_time_it_is_the_middle_of_the_grid(self, rows):
        with pytest.warns(ConvergenceWarning) as told:
            clf = RejectSVCCV(ASYMMETRIC, time_limit=1e-9).fit(*rows)
        message = str(told[0].message)
        assert "250 of the 250 fits of its search count as not tried, with 50 of the 50 pairs on no fold" in message
        assert "(C from 0.01 to 1e+03, gamma from" in message
        assert pytest.approx(np.logspace(-2, 3, 10)[4]) == clf.C_
        assert clf.cv_results_["param_gamma"][2] == clf.gamma_
        assert np.isnan(clf.best_score_)
        assert clf.status_ == "time_limit"

    def test_control_a_limit_that_is_not_reached_changes_nothing(self, rows):
        limited, free = (RejectSVCCV(ASYMMETRIC, **SMALL, time_limit=limit).fit(*rows) for limit in (1e6, None))
        assert limited.best_score_ == free.best_score_
        np.testing.assert_array_equal(limited.dual_coef_, free.dual_coef_)


def test_fits_of_the_search_that_stop_short_are_counted_in_a_warning(rows):
    with pytest.warns(ConvergenceWarning) as told:
        RejectSVCCV(ASYMMETRIC, **SMALL, max_iter=3).fit(*rows)
    assert "10 of the 10 fits of RejectSVCCV's search stopped short of their tolerance" in str(told[0].message)


@pytest.mark.parametrize("kernel", ["poly", "linear"])
def test_ill_conditioned_kernels_are_solved_by_their_sets(rows, kernel):
    # pair steps alone need millions of iterations here; a warning would be an error
    X, y = rows[0] * np.logspace(0, 1, rows[0].shape[1]), rows[1]
    clf = RejectSVCCV(ASYMMETRIC, kernel=kernel, Cs=[1.0, 100.0], gammas=[0.1], max_iter=200_000).fit(X, y)
    assert clf.status_ == "optimal"


ALL = np.arange(150)
# what is wrong: the words of the refusal, what is given
REFUSED = {
    "no values of C": (r"Cs=0 must be at least 1, or the list of values to try\.", {"Cs": 0}),
    "an empty list of C": (r"Cs=\[\] must be a number of values or a list with at least one\.", {"Cs": []}),
    "C a word": (r"Cs='many' must be a number of values", {"Cs": "many"}),
    "a C below zero": (r"Cs\[1\]=-1 must be positive and finite\.", {"Cs": [1, -1]}),
    "a C of inf": (r"Cs\[0\]=inf must be positive and finite\.", {"Cs": [np.inf]}),
    "C a boolean": (r"Cs\[0\]=True must be a real number", {"Cs": True}),
    "a C that overflows": (r"C=1e\+308 times the weights .* overflows", {"Cs": [1, 1e308]}),
    "no values of gamma": (r"gammas=-2 must be at least 1", {"gammas": -2}),
    "an unknown word for gamma": (r"gamma='wide' must be \"scale\", \"auto\"", {"gammas": ["wide"]}),
    "a gamma of zero": (r"gamma=0 must be positive", {"gammas": [0]}),
    "one fold": (r"The 'cv' parameter of RejectSVCCV must be an int in the range \[2", {"cv": 1}),
    "no folds": (r"cv has no folds; give a number of them", {"cv": []}),
    "a fold that trains on one class": (
        r"fold 1 of cv trains without the class \S+; use fewer folds or stratify them\.",
        {"cv": [(ALL[:100], ALL[100:]), (np.arange(1), ALL[100:])]},
    ),
    "a fold without tests": (r"fold 0 of cv has no test rows with weight; use fewer folds, or ", {"cv": [(ALL, [])]}),
    "costs no Costs": (r"costs=0\.3 must be a Costs, not a float", {"costs": 0.3}),
    "a tol of zero": (r"The 'tol' parameter of RejectSVCCV", {"tol": 0}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused_with_a_reason(name, rows):
    words, given = REFUSED[name]
    with pytest.raises(ValueError, match=words):
        RejectSVCCV(**given).fit(*rows)


def test_a_fold_whose_weights_are_zero_is_refused(rows):
    weight = np.ones(150)
    weight[:30] = 0
    with pytest.raises(ValueError, match=r"fold 0 of cv=KFold\(.*\) has no test rows with weight"):
        RejectSVCCV(cv=KFold(5)).fit(*rows, weight)


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("y", [[0, 0, 1], [0, 1, 1]])
def test_two_folds_of_three_rows_are_not_to_be_fewer(y):
    with pytest.raises(ValueError, match=r"cv=2 trains without the class \d; add rows of this class, or"):
        RejectSVCCV(Costs(reject=0.2), cv=2).fit([[0.0], [1.0], [2.0]], y)
