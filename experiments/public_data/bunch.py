"""The return values of the loaders, in scikit-learn's format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from public_data.sources import Source

__all__ = ["describe", "in_scikit_learn_form", "to_frame"]


def describe(source: Source, target: NDArray[np.int64], target_names: Sequence[str], features: int) -> str:
    """Describe a data set in a few lines: contents, size, licence."""
    counts = np.bincount(target, minlength=len(target_names))
    classes = ", ".join(f"{k} = {name} ({counts[k]})" for k, name in enumerate(target_names))
    return (
        f"{source.title}\n\n{len(target)} rows, {features} features; classes: {classes}.\n{source.description}\n\n"
        f"Source: {source.url}\nCite: {source.citation}\nLicence: {source.licence}\n"
    )


def to_frame(
    data: NDArray[Any], target: NDArray[np.int64], feature_names: Sequence[str], categorical: Sequence[str] = ()
) -> Any:
    """Return features and target as one pandas DataFrame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("as_frame=True needs pandas; install it with: pip install pandas.") from error
    columns = {
        name: pd.Categorical(data[:, j]) if name in categorical else data[:, j].astype(np.float64)
        for j, name in enumerate(feature_names)
    }
    return pd.DataFrame({**columns, "target": target})


def in_scikit_learn_form(
    source: Source,
    data: NDArray[Any],
    target: NDArray[np.int64],
    feature_names: Sequence[str],
    target_names: Sequence[str],
    *,
    return_X_y: bool,
    as_frame: bool,
    categorical: Sequence[str] = (),
    **more: Any,
) -> Any:
    """Return (X, y), or a Bunch with the description, the source and the entries of `more`."""
    frame = None
    given: tuple[Any, Any] = (data, target)
    names = [str(name) for name in feature_names]
    if as_frame:
        frame = to_frame(data, target, names, categorical)
        given = (frame[names], frame["target"])
    if return_X_y:
        return given
    return Bunch(
        data=given[0],
        target=given[1],
        frame=frame,
        feature_names=names,
        target_names=[str(name) for name in target_names],
        DESCR=describe(source, target, target_names, len(names)),
        source=source.url,
        citation=source.citation,
        licence=source.licence,
        **more,
    )
