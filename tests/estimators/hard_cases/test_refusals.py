"""Faults that are refused, by name, with a reason."""

from __future__ import annotations

import numpy as np
import pytest

from abstain import Costs, RejectSVC
from estimators.hard_cases.data import X0, Y0, weights
from estimators.hard_cases.processes import bounded


def refuses(words, X=X0, y=Y0, weight=None, **options):
    with pytest.raises(ValueError, match=words):
        RejectSVC(**options).fit(X, y, weight)


GRAM = {"kernel": "precomputed"}
LOPSIDED = np.array([[1.0, 2.0], [3.0, 1.0]])
# name: the words of the refusal, what is given
REFUSED = {
    "asymmetric Gram matrix": ("symmetric", {"X": LOPSIDED, "y": [0, 1], **GRAM}),
    "Gram matrix not square": ("square", {"X": X0, **GRAM}),
    "Gram matrix with nan": ("NaN", {"X": np.full((300, 300), np.nan), **GRAM}),
    "callable kernel not symmetric": ("symmetric", {"kernel": lambda a, b: a[:, :1] + 2 * b[:, :1].T}),
    "callable kernel of a wrong shape": ("one value per pair", {"kernel": lambda a, b: a}),  # noqa: ARG005
    "callable kernel with inf": ("infinity", {"kernel": lambda a, b: np.full((len(a), len(b)), np.inf)}),
    "C of inf": ("'C' parameter", {"C": np.inf}),
    "C of nan": ("'C' parameter", {"C": np.nan}),
    "C below zero": ("'C' parameter", {"C": -1.0}),
    "weight below zero": (r"sample_weight must be finite and >= 0, got -1 at row 3", {"weight": weights(-1)}),
    "weight of inf": ("finite and >= 0, got inf", {"weight": weights(np.inf)}),
    "weight of nan": ("finite and >= 0, got nan", {"weight": weights(np.nan)}),
    "weight of 1e300 with C of 1e10": ("overflows", {"weight": weights(1e300), "C": 1e10}),
    "weights that leave one class": ("class 1 have weight zero", {"weight": 1.0 - Y0}),
    "weights all zero": ("zero", {"weight": np.zeros(len(Y0))}),
    "class weight that leaves one class": ("class 0 have weight zero", {"class_weight": {0: 0.0}}),
    "one class": ("only one class", {"y": np.zeros(300)}),
    "costs of two classes for three": ("differ between", {"y": np.arange(300) % 3, "costs": Costs(1, 5, 0.3)}),
    "labels with None": ("None", {"y": [None, "a", "b"] * 100}),
    "labels with nan": ("NaN", {"y": np.where(Y0 == 0, np.nan, 1.0)}),
    "text labels with nan": ("nan", {"y": ["a", float("nan"), "b"] * 100}),
    "X with nan": ("NaN", {"X": np.where(X0 > 2, np.nan, X0)}),
    "X with inf": ("infinity", {"X": np.where(X0 > 2, np.inf, X0)}),
    "no rows": ("minimum of 1 is required", {"X": X0[:0], "y": Y0[:0]}),
    "no columns": ("minimum of 1 is required", {"X": X0[:, :0]}),
    "reject_label a class": ("is one of the classes", {"reject_label": 1, "costs": Costs(reject=0.2)}),
    "reject_label of another kind": ("not have the type", {"reject_label": "reject", "costs": Costs(reject=0.2)}),
    "reject_label None": ("not have the type", {"reject_label": None, "costs": Costs(reject=0.2)}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused_with_a_reason(name):
    words, given = REFUSED[name]
    bounded(lambda: refuses(words, **given))
