"""`save` and `load`: write a fitted estimator to a model file; read one, check it completely, and restore it."""

import os
import stat
from importlib import metadata
from pathlib import Path
from typing import IO, Any

import numpy as np

from abstain.estimators.fitting.bases import Model
from abstain.files.format.atomic import whole_file
from abstain.files.format.container import LARGEST, Container, write_members
from abstain.files.format.errors import ModelFileError, refuse
from abstain.files.format.manifest import FORMAT, declared_arrays, manifest_members, packed, read_arrays, read_manifest
from abstain.files.registry import parts, restored


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
        CalibratedClassifierCV around one of these, a MachineAverage of these, which MachineSearch fits, or a Pipeline
        that ends in one of these; a NoveltyRejector also around a ThresholdRejector. Its detector must be a
        NoveltyDetector, which is the default, or a OneClassSVM. The steps of a Pipeline may be scikit-learn's
        StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, Normalizer, PowerTransformer, QuantileTransformer,
        SimpleImputer, OneHotEncoder and OrdinalEncoder, "passthrough", and Pipelines and ColumnTransformers of these.
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
        what = "the parameters of estimator were changed after it was fitted"
        raise ValueError(f"{what}: {error} Fit it again before saving.") from error
    declared, members = packed(arrays)
    manifest = {"format": FORMAT, "library": metadata.version("abstain"), "model": state, "arrays": declared}
    write_members(file, manifest_members(manifest) | members)
    file.flush()
    read(file, file.tell(), LARGEST)


def load(path: str | os.PathLike[str], *, max_bytes: int = LARGEST) -> Model:
    """Read a model file that :func:`abstain.save` wrote.

    Loading never runs code from the file, never crashes the process, and never takes more memory than a small multiple
    of the file's size, however the file was altered. A damaged file is refused, even by one bit, and so is one whose
    parts contradict each other or that `save` would write differently. What only the training rows could confirm, such
    as the objectives of a proof, is not known to be true.

    Parameters
    ----------
    path : path-like
        The file.
    max_bytes : int, default=2**31 - 1
        Files larger than this are refused before they are read.

    Returns
    -------
    estimator
        As it was saved, with the same scores and decisions, bit for bit.

    Raises
    ------
    ModelFileError
        A ValueError: the file is damaged, altered, too large, from a later version, or not a model file.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import abstain
    >>> try:
    ...     abstain.load(abstain.__file__)
    ... except ValueError as error:
    ...     print(str(error).rpartition(": ")[2])
    it is not a model file, or its end is missing.
    """
    if not stat.S_ISREG(Path(path).stat().st_mode):  # opening a pipe would block until something writes to it
        raise ModelFileError(f"{path} cannot be loaded: it is not a regular file.")
    with Path(path).open("rb", buffering=0) as raw:
        try:
            return read(raw, os.fstat(raw.fileno()).st_size, max_bytes)
        except ModelFileError as error:
            raise ModelFileError(f"{path} cannot be loaded: {error}") from error


def read(file: IO[bytes], size: int, max_bytes: int) -> Any:
    """The estimator in an open file of `size` bytes."""
    refuse(size > max_bytes, f"its {size:,} bytes are more than max_bytes={max_bytes:,}.")
    container = Container.of(file, size)
    fields = read_manifest(container)
    fields.only("format", "library", "model", "arrays")
    fields.take("library", str)
    state = fields.take("model", dict)
    declared = declared_arrays(fields, container)
    arrays = read_arrays(container, declared)
    try:
        with np.errstate(all="ignore"):  # numbers that overflow contradict others and are then refused
            return restored(state, arrays)
    except ModelFileError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # the constructors of costs, kernels, labels and estimators raise their own errors
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ModelFileError(f"its contents are not a model: {reason.rstrip('.')}.") from error
