"""Every estimator with every kind of costs: two classes, several, named actions, each also with costs per row."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from abstain import (
    Actions,
    Costs,
    LinearRejectSVC,
    LinearRejectSVCCV,
    RejectSVC,
    RejectSVCCV,
    ThresholdRejector,
    decide,
)
from class_cases import CENTRES

NAMES = np.array(["ant", "bee", "cow"])
KINDS = {
    "two": Costs.from_table({"ant": {"bee": 1}, "bee": {"ant": 3}}, reject={"ant": 0.3, "bee": 0.4}),
    "three": Costs.from_table(
        {"ant": {"bee": 1, "cow": 2}, "bee": {"ant": 5, "cow": 3}, "cow": {"ant": 1, "bee": 1}}, reject=0.4
    ),
    "actions of two": Actions(
        {
            "keep": {"ant": 0, "bee": 4},
            "drop": {"ant": 1.5, "bee": 0},
            "ask": 0.4,
            "test": {"ant": 0.5, "bee": 0.3},
        },
        rejects=("ask", "test"),
    ),
    "actions of three": Actions(
        {
            "test": {"ant": 0.5, "bee": 0.3, "cow": 0.2},
            "ant": {"ant": 0, "bee": 3, "cow": 6},
            "bee": {"ant": 1, "bee": 0, "cow": 3},
            "cow": {"ant": 2, "bee": 1, "cow": 0},
            "ask": 0.4,
        }
    ),
}
ESTIMATORS = {
    "RejectSVC": lambda costs: RejectSVC(costs, C=3.0, gamma=0.4),
    "RejectSVCCV": lambda costs: RejectSVCCV(costs, Cs=[0.3, 3.0], gammas=[0.4], cv=3),
    "LinearRejectSVC": LinearRejectSVC,
    "LinearRejectSVCCV": lambda costs: LinearRejectSVCCV(costs, Cs=[0.1, 1.0], cv=3),
    "ThresholdRejector": lambda costs: ThresholdRejector(LogisticRegression(), costs, method="chow"),
}
N = 160
every_kind = pytest.mark.parametrize("kind", KINDS)
every_estimator = pytest.mark.parametrize("name", ESTIMATORS)


def drawn(kind, n, seed):
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3 if "three" in kind else 2, n)
    return CENTRES[code] + rng.standard_normal((n, 2)), code


def stated(kind):
    """The costs by hand: rows truth, columns action, and the actions."""
    costs, names = KINDS[kind], NAMES[: 3 if "three" in kind else 2].tolist()
    if kind == "two":
        return np.array([[0, 0.3, 1], [3, 0.4, 0]]), ["ant", "reject", "bee"]
    if kind == "three":
        return np.array([[0, 1, 2, 0.4], [5, 0, 3, 0.4], [1, 1, 0, 0.4]]), [*names, "reject"]
    table = costs.to_dict()
    return np.array([[c[k] if isinstance(c, dict) else c for c in table.values()] for k in names]), [*table]


def of_rows(kind, n, seed=5):
    """Costs of rows: those stated, each times a factor of its own and a factor of the row."""
    rng, (table, _) = np.random.default_rng(seed), stated(kind)
    return table * np.exp(rng.normal(scale=0.6, size=(n, *table.shape)) + rng.normal(size=(n, 1, 1)))


def handing_on(kind):
    return np.isin(stated(kind)[1], ["reject", "ask", "test"])


@dataclass
class Case:
    """A fitted estimator, new rows, the costs of each, and what it decides."""

    clf: Any
    X: Any
    code: Any
    tables: Any
    given: dict
    decisions: Any
    actions: list

    @property
    def taken(self):
        return np.array([self.actions.index(label) for label in self.decisions.label.tolist()])


@cache
def case(kind, name, rows):
    """`rows`: "none", "given" at predict alone, "fitted" with `costs` too, or "only" rows have costs."""
    X, code = drawn(kind, N, 0)
    new, truth = drawn(kind, 200, 1)
    table, actions = stated(kind)
    clf = ESTIMATORS[name](None if rows == "only" else KINDS[kind])
    fit = {"row_costs": of_rows(kind, N)} if rows in ("fitted", "only") else {}
    clf.fit(X, NAMES[code], **fit)
    own = of_rows(kind, 200, 6)
    given = {} if rows == "none" else {"row_costs": own}
    tables = np.broadcast_to(table, (200, *table.shape)) if rows == "none" else own
    return Case(clf, new, truth, tables, given, clf.decide(new, **given), actions)


def cases():
    for kind in KINDS:
        for name in ESTIMATORS:
            for rows in ("none", "given", "fitted", *(() if "actions" in kind else ("only",))):
                yield pytest.param(kind, name, rows, id=f"{kind}, {name}, {rows}")


every_case = pytest.mark.parametrize(("kind", "name", "rows"), [*cases()])


@every_case
def test_each_row_gets_its_cheapest_action(kind, name, rows):
    one, answers = case(kind, name, rows), np.flatnonzero(~handing_on(kind))
    expected = one.decisions.expected_cost
    np.testing.assert_array_equal(one.taken, expected.argmin(axis=1))
    forced = [one.actions.index(label) for label in one.decisions.forced.tolist()]
    np.testing.assert_array_equal(forced, answers[expected[:, answers].argmin(axis=1)])
    assert len(np.unique(one.taken)) > 2

    def probabilities(tables):
        """Those whose expected costs are the ones shown, and by how much they miss them."""
        found = np.array([np.linalg.lstsq(t.T, e)[0] for t, e in zip(tables, expected, strict=True)])
        return found, np.abs(np.einsum("nk,nka->na", found, tables) - expected)

    P, missed = probabilities(one.tables)
    assert missed.max() < 1e-9
    np.testing.assert_allclose(P.sum(axis=1), 1.0, atol=1e-9)
    assert P.min() > -1e-9
    if name == "ThresholdRejector":
        np.testing.assert_allclose(P, one.clf.predict_proba(one.X), atol=1e-9)
    # control: the costs of other rows do not fit
    assert rows == "none" or probabilities(one.tables[::-1])[1].max() > 0.01


@every_case
def test_all_methods_say_the_same(kind, name, rows):
    one, clf = case(kind, name, rows), case(kind, name, rows).clf
    decided, X, given = one.decisions, one.X, one.given
    np.testing.assert_array_equal(clf.predict(X, **given), decided.label)
    np.testing.assert_array_equal(clf.predict_forced(X, **given), decided.forced)
    np.testing.assert_array_equal(clf.reject_mask(X, **given), decided.rejected)
    np.testing.assert_array_equal(decided.rejected, handing_on(kind)[one.taken])
    paid = one.tables[np.arange(200), one.code, one.taken]
    assert clf.score(X, NAMES[one.code], **given) == pytest.approx(-paid.mean())
    weight = np.arange(200.0)
    assert clf.score(X, NAMES[one.code], weight, **given) == pytest.approx(-np.average(paid, weights=weight))
    frame = decided.to_frame()
    assert frame["label"].tolist() == decided.label.tolist()
    assert f"{decided.rejected.sum()} rejected" in repr(decided)
    again = pickle.loads(pickle.dumps(clf))  # noqa: S301
    np.testing.assert_array_equal(again.predict(X, **given), decided.label)


@every_kind
@every_estimator
def test_equal_costs_of_rows_are_costs(kind, name):
    plain = case(kind, name, "none")
    table, _ = stated(kind)
    X, code = drawn(kind, N, 0)
    own = np.tile(table, (200, 1, 1))
    for costs in (KINDS[kind], *(() if "actions" in kind else (None,))):
        clf = ESTIMATORS[name](costs).fit(X, NAMES[code], row_costs=np.tile(table, (N, 1, 1)))
        found = clf.decide(plain.X, row_costs=own)
        if kind == "two" or name == "ThresholdRejector":
            np.testing.assert_allclose(found.expected_cost, plain.decisions.expected_cost, atol=1e-7)
        # with costs of rows, the losses of several classes and of actions have tangents at more places
        assert np.mean(found.label == plain.decisions.label) > 0.9
    np.testing.assert_array_equal(plain.clf.predict(plain.X, row_costs=own), plain.decisions.label)


@every_kind
@pytest.mark.parametrize("by_row", [False, True])
def test_bayes_risk_is_approached(kind, by_row):
    (X, code), (new, _) = drawn(kind, 700, 2), drawn(kind, 2000, 3)
    table, actions = stated(kind)
    fit = {"row_costs": of_rows(kind, 700)} if by_row else {}
    tables = of_rows(kind, 2000, 7) if by_row else np.broadcast_to(table, (2000, *table.shape))
    likely = np.exp(-0.5 * ((new[:, np.newaxis] - CENTRES[: len(table)]) ** 2).sum(axis=2))
    expected = np.einsum("nk,nka->na", likely / likely.sum(axis=1, keepdims=True), tables)
    clf = RejectSVC(KINDS[kind], C=1.0, gamma=0.2).fit(X, NAMES[code], **fit)
    label = clf.predict(new, **({"row_costs": tables} if by_row else {}))
    paid = expected[np.arange(2000), [actions.index(one) for one in label.tolist()]].mean()
    bayes, forced = expected.min(axis=1).mean(), expected[:, ~handing_on(kind)].min(axis=1).mean()
    assert bayes < paid < 0.7 * bayes + 0.3 * forced
    if by_row:  # control: decisions by the costs stated for all rows
        same = expected[np.arange(2000), [actions.index(one) for one in clf.predict(new).tolist()]].mean()
        assert same > 1.02 * paid


@every_kind
def test_in_a_pipeline(kind):
    X, code = drawn(kind, N, 0)
    model = make_pipeline(StandardScaler(), RejectSVC(KINDS[kind])).fit(X, NAMES[code])
    np.testing.assert_array_equal(decide(model, X).label, model.predict(X))
    own = decide(model, X, row_costs=of_rows(kind, N))
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_array_equal(own.label, model[-1].predict(scaled, row_costs=of_rows(kind, N)))


@every_kind
@every_estimator
def test_what_costs_of_rows_must_be(kind, name):
    one, own = case(kind, name, "none"), of_rows(kind, 200)
    X, code = drawn(kind, N, 0)
    with pytest.raises(ValueError, match=r"each of the 200 rows of X; it has 5"):
        one.clf.predict(one.X, row_costs=own[:5])
    with pytest.raises(ValueError, match=r"each of the 160 rows of X; it has 5"):
        clone(one.clf).fit(X, NAMES[code], row_costs=own[:5])
    with pytest.raises(ValueError, match=r"row_costs must have shape \(n, \d, \d\)"):
        one.clf.predict(one.X, row_costs=own[..., :-1])
    if "actions" in kind:
        return
    only = case(kind, name, "only")
    for method in (only.clf.predict, only.clf.decide, only.clf.reject_mask, only.clf.predict_set):
        with pytest.raises(ValueError, match="pass row_costs for these rows, or state costs"):
            method(one.X)
