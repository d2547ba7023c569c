"""Settings of every public estimator for scikit-learn's own checks, and the checks that are stated to fail, with why.

`docs/write_checks.py` runs all of them and writes the table of docs/api.md.
"""

import warnings

from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import check_estimator

from abstain import (
    Actions,
    Costs,
    EmbeddedRejectSVC,
    Forced,
    LinearRejectSVC,
    LinearRejectSVCCV,
    MachineSearch,
    NoveltyRejector,
    OneClassSVM,
    RejectSVC,
    RejectSVCCV,
    ThresholdRejector,
)

SIDES, EVEN = Costs(1, 2, 0.3), Costs(reject=0.3)
GRID = {"Cs": 2, "gammas": 2, "cv": 2}
LINES = {"Cs": 2, "cv": 2}
ANY = LogisticRegression()
CALL = Actions({0: {0: 0, 1: 2}, 1: {0: 3, 1: 0}, "call": 0.3})
CROSS = ThresholdRejector(ANY, class_error=0.3, conformal="cross", random_state=0)

# by name: how it is written in the table, and the estimator; the first of each is the default, as far as it has one
CASES = {
    "RejectSVC": [
        ("", RejectSVC()),
        ("Costs(1, 2, 0.3)", RejectSVC(SIDES)),
        ('Costs(reject=0.3), kernel="linear"', RejectSVC(EVEN, kernel="linear")),
        ('Costs(reject=0.3), rule="bartlett-wegkamp"', RejectSVC(EVEN, rule="bartlett-wegkamp")),
        ('Costs(1, 2, 0.3), solver="active-set"', RejectSVC(SIDES, solver="active-set")),
        ('kernel="laplacian"', RejectSVC(kernel="laplacian")),
        ('Actions({0: {0: 0, 1: 2}, 1: {0: 3, 1: 0}, "call": 0.3})', RejectSVC(CALL)),
    ],
    "RejectSVCCV": [
        ("Cs=2, gammas=2, cv=2", RejectSVCCV(**GRID)),
        ("Costs(1, 2, 0.3), Cs=2, gammas=2, cv=2", RejectSVCCV(SIDES, **GRID)),
        ("Costs(reject=0.3), Cs=2, gammas=2, cv=2", RejectSVCCV(EVEN, **GRID)),
        ('Costs(reject=0.3), Cs=2, gammas=2, cv=2, cuts="tuned"', RejectSVCCV(EVEN, **GRID, cuts="tuned")),
        ('kernel="linear", Cs=2, cv=2', RejectSVCCV(kernel="linear", **LINES)),
        ('kernel="auto", Cs=2, gammas=2, cv=2', RejectSVCCV(kernel="auto", **GRID)),
    ],
    "LinearRejectSVC": [
        ("", LinearRejectSVC()),
        ("Costs(1, 2, 0.3)", LinearRejectSVC(SIDES)),
        ("Costs(reject=0.3)", LinearRejectSVC(EVEN)),
        ('class_weight="balanced", C=10', LinearRejectSVC(class_weight="balanced", C=10)),
        ('kernel="rbf", n_components=20', LinearRejectSVC(kernel="rbf", n_components=20)),
    ],
    "LinearRejectSVCCV": [
        ("Cs=2, cv=2", LinearRejectSVCCV(**LINES)),
        ("Costs(1, 2, 0.3), Cs=2, cv=2", LinearRejectSVCCV(SIDES, **LINES)),
        ("Costs(reject=0.3), Cs=2, cv=2", LinearRejectSVCCV(EVEN, **LINES)),
        ('Costs(1, 2, 0.3), Cs=2, cv=2, cuts="tuned"', LinearRejectSVCCV(SIDES, **LINES, cuts="tuned")),
        ('class_weight="balanced", Cs=2, cv=2', LinearRejectSVCCV(class_weight="balanced", **LINES)),
    ],
    "ThresholdRejector": [
        ("LogisticRegression()", ThresholdRejector(ANY)),
        ("LogisticRegression(), Costs(1, 2, 0.3)", ThresholdRejector(ANY, SIDES)),
        ('LogisticRegression(), Costs(reject=0.3), method="chow"', ThresholdRejector(ANY, EVEN, method="chow")),
        ("LogisticRegression(), reject_rate=0.2", ThresholdRejector(ANY, reject_rate=0.2)),
        ("RejectSVC(), reject_rate=(0.2, 0.1)", ThresholdRejector(RejectSVC(), reject_rate=(0.2, 0.1))),
        ("LogisticRegression(), class_error=0.2", ThresholdRejector(ANY, class_error=0.2, random_state=0)),
        ("LogisticRegression(), max_error=0.6", ThresholdRejector(ANY, max_error=0.6, random_state=0)),
        ('LogisticRegression(), class_error=0.3, conformal="cross"', CROSS),
    ],
    "MachineSearch": [
        ('machines=("logistic", "svm"), cv=2', MachineSearch(machines=("logistic", "svm"), cv=2)),
        ('Costs(1, 2, 0.3), ("logistic",), cv=2', MachineSearch(SIDES, ("logistic",), cv=2)),
        ('Costs(reject=0.3), ("logistic",), cv=2', MachineSearch(EVEN, ("logistic",), cv=2)),
        ('Costs(reject=0.3), ("boosting",), cv=2', MachineSearch(EVEN, ("boosting",), cv=2)),
        ('machines=("forest",), cv=2', MachineSearch(machines=("forest",), cv=2)),
    ],
    "NoveltyRejector": [
        ("RejectSVC()", NoveltyRejector(RejectSVC(), random_state=0)),
        ("RejectSVC(Costs(1, 2, 0.3))", NoveltyRejector(RejectSVC(SIDES), random_state=0)),
        ("LogisticRegression()", NoveltyRejector(ANY, random_state=0)),
        ("RejectSVC(), refit=False", NoveltyRejector(RejectSVC(), refit=False, random_state=0)),
        ("RejectSVC(), detector=OneClassSVM()", NoveltyRejector(RejectSVC(), detector=OneClassSVM(), random_state=0)),
        ("RejectSVC(), rate=0.5", NoveltyRejector(RejectSVC(), 0.5, random_state=0)),
    ],
    "EmbeddedRejectSVC": [
        ("n_starts=2", EmbeddedRejectSVC(n_starts=2)),
        ("reject_cost=0.2, n_starts=1", EmbeddedRejectSVC(0.2, n_starts=1)),
        ('reject_cost=0.1, kernel="rbf", n_starts=1', EmbeddedRejectSVC(0.1, kernel="rbf", n_starts=1)),
        ("reject_cost=0.3, lower_bound=True, n_starts=1", EmbeddedRejectSVC(0.3, lower_bound=True, n_starts=1)),
        ('reject_cost=0.2, solver="dual", n_starts=1', EmbeddedRejectSVC(0.2, solver="dual", n_starts=1)),
    ],
    "OneClassSVM": [
        ("", OneClassSVM()),
        ("nu=0.5", OneClassSVM(nu=0.5)),
        ('kernel="linear"', OneClassSVM(kernel="linear")),
        ("gamma=0.1", OneClassSVM(gamma=0.1)),
        ('kernel="poly", coef0=1', OneClassSVM(kernel="poly", coef0=1.0)),
    ],
    "Forced": [
        ("RejectSVC()", Forced(RejectSVC())),
        ("RejectSVC(Costs(1, 2, 0.3))", Forced(RejectSVC(SIDES))),
        ("RejectSVC(Costs(reject=0.3))", Forced(RejectSVC(EVEN))),
        ("LinearRejectSVC(Costs(1, 2, 0.3))", Forced(LinearRejectSVC(SIDES))),
        ('RejectSVC(Costs(1, 2, 0.3), kernel="linear")', Forced(RejectSVC(SIDES, kernel="linear"))),
        ("ThresholdRejector(LogisticRegression(), Costs(1, 2, 0.3))", Forced(ThresholdRejector(ANY, SIDES))),
    ],
}

REJECTS = "It compares labels with the sign of the score; a rejected row has the label of a reject. Passes in `Forced`."
COUNTED = "It wants nearly all rows answered as one class; the rows that are rejected count as wrong."
DRAWN = "Forests, boosted trees (those of scikit-learn too) and calibration rows: a weight is not a repeated row there."
STATED_RATE = "A stated rate needs calibration rows; with one row the error says so, in other words than wanted."
REASONS = {
    "check_classifiers_train": REJECTS,
    "check_classifiers_classes": REJECTS,
    "check_class_weight_classifiers": COUNTED,
    "check_sample_weight_equivalence_on_dense_data": DRAWN,
    "check_sample_weight_equivalence_on_sparse_data": DRAWN,
    "check_fit2d_1sample": STATED_RATE,
}
# the checks that fail, by name and settings; nothing else may
REJECTING = {"check_classifiers_train", "check_classifiers_classes", "check_class_weight_classifiers"}


def stated(name, settings):
    """Give the checks that may fail with these settings."""
    may = set()
    if any(word in settings for word in ("Costs", "reject_rate", "reject_cost", "rate=0.5")) and name != "Forced":
        may |= REJECTING
    if '"boosting"' in settings or '"forest"' in settings:
        may |= {check for check, reason in REASONS.items() if reason is DRAWN}
    if "rate=0.5" in settings:
        may |= set(REASONS)
    return may


def run(estimator):
    """Run all checks; give how many passed, how many were skipped, and those that failed with their errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_fail=None, on_skip=None)
    count = [sum(result["status"] == status for result in results) for status in ("passed", "skipped")]
    return *count, {one["check_name"]: one["exception"] for one in results if one["status"] == "failed"}
