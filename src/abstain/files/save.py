"""`save`: write a fitted estimator to a model file."""

from __future__ import annotations

import os
from importlib import metadata
from typing import IO, Any

from abstain.files.format.arrays import packed
from abstain.files.format.atomic import whole_file
from abstain.files.format.container import LARGEST, write_members
from abstain.files.format.errors import ModelFileError
from abstain.files.format.manifest import FORMAT, manifest_members
from abstain.files.load import read
from abstain.files.registry import parts


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a model file, which contains no code; :func:`abstain.load` reads it.

    The file is a zip of ``.npy`` arrays and a JSON manifest with the SHA-256 of each. It is written beside `path`, read
    back, and replaces `path` only when it is complete: a failure leaves an older file unchanged.

    The file contains training data: the support vectors are training rows (also those of the detector of a
    NoveltyRejector), trees split between values of training rows, and encoders keep the names of categories.
    Do not give it to anyone who may not see them. `to_onnx` of a machine with a linear kernel contains weights only.

    Parameters
    ----------
    estimator : RejectSVC, RejectSVCCV, LinearRejectSVC, LinearRejectSVCCV, EmbeddedRejectSVC, OneClassSVM, \
            ThresholdRejector, NoveltyRejector, or Pipeline of one of these
        Fitted. A ThresholdRejector or NoveltyRejector must be around one of the first five, LogisticRegression,
        RandomForestClassifier, HistGradientBoostingClassifier, DummyClassifier(strategy="prior"),
        CalibratedClassifierCV around one of these, or a Pipeline that ends in one of these; a NoveltyRejector also
        around a ThresholdRejector. Its detector must be a NoveltyDetector, which is the default, or a OneClassSVM. The
        steps of a Pipeline may be scikit-learn's StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, Normalizer,
        PowerTransformer, QuantileTransformer, SimpleImputer, OneHotEncoder and OrdinalEncoder, "passthrough", and
        Pipelines and ColumnTransformers of these.
        Callable kernels are code and raise an error.
    path : path-like
        Where to write; an existing file is replaced.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import abstain
    >>> clf = abstain.RejectSVC(abstain.Costs(reject=0.2)).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     abstain.save(clf, Path(folder) / "model.abstain")
    ...     again = abstain.load(Path(folder) / "model.abstain")
    >>> again.decision_function([[1.5]]) == clf.decision_function([[1.5]])
    array([ True])
    """
    with whole_file(path) as file:
        write_model(estimator, file)


def write_model(estimator: Any, file: IO[bytes]) -> None:
    """Write a model file to an open, empty file that can be read back, and read it back."""
    try:
        state, arrays = parts(estimator)
    except ModelFileError as error:
        raise ValueError(
            f"the parameters of estimator were changed after it was fitted: {error} Fit it again before saving."
        ) from error
    declared, members = packed(arrays)
    manifest = {"format": FORMAT, "library": metadata.version("abstain"), "model": state, "arrays": declared}
    write_members(file, manifest_members(manifest) | members)
    file.flush()
    read(file, file.tell(), LARGEST)
