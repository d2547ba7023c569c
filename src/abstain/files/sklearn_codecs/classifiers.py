"""The classifiers that a model file can contain, alone or inside other estimators, as fields and arrays, and back.

To add one, add an entry to `MACHINES` or `OTHERS` with the functions that write and read its fitted state.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from abstain.estimators.embedded.estimator import EmbeddedRejectSVC
from abstain.estimators.linear.linear_svc import LinearRejectSVC
from abstain.estimators.linear.linear_svc_cv import LinearRejectSVCCV
from abstain.estimators.novelty.novelty_detector import NoveltyDetector
from abstain.estimators.svm.one_class import OneClassSVM
from abstain.estimators.svm.svc import RejectSVC
from abstain.estimators.svm.svc_cv import RejectSVCCV
from abstain.files.codecs import machine_codec as others
from abstain.files.codecs.svc_codec import svc_from, svc_parts
from abstain.files.format.errors import unsupported
from abstain.files.format.schema import Arrays, Fields, Parts, fitting, layout, stored
from abstain.files.sklearn_codecs import trees_codec as trees
from abstain.files.sklearn_codecs.steps_codec import Columns, identity, parameters_from

# d features; k scores: one for two classes, otherwise one per class
LOGISTIC = layout(coef="f8|f4 k d", intercept="f8|f4 k", n_iter="i4 1")
PRIOR = layout(class_prior="f8 c")  # of c classes


@dataclass(frozen=True)
class Codec:
    """The functions that convert a fitted estimator to fields and arrays, and back.

    Attributes
    ----------
    kind : type
        The estimator.
    parts : callable
        The fields and arrays of the fitted one.
    made : callable
        The fitted attributes of a classifier, or the fitted value of one of this library, which has its classes in its
        own rule, from one with its parameters, fields, arrays, the number of features, and the classes. Of an estimator
        around others the whole, from fields, arrays, what is around it, and the classes.
    """

    kind: Any
    parts: Callable[..., Parts]
    made: Callable[..., Any]


Codecs = Mapping[str, Codec]


def table(*codecs: Codec) -> dict[str, Codec]:
    """Return the codecs by the names of their classifiers."""
    return {codec.kind.__name__: codec for codec in codecs}


def _plain(kind: Any, arrays_of: Any, **more: Any) -> Codec:
    """Return the codec of a classifier of scikit-learn that has nothing but some arrays, and `more` attributes."""

    def parts(estimator: Any) -> Parts:
        if getattr(estimator, "strategy", "prior") != "prior":
            raise unsupported(f"has a {kind.__name__} with strategy={estimator.strategy!r}", "use strategy='prior'")
        return {}, stored({name: getattr(estimator, f"{name}_") for name in arrays_of}, arrays_of)

    def attributes(_: Any, __: Fields, arrays: Arrays, n: int, classes: Any) -> dict[str, Any]:
        K = len(classes)
        fitting(arrays, arrays_of, "classifier", {"d": n, "k": 1 if K <= 2 else K, "c": K})
        return {"classes_": classes, "n_classes_": K, **more} | {f"{name}_": array for name, array in arrays.items()}

    return Codec(kind, parts, attributes)


MACHINES = table(
    Codec(RejectSVC, svc_parts, svc_from),
    Codec(RejectSVCCV, svc_parts, svc_from),
    Codec(EmbeddedRejectSVC, others.embedded_parts, others.embedded_from),
    Codec(LinearRejectSVC, svc_parts, svc_from),
    Codec(LinearRejectSVCCV, svc_parts, svc_from),
)
DETECTORS = table(  # which do not classify
    Codec(OneClassSVM, others.one_class_parts, others.one_class_from),
    Codec(NoveltyDetector, others.detector_parts, others.detector_from),
)
# scikit-learn's classifiers, which have the classes of the rejector around them
OTHERS = table(
    _plain(LogisticRegression, LOGISTIC),
    _plain(DummyClassifier, PRIOR, n_outputs_=1, sparse_output_=False, _strategy="prior"),
    Codec(RandomForestClassifier, trees.forest_parts, trees.forest_attributes),
    Codec(HistGradientBoostingClassifier, trees.boosting_parts, trees.boosting_attributes),
)
INSIDE = MACHINES | OTHERS  # classifiers made of others


def codec_of(estimator: Any, codecs: Mapping[str, Any]) -> Any:
    """Return the codec for exactly this type, if there is one."""
    codec = codecs.get(type(estimator).__name__)
    return codec if codec is not None and codec.kind is type(estimator) else None


def classifier_parts(estimator: Any, codec: Codec) -> Parts:
    """Return the fields and arrays of a fitted classifier."""
    state, arrays = codec.parts(estimator)
    return identity(estimator) | Columns.read_by(estimator).state | state, arrays


def classifier_from(kind: str, codecs: Codecs, fields: Fields, arrays: Arrays, classes: Any = None) -> Any:
    """Make the fitted classifier of these fields and arrays."""
    codec = codecs[kind]
    estimator = codec.kind(**parameters_from(codec.kind, fields))
    estimator._validate_params()
    columns = Columns.taken(fields)
    found = codec.made(estimator, fields, arrays, columns.count, classes)
    columns.set_on(estimator)
    estimator.__dict__.update(found if isinstance(found, dict) else {"_fitted_": found})
    return estimator
