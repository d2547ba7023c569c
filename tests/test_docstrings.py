"""Every example in a docstring is run, and prints what it says."""

import doctest
import importlib
import pkgutil

import matplotlib as mpl
import pytest

import abstain

mpl.use("Agg")
FOUND = [module.name for module in pkgutil.walk_packages(abstain.__path__, "abstain.")]
MODULES = [name for name in FOUND if name != "abstain._native"]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples():
    tried = {name: doctest.testmod(importlib.import_module(name)).attempted for name in MODULES}
    assert min(tried["abstain.costs"], tried["abstain.thresholds"], tried["abstain.estimators.svc"]) > 0
