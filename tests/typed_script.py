"""A user's script, checked by mypy and pyright and run by tests/test_typing.py: nothing after `fit` is Any."""

from __future__ import annotations

from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator  # type: ignore[import-untyped]

import abstain
from abstain.candidates.trials import Choice
from abstain.comparison.result import Comparison
from abstain.costs.cuts import Levels, Thresholds
from abstain.costs.table import CostTable
from abstain.dual.proof import Proof
from abstain.estimators.fitting.bases import Model
from abstain.estimators.novelty.guard import Calibration, Guard
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.linear_machine import LinearMachine
from abstain.machines.machine import Machine
from abstain.rules.decisions import Decisions
from abstain.rules.rule import Rule
from abstain.rules.tuning.class_error import ClassErrorBound
from abstain.rules.tuning.risk_control import ErrorBound

rng = np.random.default_rng(0)
y = np.arange(120) % 2
X = rng.normal(size=(120, 2)) + 1.5 * y[:, np.newaxis]
costs = abstain.Costs(false_positive=1, false_negative=5, reject=0.3)

machine = abstain.RejectSVC(costs, pos_label=1).fit(X, y)
assert_type(machine, abstain.RejectSVC)
assert_type(machine.decision_function(X), NDArray[np.float64])
assert_type(machine.reject_mask(X), NDArray[np.bool_])
assert_type(machine.decide(X), Decisions)
assert_type(machine.score(X, y), float)
assert_type(machine.duality_gap_, float)
assert_type(machine.status_, str)
assert_type(machine.n_iter_, int)
assert_type(machine.proof_, Proof)
assert_type(machine.rule_, Rule)
assert_type(machine.coef_ if machine.kernel == "linear" else machine.dual_coef_, NDArray[np.float64])
assert_type(abstain.decide(machine, X), Decisions)

search = abstain.RejectSVCCV(costs, Cs=[0.1, 1.0], gammas=[0.3], cv=2, pos_label=1).fit(X, y)
assert_type(search, abstain.RejectSVCCV)
assert_type(search.best_score_, float)
assert_type(search.C_, float)

linear = abstain.LinearRejectSVC(costs, pos_label=1).fit(X, y)
assert_type(linear, abstain.LinearRejectSVC)
assert_type(linear.coef_, NDArray[np.float64])
assert_type(abstain.LinearRejectSVCCV(costs, Cs=[1.0], cv=2, pos_label=1).fit(X, y), abstain.LinearRejectSVCCV)

threshold = abstain.ThresholdRejector(linear, costs, cv="prefit", pos_label=1).fit(X, y)
assert_type(threshold, abstain.ThresholdRejector)
assert_type(threshold.method_, str)

novelty = abstain.NoveltyRejector(linear, 0.1, random_state=0).fit(X, y)
assert_type(novelty, abstain.NoveltyRejector)
assert_type(novelty.novelty(X), NDArray[np.float64])

assert_type(abstain.MachineSearch(costs, ("logistic",), cv=2, pos_label=1).fit(X, y), abstain.MachineSearch)
assert_type(abstain.EmbeddedRejectSVC(0.2).fit(X, y), abstain.EmbeddedRejectSVC)
assert_type(abstain.OneClassSVM(nu=0.1).fit(X), abstain.OneClassSVM)
forced = abstain.Forced(abstain.RejectSVC(costs, pos_label=1)).fit(X, y)
assert_type(forced, abstain.Forced)
assert_type(forced.decision_function(X), NDArray[np.float64])

assert_type(abstain.compare({"linear": linear}, X, y, costs, cv=2, pos_label=1), Comparison)
assert_type(abstain.metrics.mean_cost(y, machine.predict(X), costs, pos_label=1), float)

assert_type(machine.n_features_in_, int)
assert_type(machine.feature_names_in_ if machine.n_features_in_ < 0 else machine.classes_, NDArray[Any])
assert_type(machine.machine_, KernelMachine | LinearMachine)
assert_type(machine.reject_label_, str | float | None)
assert_type(machine.thresholds_, Thresholds | Levels | NDArray[np.float64])
assert_type(machine.n_support_, NDArray[np.int32])
assert_type(machine.predict_proba(X), NDArray[np.float64])
assert_type(search.kernel_, str | Callable[..., Any])
assert_type(threshold.certificate_, ErrorBound | ClassErrorBound | None)
assert_type(novelty.guard_, Guard)
assert_type(novelty.predict_proba(X), NDArray[np.float64])
assert_type(novelty.calibration_, Calibration)
assert_type(novelty.proof_, Proof)
choice = abstain.MachineSearch(costs, ("logistic",), cv=2, pos_label=1).fit(X, y)
assert_type(choice.choice_, Choice)
assert_type(choice.best_score_, float)
assert_type(choice.machine_, Machine)
assert_type(machine.costs, CostTable | None)
assert_type(machine.set_params(C=2.0), abstain.RejectSVC)


def saved(estimator: BaseEstimator) -> Model:
    """Save and load an estimator; every estimator is one of scikit-learn's."""
    with TemporaryDirectory() as folder:
        abstain.save(estimator, f"{folder}/model.abstain")
        return abstain.load(f"{folder}/model.abstain")


assert_type(saved(linear).predict(X), NDArray[Any])
