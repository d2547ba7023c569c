"""scikit-learn's own tests of LinearSVC, OneClassSVM and calibration, run on our machines; see tests/standins.py."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

PARAMETERS = "penalty, loss, dual and multi_class, which the stand-in accepts and ignores: an L2 penalty and a hinge"
INTERCEPT = "fit_intercept=False and intercept_scaling: our bias is always there, and not penalised"
WORDS = "an error or a warning, as here, in other words"
READ_ONLY = "it overwrites coef_, which is read-only here"
ROUNDED = "8 of 64 cases: the sign of scores that are 0 up to rounding; dense rows are centred, sparse ones are not"
SPARSIFY = "sparsify, which our machines do not have"
SUITES = {
    "linear and one class": (
        "sklearn.svm.tests",
        ["test_svm.py", "test_sparse.py"],
        "oneclass or one_class or OneClassSVM or linearsvc or LinearSVC or liblinear or linear_svm or crammer",
        {
            "test_linearsvc_parameters": PARAMETERS,
            "test_linearsvc_crammer_singer": PARAMETERS,
            "test_dense_liblinear_intercept_handling": INTERCEPT,
            "test_sparse_liblinear_intercept_handling": INTERCEPT,
            "test_liblinear_set_coef": READ_ONLY,
            "test_linear_svm_convergence_warnings": WORDS,
            "test_negative_sample_weights_mask_all_samples": WORDS,
            "test_linearsvc_iris": SPARSIFY,
            "test_sparse_oneclasssvm": ROUNDED,
        },
        75,
    ),
    "calibration": ("sklearn.tests", ["test_calibration.py"], "not array_api", {}, 100),
}


def outcomes(package, files, wanted, tmp_path):
    """Give the outcome of every case, by the name of its function."""
    if importlib.util.find_spec(package) is None:
        pytest.skip("scikit-learn's tests are not installed")
    folder = Path(next(iter(importlib.util.find_spec(package).submodule_search_locations)))
    report = tmp_path / "report.xml"
    options = ["-q", "-p", "standins", "-p", "no:cacheprovider", "-p", "no:xdist", "-c", os.devnull, "-k", wanted]
    paths = [folder / one for one in files]
    done = subprocess.run(  # noqa: S603 (our interpreter on scikit-learn's files)
        [sys.executable, "-W", "ignore", "-m", "pytest", *options, f"--junitxml={report}", *paths],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert report.is_file(), done.stdout + done.stderr
    found = {}
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 (written by pytest)
        kinds = {child.tag for child in case}
        outcome = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
        found.setdefault(case.get("name").partition("[")[0], []).append(outcome)
    return found


@pytest.mark.long
@pytest.mark.parametrize("suite", SUITES)
def test_of_scikit_learn(suite, tmp_path):
    package, files, wanted, stated, least = SUITES[suite]
    found = outcomes(package, files, wanted, tmp_path)
    failed = {name for name, results in found.items() if "failed" in results}
    assert failed == stated.keys() & found.keys()
    assert sum(results.count("passed") for results in found.values()) >= least
