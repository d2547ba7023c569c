"""Every example in a docstring is run, and prints what it says."""

import doctest
import importlib
import pkgutil

import matplotlib as mpl

import abstain

mpl.use("Agg")
FOUND = [module.name for module in pkgutil.walk_packages(abstain.__path__, "abstain.")]
MODULES = [name for name in FOUND if name != "abstain._native"]


def test_every_example_prints_what_it_says():
    # doctest prints what differs, and pytest shows it
    results = {name: doctest.testmod(importlib.import_module(name)) for name in MODULES}
    assert {name: result for name, result in results.items() if result.failed} == {}
    # they were found: the modules that a reader opens first have some
    first = ("costs.costs", "costs.cuts", "estimators.svm.svc")
    assert all(results[f"abstain.{name}"].attempted for name in first)
