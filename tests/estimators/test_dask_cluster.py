"""`LinearRejectSVC` on clusters of dask: the same bits for any number of workers, also if one of them is killed."""

from __future__ import annotations

import os
import signal
import time
from contextlib import contextmanager

import numpy as np
import pytest

from abstain import Costs, LinearRejectSVC

REASON = "the extra dask is not installed"
dask = pytest.importorskip("dask", reason=REASON)
da = pytest.importorskip("dask.array", reason=REASON)
distributed = pytest.importorskip("distributed", reason=REASON)
pytestmark = pytest.mark.long
SETTINGS = {"tol": 1e-3, "C": 0.1, "costs": Costs(reject=0.2)}


def generated():
    """Rows that are made again whenever they are needed."""
    random = da.random.RandomState(0)
    X = random.normal(size=(900, 3), chunks=(300, 3))
    return X, (X[:, 0] + random.normal(size=900, chunks=300) > 0).astype(int)


@contextmanager
def cluster(workers, *, processes=False):
    options = {} if processes else {"protocol": "inproc://"}
    options |= {"n_workers": workers, "threads_per_worker": 1, "processes": processes, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as local, distributed.Client(local) as client:
        yield client


@pytest.fixture(scope="module")
def alone():
    """The fit without a cluster."""
    with dask.config.set(scheduler="synchronous"):
        return LinearRejectSVC(**SETTINGS).fit(*generated())


def idle(client):
    """Whether the cluster forgets all tasks within some seconds."""
    until = time.monotonic() + 20
    while (client.futures or client.cluster.scheduler.tasks) and time.monotonic() < until:
        time.sleep(0.01)
    return not client.futures and not client.cluster.scheduler.tasks


@pytest.mark.parametrize("workers", [1, 2])
def test_the_same_bits_for_any_number_of_workers(alone, workers):
    with cluster(workers) as client:
        clf = LinearRejectSVC(**SETTINGS).fit(*generated())
        assert idle(client)
        decided = clf.predict(generated()[0]).compute()
    np.testing.assert_array_equal(clf.coef_, alone.coef_)
    assert clf.intercept_ == alone.intercept_
    assert (clf.objective_, clf.dual_objective_) == (alone.objective_, alone.dual_objective_)
    with dask.config.set(scheduler="synchronous"):
        np.testing.assert_array_equal(decided, alone.predict(generated()[0]).compute())


def test_an_interrupt_leaves_nothing_behind(monkeypatch):
    def interrupt(self, steps, gap):  # noqa: ARG001 (as the solver calls it)
        if steps == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr("abstain.estimators.linear.linear_svc.FitTask.watched", True)
    monkeypatch.setattr("abstain.estimators.linear.linear_svc.FitTask.report", interrupt)
    clf = LinearRejectSVC(**SETTINGS)
    with cluster(1) as client:
        with pytest.raises(KeyboardInterrupt) as caught:
            clf.fit(*generated())
        assert idle(client), caught  # although the traceback still refers to what was computed
    assert not hasattr(clf, "coef_")


def test_a_killed_worker_changes_nothing(alone, monkeypatch):
    killed = []

    def kill(self, steps, gap):  # noqa: ARG001 (as the solver calls it)
        if steps == 2 and not killed:
            held = client.has_what()
            address = max(pids, key=lambda worker: len(held[worker]))
            killed.append(len(held[address]))
            os.kill(pids[address], signal.SIGKILL)

    monkeypatch.setattr("abstain.estimators.linear.linear_svc.FitTask.watched", True)
    monkeypatch.setattr("abstain.estimators.linear.linear_svc.FitTask.report", kill)
    with cluster(2, processes=True) as client:
        pids = client.run(os.getpid)
        assert len(set(pids.values()) - {os.getpid()}) == 2
        clf = LinearRejectSVC(**SETTINGS).fit(*generated())
    assert killed[0] > 0  # results that were lost
    assert clf.n_iter_ == alone.n_iter_ > 2
    np.testing.assert_array_equal(clf.coef_, alone.coef_)
    assert clf.intercept_ == alone.intercept_
    assert (clf.objective_, clf.dual_objective_) == (alone.objective_, alone.dual_objective_)


def test_a_solver_that_stops_early_is_the_control(alone):
    with dask.config.set(scheduler="synchronous"), pytest.warns(UserWarning, match="limit"):
        clf = LinearRejectSVC(**SETTINGS, max_iter=alone.n_iter_ - 1).fit(*generated())
    assert (clf.coef_ != alone.coef_).any()
