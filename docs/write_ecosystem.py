"""Run every line of the tables of docs/ecosystem.md and write the page: ``python docs/write_ecosystem.py``.

Each line is one or more tests; the version is that of the installed package. A library that is not installed, or whose
tests fail, is an error: install the extra `ecosystem` first. The lines on scikit-learn are written in the page itself.
"""

from __future__ import annotations

import platform
import re
import sys
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "ecosystem.md"
BETWEEN = re.compile(r"(<!-- libraries -->\n).*?(<!-- end of libraries -->)", re.DOTALL)
SKLEARN = re.compile(r"(<!-- scikit-learn -->\n).*?(<!-- end of scikit-learn -->)", re.DOTALL)
FILES = {"s": "tests/test_ecosystem.py", "o": "tests/test_ecosystem_others.py", "m": "tests/test_ecosystem_models.py"}
CHOW = '`ThresholdRejector({}(), costs, method="chow")`; also inside `NoveltyRejector` and `compare`.'
STEP = "{} as a step of a Pipeline before our machine; decisions by `abstain.decide(pipeline, X)`."
PROBABILITIES = (
    "It needs `predict_proba`, which machines with costs have: fitted to held-out scores in `RejectSVCCV(costs, "
    'cuts="tuned")`, rough in others. Without costs, wrap the machine in `CalibratedClassifierCV(clf)`. The coverage '
    "holds in any case; better probabilities make smaller sets."
)
# the first words of each line on scikit-learn, and its tests
OURS = {
    "`GridSearchCV`": ["TestSearches::test_a_search"],
    '`scoring="roc_auc"`': ["TestSearches::test_scorers"],
    '`scoring="f1"`': ["TestSearches::test_scorers"],
    '`scoring="neg_log_loss"`': ["TestProbabilitiesAndThresholds::test_probabilities"],
    "`CalibratedClassifierCV`": [
        "TestProbabilitiesAndThresholds::test_calibration",
        "TestProbabilitiesAndThresholds::test_a_calibrated",
    ],
    "`TunedThresholdClassifierCV`": ["TestProbabilitiesAndThresholds::test_a_tuned"],
    "`FixedThresholdClassifier`": ["TestProbabilitiesAndThresholds::test_a_fixed"],
    "`FrozenEstimator`": ["TestProbabilitiesAndThresholds::test_a_frozen"],
    "`permutation_importance`": ["TestInspection::test_permutation"],
    "`partial_dependence`": ["TestInspection::test_partial"],
    "joblib": ["TestJoblib::"],
    "`StackingClassifier`": ["TestEnsembles::test_stacking"],
    "`VotingClassifier`": ["TestEnsembles::test_voting"],
    "`BaggingClassifier`": ["TestEnsembles::test_bagging"],
    "`AdaBoostClassifier`": ["TestEnsembles::test_boosting"],
    "`OneVsOneClassifier`": ["TestEnsembles::test_several"],
}
# package, its tests, and how to use it
LINES = [
    (
        "dask",
        ["o:test_dask_arrays"],
        (
            "`predict` and similar methods take dask arrays and return lazy ones; "
            "`LinearRejectSVC.fit` takes them chunk by chunk ([millions of rows](millions_of_rows.md#on-dask)). "
            "Any other "
            "`fit` refuses dask arrays and names the way out."
        ),
    ),
    ("distributed", ["o:test_dask_workers"], '`joblib.parallel_config("dask")` for folds and searches.'),
    (
        "ray",
        ["o:test_ray"],
        '`register_ray()` and `joblib.parallel_config("ray")`; fitted machines can be sent to workers.',
    ),
    (
        "skops",
        ["m:test_skops"],
        (
            "`skops.io.load(file, trusted=abstain.TRUSTED_TYPES)`; see [model "
            "files](model_files.md). Not forests and boosted trees: skops does not check their nodes, "
            "`abstain.load` does."
        ),
    ),
    (
        "mlflow-skinny",
        ["o:test_mlflow", "m:test_mlflow"],
        (
            "`mlflow.sklearn.save_model(clf, path, "
            'serialization_format="skops", skops_trusted_types=abstain.TRUSTED_TYPES)`; or `"cloudpickle"` or '
            '`"pickle"`, '
            "for files whose source you trust."
        ),
    ),
    ("onnxruntime", ["m:test_onnxruntime"], "`abstain.to_onnx(clf)`: labels, scores and rejects, as in Python."),
    (
        "imbalanced-learn",
        ["o:test_imbalanced", "o:test_pipelines_of_imbalanced"],
        (
            "Its Pipelines work as they are, "
            "also in `decide`, `compare` and `NoveltyRejector`; `BalancedBaggingClassifier` needs `Forced`. "
            "Resampling changes the "
            "class frequencies, and with them what the costs mean; `class_weight` does too."
        ),
    ),
    (
        "optuna",
        ["o:test_optuna"],
        (
            "Minimise `-cross_val_score(...).mean()`, the mean cost. `OptunaSearchCV`, which is "
            "in a separate package, was not tried."
        ),
    ),
    (
        "shap",
        ["o:test_shap"],
        ('Explain `clf.decision_function`, not `predict`. `LinearExplainer` takes machines with `kernel="linear"`.'),
    ),
    (
        "fairlearn",
        ["o:test_fairlearn"],
        (
            "`MetricFrame` takes our metrics; `ThresholdOptimizer` uses the score. "
            "`ExponentiatedGradient` needs `Forced`: without it, **a reject, -1, is read as a probability of -1 "
            "and becomes "
            "the answer 0 without any warning**."
        ),
    ),
    ("mapie", ["o:test_mapie"], PROBABILITIES),
    ("crepes", ["m:test_crepes"], f"`WrapClassifier(clf)`. {PROBABILITIES}"),
    ("skrub", ["m:test_skrub"], STEP.format("`TableVectorizer`")),
    ("category_encoders", ["m:test_category_encoders"], STEP.format("Its encoders")),
    ("feature-engine", ["m:test_feature_engine"], STEP.format("Its transformers")),
    ("xgboost", ["m:test_xgboost"], CHOW.format("XGBClassifier")),
    ("lightgbm", ["m:test_lightgbm"], CHOW.format("LGBMClassifier")),
    ("catboost", ["m:test_catboost"], CHOW.format("CatBoostClassifier")),
]


class Outcomes:
    """What pytest reports of each test."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the worst outcome of the phases of a test."""
        name = report.nodeid.partition("::")[2]
        if report.when == "call" or report.outcome != "passed":
            self.found[name] = report.outcome


def passed(outcomes: Outcomes, line: str, tests: list[str]) -> None:
    """End with an error unless every one of these tests passed."""
    for start in tests:
        own = {name: found for name, found in outcomes.found.items() if name.startswith(start)}
        if not own or set(own.values()) != {"passed"}:
            sys.exit(f"{line}: {own or f'no test {start} was run'}")


def main() -> None:
    """Run the tests and write the page."""
    outcomes = Outcomes()
    pytest.main(["-q", "-n", "0", "-m", "", *(str(ROOT / path) for path in FILES.values())], plugins=[outcomes])
    for line, tests in OURS.items():
        passed(outcomes, line, tests)
    lines = ["| tool | version | works | how |", "|---|---|---|---|"]
    for package, tests, how in LINES:
        passed(outcomes, package, [test.partition(":")[2] for test in tests])
        lines.append(f"| {package} | `{metadata.version(package)}` | yes | {how} |")
    tried = ", ".join(f"{name} `{metadata.version(name)}`" for name in ("scikit-learn", "numpy", "pandas"))
    head = f"Run by `docs/write_ecosystem.py` with {tried} and Python `{platform.python_version()}`:"
    found = "\n".join([head, "", *lines, ""])
    text = SKLEARN.sub(lambda parts: f"{parts[1]}{head}\n{parts[2]}", PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(BETWEEN.sub(lambda parts: f"{parts[1]}\n{found}\n{parts[2]}", text), encoding="utf-8")


if __name__ == "__main__":
    main()
