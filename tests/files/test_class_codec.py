"""Model files of machines of more than two classes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

import abstain
from abstain import Costs, RejectSVC, RejectSVCCV
from abstain.files.codecs.svc_codec import svc_from, svc_parts
from abstain.files.format.schema import Fields
from abstain.rules.tuning.sigmoid import Lead
from class_cases import GENERAL, gaussians, table_costs
from looping import looped

X, Y = gaussians(90)
NAMES = np.array(["ant", "bee", "cow"])[Y]
NAMED = Costs.from_matrix(GENERAL, labels=["ant", "bee", "cow"], reject=[0.2, 0.6, 0.3])
GRAM = np.exp(-0.3 * ((X[:, np.newaxis] - X) ** 2).sum(axis=2))

CASES = {
    "votes": lambda: (RejectSVC().fit(X, Y), X),
    "votes, names": lambda: (RejectSVC(kernel="linear").fit(X, NAMES), X),
    "votes, sparse": lambda: (RejectSVC().fit(csr_array(X), Y), csr_array(X)),
    "costs": lambda: (RejectSVC(Costs(reject=0.2)).fit(X, Y), X),
    "costs by name": lambda: (RejectSVC(NAMED, reject_label="none").fit(X, NAMES), X),
    "Gram matrix": lambda: (RejectSVC(Costs(reject=0.2), kernel="precomputed").fit(GRAM, Y), GRAM),
    "search": lambda: (RejectSVCCV(table_costs(GENERAL, 0.4), Cs=[1.0, 10.0], gammas=[0.3]).fit(X, Y), X),
    "search of votes": lambda: (RejectSVCCV(Cs=[1.0, 10.0], gammas=2).fit(X, Y), X),
    "search, Bayes' cuts": lambda: (RejectSVCCV(NAMED, Cs=[1.0], gammas=[0.3], cuts="bayes").fit(X, NAMES), X),
}


@looped(case=CASES)
def test_a_round_trip_keeps_every_bit(case, tmp_path):
    clf, rows = CASES[case]()
    path = tmp_path / "model"
    abstain.save(clf, path)
    again = abstain.load(path)
    np.testing.assert_array_equal(again.decision_function(rows), clf.decision_function(rows))
    np.testing.assert_array_equal(again.predict(rows), clf.predict(rows))
    np.testing.assert_array_equal(again.dual_coef_, clf.dual_coef_)
    assert again.proofs_ == clf.proofs_
    assert again.costs == clf.costs
    if isinstance(clf, RejectSVCCV):
        assert again.best_score_ == clf.best_score_
        assert getattr(again.rule_.readout, "lead", None) == getattr(clf.rule_.readout, "lead", None)
    second = tmp_path / "second"
    abstain.save(again, second)
    assert second.read_bytes() == path.read_bytes()


def loaded_with(clf, cuts):
    state, arrays = svc_parts(clf)
    state["rule"]["cuts"] = cuts
    return svc_from(clf, Fields(state, "machine"), arrays, X.shape[1])


def test_files_with_a_scale_only_still_load():
    clf = RejectSVCCV(Costs(reject=0.2), Cs=[1.0], gammas=[0.3]).fit(X, Y)
    lead = clf.rule_.readout.lead
    assert loaded_with(clf, [lead.scale, lead.slope, lead.shift]).rule.readout.lead == lead
    assert loaded_with(clf, [lead.scale]).rule.readout.lead == Lead(lead.scale, 1.0, 0.0)


@pytest.mark.parametrize("cuts", [[0.0], [-1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0], [1, 1.0, 0.0], ["x", 1.0, 0.0]])
def test_leads_that_no_search_finds_are_refused(cuts):
    clf = RejectSVCCV(Costs(reject=0.2), Cs=[1.0], gammas=[0.3]).fit(X, Y)
    with pytest.raises(ValueError, match=r"are not possible|does not have 0 or 1 or 3 cuts"):
        loaded_with(clf, cuts)


def forged(clf, **changes):
    now = clf._fitted_
    clf._fitted_ = replace(now, **changes)
    return clf


def machine_of(clf, **changes):
    return replace(clf._fitted_.machine, **changes)


FORGERIES = {
    "coefficients that do not sum to 0": lambda clf: forged(clf, machine=machine_of(clf, coef=clf.machine_.coef + 1.0)),
    "a gap that is too small": lambda clf: forged(
        clf, proofs=tuple(replace(proof, gap=0.0, dual_objective=0.5 * proof.objective) for proof in clf.proofs_)
    ),
    "a lead without a search": lambda clf: forged(clf, rule=clf.rule_.tuned(Lead(3.0))),
    "sets out of range": lambda clf: forged(clf, sets=clf.sets_ + np.int8(50)),
    "another kernel": lambda clf: forged(clf, machine=machine_of(clf, kernel=replace(clf.machine_.kernel, gamma=9.0))),
}


@looped(case=FORGERIES)
def test_a_machine_that_contradicts_itself_is_refused(case, tmp_path):
    clf = RejectSVC(Costs(reject=0.2), gamma=0.3).fit(X, Y)
    abstain.save(clf, tmp_path / "good")
    with pytest.raises(ValueError, match=r"its|it |one of"):
        abstain.save(FORGERIES[case](clf), tmp_path / "model")
