"""The errors of estimators that cannot be saved, and of model files that cannot be loaded."""

from typing import Any


class ModelFileError(ValueError):
    """A model file is damaged, altered or too large, or is not a model file; the message says which."""


def refuse(when: Any, reason: str) -> None:
    """Raise a ModelFileError with this reason when something holds."""
    if when:
        raise ModelFileError(reason)


def unsupported(what: str, way_out: str) -> ValueError:
    """Return the error for an estimator that `what`, which a model file cannot contain."""
    other = "or use skops, or pickle for trusted files only"
    return ValueError(f"estimator {what}, which a model file cannot contain; {way_out}, {other}.")


def no_graph(what: str, then: str) -> ValueError:
    """Return the error for an estimator that `what`, which has no ONNX graph."""
    return ValueError(f"estimator {what}, which has no ONNX graph{then}.")
