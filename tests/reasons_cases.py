"""Tables and estimators to explain, and a changed row applied by hand."""

import re

import numpy as np
import pandas as pd

import abstain
from abstain import Costs, ThresholdRejector

TEXT = re.compile(r"ould be answered (.+?) if (.+?) were (.+?) instead of ")


def mixed(n, seed=0, classes=2):
    """Numbers with and without gaps, whole numbers, and texts with gaps, and labels that depend on all of them."""
    rng = np.random.default_rng(seed)
    age, income = rng.integers(18, 90, n), rng.lognormal(10, 0.6, n)
    city = rng.choice(np.array(["Bonn", "Ulm", "Köln", "Jena"], dtype=object), n, p=[0.4, 0.3, 0.2, 0.1])
    ward = rng.choice(np.array(["a", "b", None], dtype=object), n)
    pressure = np.where(rng.uniform(size=n) < 0.1, np.nan, 120 + 15 * rng.standard_normal(n))
    score = (age - 54) / 20 + np.log(income) - 10 + (city == "Ulm") - (ward == "b") + np.nan_to_num(pressure - 120) / 15
    score = score + 0.8 * rng.standard_normal(n)
    y = (
        np.array(["low", "middle", "high"])[np.digitize(score, [-0.5, 0.8])]
        if classes == 3
        else np.where(score > 0, "ill", "well")
    )
    frame = pd.DataFrame({"age": age, "income": income, "pressure": pressure, "city": city, "ward": ward})
    return frame.astype({"city": object, "ward": object}), y


NUMERIC, TEXTS = ["age", "income", "pressure"], ["city", "ward"]


def one_row(X, at, column, text):
    """A table of one row, with the text of a sentence written into one cell."""
    if isinstance(X, np.ndarray):
        row = X[at : at + 1].copy()
        row[0, int(column.removeprefix("x"))] = float(text)
        return row
    if hasattr(X, "iloc"):
        row = X.iloc[[at]].copy()
        kind = row[column].dtype.kind
        dtype = float if kind == "i" and float(text) % 1 else row[column].dtype
        row[column] = pd.Series([text if kind == "O" else float(text)], index=row.index, dtype=dtype)
        return row
    import polars as pl

    row = X[at : at + 1]
    kind = row.schema[column]
    return row.with_columns(pl.Series(column, [text if kind == pl.String else float(text)]).cast(kind))


def unsettled(model, X, found, row_costs=None, share=1.0):
    """How many of the changes that sentences propose do not settle their row, and how many there are.

    With a share below 1, numbers are changed by this share of what the sentence says.
    """
    failed = count = 0
    for at, sentence, change in zip(found.rows, found.sentence, found.changes, strict=True):
        if change is None:
            assert "ould be answered" not in sentence
            continue
        label, column, text = TEXT.search(sentence).groups()
        assert column == found.columns[change.column]
        if share < 1.0:
            old = X[at, change.column] if isinstance(X, np.ndarray) else X[column][int(at)]
            if isinstance(change.value, str) or old is None or np.isnan(old):
                continue
            text = str(old + share * (change.value - old))
        row = one_row(X, at, column, text)
        costs = None if row_costs is None else row_costs[at : at + 1]
        decided = abstain.decide(model, row, costs)
        count += 1
        failed += bool(decided.rejected[0]) or str(decided.label[0]) != label
    return failed, count


def forest(X, y, **settings):
    """A forest made to reject."""
    from sklearn.ensemble import RandomForestClassifier

    made = RandomForestClassifier(30, min_samples_leaf=5, random_state=0)
    return ThresholdRejector(made, Costs(reject=0.2), random_state=0, **settings).fit(X, y)
