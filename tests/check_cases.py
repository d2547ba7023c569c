"""Settings of every public estimator for scikit-learn's own checks, and the checks that are stated to fail, with why.

`docs/write_checks.py` runs all of them and writes the table of docs/api.md.
"""

import warnings

import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.fixes import parse_version

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
AVERAGED = ("svm", "laplacian", "average")

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
        ('Costs(reject=0.3), ("laplacian",), cv=2', MachineSearch(EVEN, ("laplacian",), cv=2)),
        ('Costs(reject=0.3), ("svm", "laplacian", "average"), cv=2', MachineSearch(EVEN, AVERAGED, cv=2)),
        ('machines=("nothing",), cv=2', MachineSearch(machines=("nothing",), cv=2)),
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

# what fails: the checks and why
COMPARED = "It compares labels with the sign of the score; rejected rows have their own. Passes in `Forced`."
TRAIN = ("classifiers_train", COMPARED)
REJECTS = ("classifiers_classes classifiers_train", COMPARED)
COUNTED = (
    "class_weight_classifiers",
    "It wants nearly all rows answered as one class; the rows that are rejected count as wrong.",
)
DRAWN = "A weight is not a repeated row in forests, boosted trees (those of scikit-learn too), folds and p-values."
DENSE = ("sample_weight_equivalence_on_dense_data", DRAWN)
WEIGHTS = ("sample_weight_equivalence_on_dense_data sample_weight_equivalence_on_sparse_data", DRAWN)
REFUSED = (WEIGHTS[0], "It passes folds as `cv`, of which nothing can be promised without `conformal`.")
ONE_ROW = (
    "fit2d_1sample",
    "A stated rate needs calibration rows; with one row the error says so, in other words than wanted.",
)
FEW = "Its rows are too few for the promise, as an error says."
RATE = (
    """
    classifier_data_not_an_array dict_unchanged dont_overwrite_parameters estimator_sparse_array
    estimator_sparse_matrix estimators_empty_data_messages estimators_fit_returns_self estimators_nan_inf
    estimators_overwrite_params f_contiguous_array_estimator fit2d_1feature fit2d_predict1d
    methods_sample_order_invariance methods_subset_invariance n_features_in_after_fitting
    readonly_memmap_input sample_weights_not_an_array sample_weights_pandas_series
    """,
    FEW,
)
CEILING = (
    """
    classifiers_one_label_sample_weights dict_unchanged dont_overwrite_parameters dtype_object
    estimator_sparse_array estimator_sparse_matrix estimator_sparse_tag estimators_dtypes estimators_nan_inf
    f_contiguous_array_estimator fit2d_predict1d fit_idempotent fit_score_takes_y
    methods_sample_order_invariance methods_subset_invariance n_features_in n_features_in_after_fitting
    sample_weights_list supervised_y_2d
    """,
    f"{FEW} Weights are refused.",
)
NAMES = (
    """
    classifier_data_not_an_array classifier_not_supporting_multiclass classifiers_classes classifiers_train
    estimators_dtypes estimators_pickle fit2d_1feature fit_idempotent methods_sample_order_invariance
    methods_subset_invariance sample_weight_equivalence_on_dense_data sample_weight_equivalence_on_sparse_data
    sample_weights_not_an_array sample_weights_not_overwritten sample_weights_pandas_series
    sample_weights_shape supervised_y_2d
    """,
    "Actions name the classes 0 and 1, other classes are refused; and answers are names, which cannot be subtracted.",
)
# by case, all checks that fail
FAILS = {
    "RejectSVC(Costs(1, 2, 0.3))": [REJECTS],
    'RejectSVC(Actions({0: {0: 0, 1: 2}, 1: {0: 3, 1: 0}, "call": 0.3}))': [NAMES],
    'RejectSVC(Costs(reject=0.3), kernel="linear")': [TRAIN],
    'RejectSVC(Costs(reject=0.3), rule="bartlett-wegkamp")': [TRAIN],
    'RejectSVC(Costs(1, 2, 0.3), solver="active-set")': [REJECTS],
    "RejectSVCCV(Costs(1, 2, 0.3), Cs=2, gammas=2, cv=2)": [TRAIN, COUNTED],
    "RejectSVCCV(Costs(reject=0.3), Cs=2, gammas=2, cv=2)": [TRAIN, COUNTED],
    'RejectSVCCV(Costs(reject=0.3), Cs=2, gammas=2, cv=2, cuts="tuned")': [TRAIN, COUNTED],
    "LinearRejectSVC(Costs(1, 2, 0.3))": [TRAIN],
    "LinearRejectSVC(Costs(reject=0.3))": [TRAIN],
    "LinearRejectSVCCV(Costs(1, 2, 0.3), Cs=2, cv=2)": [TRAIN, COUNTED],
    "LinearRejectSVCCV(Costs(reject=0.3), Cs=2, cv=2)": [TRAIN, COUNTED],
    'LinearRejectSVCCV(Costs(1, 2, 0.3), Cs=2, cv=2, cuts="tuned")': [TRAIN, COUNTED],
    "ThresholdRejector(LogisticRegression(), Costs(1, 2, 0.3))": [TRAIN],
    'ThresholdRejector(LogisticRegression(), Costs(reject=0.3), method="chow")': [TRAIN],
    "ThresholdRejector(LogisticRegression(), reject_rate=0.2)": [REJECTS],
    "ThresholdRejector(RejectSVC(), reject_rate=(0.2, 0.1))": [TRAIN],
    "ThresholdRejector(LogisticRegression(), class_error=0.2)": [RATE, REJECTS, REFUSED],
    "ThresholdRejector(LogisticRegression(), max_error=0.6)": [CEILING, REFUSED],
    'ThresholdRejector(LogisticRegression(), class_error=0.3, conformal="cross")': [REJECTS, WEIGHTS],
    'MachineSearch(Costs(1, 2, 0.3), ("logistic",), cv=2)': [TRAIN],
    'MachineSearch(Costs(reject=0.3), ("logistic",), cv=2)': [TRAIN],
    'MachineSearch(Costs(reject=0.3), ("boosting",), cv=2)': [REJECTS, DENSE],
    'MachineSearch(machines=("forest",), cv=2)': [WEIGHTS],
    'MachineSearch(Costs(reject=0.3), ("laplacian",), cv=2)': [TRAIN],
    'MachineSearch(Costs(reject=0.3), ("svm", "laplacian", "average"), cv=2)': [TRAIN],
    "NoveltyRejector(RejectSVC(Costs(1, 2, 0.3)))": [REJECTS],
    "NoveltyRejector(RejectSVC(), rate=0.5)": [REJECTS, WEIGHTS, ONE_ROW],
    "EmbeddedRejectSVC(reject_cost=0.2, n_starts=1)": [TRAIN],
    'EmbeddedRejectSVC(reject_cost=0.1, kernel="rbf", n_starts=1)': [TRAIN],
    "EmbeddedRejectSVC(reject_cost=0.3, lower_bound=True, n_starts=1)": [TRAIN],
    'EmbeddedRejectSVC(reject_cost=0.2, solver="dual", n_starts=1)': [TRAIN],
    "Forced(ThresholdRejector(LogisticRegression(), Costs(1, 2, 0.3)))": [WEIGHTS],
}
if parse_version(sklearn.__version__) < parse_version("1.8"):  # which draws other rows
    FAILS["ThresholdRejector(LogisticRegression(), class_error=0.2)"].append(("dtype_object", FEW))


def stated(case):
    """Give the checks that fail for a case, such as ``RejectSVC(Costs(1, 2, 0.3))``, each with its reason."""
    return {f"check_{check}": why for checks, why in FAILS.get(case, ()) for check in checks.split()}


def run(estimator):
    """Run all checks; give the names of those that passed and were skipped, and the failed ones with their errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_fail=None, on_skip=None)
    names = [[one["check_name"] for one in results if one["status"] == status] for status in ("passed", "skipped")]
    return *names, {one["check_name"]: one["exception"] for one in results if one["status"] == "failed"}
