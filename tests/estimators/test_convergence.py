"""A fit that did not reach the optimum says so, with numbers and a way out."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from abstain import Costs, RejectSVC
from abstain.dual.certificate import Certificate
from abstain.dual.proof import DualSolution, Proof, Status
from abstain.estimators.fitting import solving

ASYMMETRIC = Costs(false_positive=1, false_negative=5, reject=0.3)


def test_iteration_limit(data):
    with pytest.warns(
        ConvergenceWarning, match=r"stopped after 2 iterations .*KKT violation .*raise max_iter=2"
    ) as got:
        clf = RejectSVC(max_iter=2, solver="smo").fit(*data)
    assert len(got) == 1
    assert got[0].filename == __file__
    assert clf.status_ == "iteration_limit"
    assert clf.duality_gap_ > 0
    assert np.isfinite(clf.decision_function(data[0])).all()


def test_time_limit():
    X = np.random.default_rng(0).normal(size=(4000, 10)) * 1e3
    y = np.random.default_rng(1).integers(0, 2, 4000)
    with pytest.warns(ConvergenceWarning, match=r"raise time_limit=0.05"):
        clf = RejectSVC(kernel="linear", C=1e6, time_limit=0.05).fit(X, y)
    assert clf.status_ == "time_limit"


def test_none_when_optimal(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RejectSVC(ASYMMETRIC).fit(*data)


@pytest.mark.parametrize(
    ("violation", "gap", "indefinite", "status"),
    [
        (1e-3, 1e-2, False, Status.OPTIMAL),
        (1e-2, 1e-12, False, Status.OPTIMAL),  # rounding in the scores, nothing left to gain
        (1e-2, 1e-2, False, Status.INACCURATE),
        (0.0, 0.0, True, Status.INACCURATE),
    ],
)
def test_a_solver_is_believed_only_as_far_as_the_certificate_goes(violation, gap, indefinite, status):
    certificate = Certificate(1.0, 1.0 - gap, gap, gap, violation)
    said = DualSolution(np.zeros(2), 0.0, np.zeros(2), Status.OPTIMAL, 7)
    assert Proof.of(certificate, said, 1e-3, definite=not indefinite).status == status


def test_a_limit_stays_a_limit():
    said = DualSolution(np.zeros(2), 0.0, np.zeros(2), Status.TIME_LIMIT, 7)
    certificate = Certificate(1.0, 1.0, 0.0, 0.0, 0.0)
    assert Proof.of(certificate, said, 1e-3, definite=True).status == Status.TIME_LIMIT


class TestFinerTolerance:
    """A violation below tol may leave a large gap where C is large; the solver is then sent back."""

    @pytest.fixture
    def rows(self):
        X = np.random.default_rng(0).normal(size=(1500, 4))
        return X, np.linalg.norm(X, axis=1) > 1.8

    def test_the_gap_is_brought_down_at_large_C(self, rows):
        clf = RejectSVC(Costs(reject=0.2), C=1e6, gamma=4.0).fit(*rows)  # a warning would be an error
        assert clf.status_ == "optimal"
        assert clf.duality_gap_ <= 0.01

    def test_control_without_being_sent_back_it_stays(self, rows, monkeypatch):
        monkeypatch.setattr(solving, "ROUNDS", 0)
        monkeypatch.setattr(solving, "stretch", lambda *_: 1.0)
        with pytest.warns(ConvergenceWarning, match="relative duality gap"):
            clf = RejectSVC(Costs(reject=0.2), C=1e6, gamma=4.0).fit(*rows)
        assert clf.status_ == "inaccurate"
        assert clf.duality_gap_ > 0.01

    def test_limits_hold_for_all_rounds_together(self, rows):
        with pytest.warns(ConvergenceWarning):
            short = RejectSVC(Costs(reject=0.2), C=1e6, gamma=4.0, max_iter=3000).fit(*rows)
        assert short.n_iter_ <= 3000
        assert short.status_ == "iteration_limit"


@pytest.mark.parametrize("solver", ["auto", "active-set"])
@pytest.mark.parametrize("max_iter", [2001, 2300, 2600])
def test_the_limit_on_iterations_holds_where_the_sets_are_hard_to_find(solver, max_iter):
    # at this C events of the path crowd together, and following it took millions of rounds
    rng = np.random.default_rng(8)
    X = rng.normal(size=(100, 1))
    y = X[:, 0] + rng.normal(size=100) > 0
    with pytest.warns(ConvergenceWarning, match="iteration_limit"):
        clf = RejectSVC(Costs(reject=0.2), C=1e10, max_iter=max_iter, solver=solver).fit(X, y)
    assert clf.n_iter_ <= max_iter
    assert clf.status_ == "iteration_limit"
