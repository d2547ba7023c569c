"""scikit-learn's own tests of LinearSVC, OneClassSVM and calibration, run on our machines; see tests/standins.py."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import sklearn

PARAMETERS = "penalty, loss, dual and multi_class, which the stand-in accepts and ignores: an L2 penalty and a hinge"
INTERCEPT = "fit_intercept=False and intercept_scaling: our bias is always there, and not penalised"
WORDS = "an error or a warning, as here, in other words"
READ_ONLY = "it overwrites coef_, which is read-only here"
ROUNDED = "the sign of scores that are 0 up to rounding; dense rows are centred, sparse ones are not"
SPARSIFY = "sparsify, which our machines do not have"
ARRAYS = "arrays of other libraries (torch, cupy, dpnp, array_api_strict), which are not installed"
CONTAINERS = ("csr_matrix", "csr_array", "lil_matrix", "lil_array")
# by suite: the package, its files, which tests, the failing cases with their reasons, how many are skipped and why, and
# how many pass by version of scikit-learn, other versions at least as many as the least of them
SUITES = {
    "linear and one class": (
        "sklearn.svm.tests",
        ["test_svm.py", "test_sparse.py"],
        "oneclass or one_class or OneClassSVM or linearsvc or LinearSVC or liblinear or linear_svm or crammer",
        {
            **{
                f"test_linearsvc_parameters[42-{case}]": PARAMETERS
                for case in ("True-l1-hinge", "True-l1-squared_hinge", "False-l1-hinge", "False-l2-hinge")
            },
            "test_linearsvc_crammer_singer[42]": PARAMETERS,
            "test_dense_liblinear_intercept_handling": INTERCEPT,
            "test_sparse_liblinear_intercept_handling": INTERCEPT,
            "test_liblinear_set_coef[42]": READ_ONLY,
            "test_linear_svm_convergence_warnings[42]": WORDS,
            "test_negative_sample_weights_mask_all_samples[weights-are-zero-OneClassSVM]": WORDS,
            "test_negative_sample_weights_mask_all_samples[weights-are-negative-OneClassSVM]": WORDS,
            **{f"test_linearsvc_iris[{kind}]": SPARSIFY for kind in CONTAINERS[:2]},
            **{
                f"test_sparse_oneclasssvm[{kind}-{case}]": ROUNDED
                for kind in CONTAINERS
                for case in ("linear-X_train2-None-X_test2", "sigmoid-X_train0-None-X_test0")
            },
        },
        (0, ""),
        {"1.9": 81},
    ),
    "calibration": ("sklearn.tests", ["test_calibration.py"], "test", {}, (120, ARRAYS), {"1.9": 108}),
}


def outcomes(package, files, wanted, tmp_path):
    """Give the outcome of every case, by its name."""
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
        found[case.get("name")] = outcome
    return found


@pytest.mark.long
@pytest.mark.parametrize("suite", SUITES)
def test_of_scikit_learn(suite, tmp_path):
    package, files, wanted, stated, (skipped, _), passed = SUITES[suite]
    found = outcomes(package, files, wanted, tmp_path)
    kinds = ("failed", "skipped", "passed")
    names = {kind: {name for name, outcome in found.items() if outcome == kind} for kind in kinds}
    version = sklearn.__version__.rpartition(".")[0]
    assert names["failed"] == (stated.keys() if version in passed else stated.keys() & found.keys())
    arrays = {name for name in names["skipped"] if "array_api" in name}
    assert len(arrays) <= skipped
    assert len(names["skipped"] - arrays) <= 5  # scikit-learn's own reasons
    assert len(names["passed"]) >= passed.get(version, min(passed.values()) - 10)
