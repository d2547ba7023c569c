"""A fit changes nothing until it is complete, then all at once: during refits, refused ones and concurrent ones."""

import threading

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from abstain import Costs, EmbeddedRejectSVC, RejectSVC, RejectSVCCV, ThresholdRejector
from looping import rarely

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
FIRST = (X[:, 0] + 0.5 * RNG.normal(size=60) > 0).astype(int)
SECOND = 1 - FIRST
MAKERS = {
    "RejectSVC": lambda: RejectSVC(Costs(reject=0.2)),
    "RejectSVCCV": lambda: RejectSVCCV(Costs(reject=0.2), Cs=[1.0], gammas=[0.5], cv=2),
    "EmbeddedRejectSVC": EmbeddedRejectSVC,
    "ThresholdRejector": lambda: ThresholdRejector(LogisticRegression(), Costs(reject=0.2), cv=2),
}


@pytest.fixture(params=rarely(MAKERS, "EmbeddedRejectSVC"))
def make(request):
    return MAKERS[request.param]


def test_predictions_during_a_refit_are_those_of_one_of_the_two(make):
    known = [make().fit(X, y).predict(X).tolist() for y in (FIRST, SECOND)]
    assert known[0] != known[1]
    shared, done, found = make().fit(X, FIRST), threading.Event(), []

    def refit():
        for turn in range(2000):  # many of them where this thread has the processor to itself
            if turn >= 20 and len(found) > 5:
                break
            shared.fit(X, SECOND if turn % 2 == 0 else FIRST)
        done.set()

    thread = threading.Thread(target=refit)
    thread.start()
    while not done.is_set():
        found.append(shared.predict(X).tolist())
    thread.join(30)
    assert len(found) > 5
    assert all(one in known for one in found)


def test_concurrent_refits_end_as_one_of_them(make):
    known = [make().fit(X, y).predict(X).tolist() for y in (FIRST, SECOND)]
    shared, failures = make(), []

    def refit(y):
        try:
            for _ in range(5):
                shared.fit(X, y)
        except Exception as error:  # noqa: BLE001 (any is a failure of the test)
            failures.append(error)

    threads = [threading.Thread(target=refit, args=(y,)) for y in (FIRST, SECOND) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert failures == []
    assert shared.predict(X).tolist() in known


def test_a_refused_refit_leaves_the_machine_and_its_width(make):
    clf = make().fit(X, FIRST)
    before = clf.predict(X)
    wider = np.c_[X, X[:, 0]]
    for rows, y in ((np.where(wider > 1.5, np.nan, wider), FIRST), (wider, np.zeros(60)), (wider, FIRST[:-1])):
        with pytest.raises(ValueError, match=r".+"):
            clf.fit(rows, y)
        assert clf.n_features_in_ == 2
        np.testing.assert_array_equal(clf.predict(X), before)
    with pytest.raises(ValueError, match="3 features"):
        clf.predict(wider)
