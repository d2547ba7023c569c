"""NoveltyRejector: a classifier that also rejects rows unlike anything it was trained on."""

import warnings
from dataclasses import KW_ONLY, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state, get_tags, indexable
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from abstain.arguments import refuse_lazy
from abstain.estimators.fitting.parameters import checked_first, with_parameters
from abstain.estimators.fitting.routing import row_cost_parameters
from abstain.estimators.novelty.detectors import fitted_detector
from abstain.estimators.novelty.guard import Calibration, Guard
from abstain.estimators.novelty.guard_rows import FEW, GuardRows, Table, calibration_size, decisions_on_unseen
from abstain.estimators.novelty.guarded import Guarded, GuardedDecisions, in_memory, machine_and_rule
from abstain.estimators.novelty.training_ranges import SeenColumns
from abstain.estimators.unwrap import final_estimator
from abstain.labels import label_vector
from abstain.rules.tuning.class_error import rows_needed

DEFAULT_RATE = float("0.01")  # recognised by identity: another 0.01 is a rate that the user asked for


@with_parameters
class NoveltyRejector(GuardedDecisions):
    """Reject rows unlike the training rows, besides those that the classifier rejects.

    A classifier knows what lies between its classes, not what lies far from all of them: a column in another unit moves
    rows to where it is sure of itself. Here a detector of outliers, fitted beside the classifier, scores how unusual a
    row is, and a row is rejected as novel if hardly any of m calibration rows, which the detector has not seen, is as
    unusual::

        p(x) = (1 + #{calibration rows at least as unusual as x}) / (m + 1) <= rate

    Of new rows like the training rows at most `rate` are rejected as novel, on average over training sets, whatever
    their distribution: split conformal prediction [1]_. A row exactly as unusual as a calibration row is not novel. How
    many of other rows are found depends on the detector.

    Parameters
    ----------
    estimator : classifier
        A classifier of this library or of scikit-learn (which then rejects novel rows only), a Pipeline or a search.
        Put preprocessing into the Pipeline: it is then fitted anew for the detector, without the calibration rows. In a
        ``FrozenEstimator``, a fitted classifier stays as it is and only the guard is fitted.
    rate : float, default=0.01
        The largest share of rows like the training rows that are rejected as novel. It needs ``1 / rate - 1``
        calibration rows, by default at most half of the rows. With fewer, a stated rate is an error; the default warns,
        and nothing is rejected as novel.
    detector : outlier detector or None, default=None
        With `fit` and `score_samples`, such as scikit-learn's `IsolationForest`. None: the larger of two scores, one of
        broken relations between columns and one of the distance from all training rows (`NoveltyDetector`); for sparse
        rows, for fewer than 12 rows to learn from and for more than 500 columns a one-class SVM on standardised
        columns. Any of them is fitted behind clones of the transformers of a Pipeline, except that the default leaves
        out a `StandardScaler` right before it: its scores are the same without.
    calibration_size : int, float or None, default=None
        The number of calibration rows, or their share. None: ``k / rate - 1``, where a row is novel if fewer than k
        calibration rows are as unusual; k is the least whole number for a fifth of the rows, and at least 2 if that
        takes no more than three quarters of them. At most 1,000 or ``10 / rate``; with k = 1 at most half.
    refit : {"auto", True, False}, default="auto"
        Whether the classifier is fitted on the calibration rows too; the detector never is. "auto": if they are more
        than a fiftieth of all rows, by default below 50,000 rows. Where it is, a second classifier with the parameters
        found, fitted without them, shows what it decides on new rows, when `calibration_.choices` is first read: by
        `drift`, `save` and pickle. Until then a copy of the rows is kept; of tables of more than 5 million cells `fit`
        makes it at once. False: nothing is fitted twice.
    reject_label : label, default="auto"
        The label of a rejected row; by default the classifier's, or as in `RejectSVC`.
    random_state : int, RandomState or None, default=None
        Draws the calibration rows and the rows that the detector learns from, at most 2,000.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    guard_ : Guard
        The fitted detector and the scores of the calibration rows.
    calibration_ : Calibration
        These scores, and how often the classifier decided for each class or rejected among the calibration rows, as far
        as it had not seen them.
    seen_ : SeenColumns or None
        What the training rows had in each column.
    classes_, reject_label_, machine_, rule_, proof_ : object
        Those of the classifier, as far as it has them; `rule_` never rejects if the classifier does not.
    n_features_in_, feature_names_in_ : int, ndarray
        Those of the classifier, if it has them.

    Notes
    -----
    Novel rows are rejected by `predict`, `decide`, `reject_mask` and `score`, and nothing is ruled out for them by
    `predict_set`. `decision_function`, `predict_proba` and `predict_forced` are the classifier's own, so that curves
    and areas made from scores leave novelty out, and so do estimators around this one that use its scores: put
    `ThresholdRejector` and `CalibratedClassifierCV` inside. With `Actions` a novel row gets the action of ``rejects``
    that costs least in the worse class; without costs rejecting it costs nothing in `score`.

    The promise counts rows, not their weights; rows of weight 0 are left out. It is exact if the estimator contains all
    preprocessing: transformers in front of it in a Pipeline have seen the calibration rows. With groups, calibration
    rows are whole groups, and the promise holds as far as rows of different groups are alike.

    References
    ----------
    .. [1] Vovk, Gammerman & Shafer, "Algorithmic Learning in a Random World" (2005); Bates, Candes, Lei, Romano &
       Sesia, "Testing for outliers with conformal p-values", Annals of Statistics 51 (2023).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from abstain import Costs, NoveltyRejector, RejectSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), RejectSVC(Costs(reject=0.2)))
    >>> clf = NoveltyRejector(model, random_state=0).fit(X[:400], y[:400])
    >>> clf.decide(10 * X[400:403]).reason  # as if in other units
    array(['novel', 'novel', 'novel'], dtype='<U9')
    """

    estimator: Any
    rate: float = DEFAULT_RATE
    detector: Any = None
    _: KW_ONLY
    calibration_size: Any = None
    refit: Any = "auto"
    reject_label: Any = "auto"
    random_state: Any = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "decision_function"]), HasMethods(["fit", "predict_proba"])],
        "rate": [Interval(Real, 0, 1, closed="neither")],
        "detector": [HasMethods(["fit", "score_samples"]), None],
        "calibration_size": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="neither"), None],
        "refit": ["boolean", StrOptions({"auto"})],
        "random_state": ["random_state"],
    }

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        return state | {"rate": None} if self.rate is DEFAULT_RATE else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if state["rate"] is None:
            self.rate = DEFAULT_RATE

    @checked_first(nested=True)
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        row_costs: Any = None,
    ) -> Self:
        """Fit the classifier and the guard.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows, in the form that the classifier takes.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows for the classifier, if it takes them. Rows of weight 0 are not calibrated on.
        groups : array-like of shape (n_samples,), default=None
            Labels of the groups that rows belong to, such as patients: calibration rows are whole groups. They are
            passed to the classifier if its `fit` takes them.
        row_costs : array-like or data frame of shape (n_samples, 3) or (n_samples, 4), default=None
            Costs of each row, for a classifier that takes them.

        Returns
        -------
        NoveltyRejector
            The fitted estimator.
        """
        in_memory(X)
        if get_tags(self.estimator).input_tags.pairwise:
            raise ValueError(
                "estimator takes kernel values between rows as X, and a detector needs the rows themselves; use a "
                "kernel other than 'precomputed'."
            )
        frozen = isinstance(self.estimator, FrozenEstimator)
        refuse_lazy(y, "y")
        X, y = indexable(X, y)
        weight, checked, parameters = self._checked_rows(X, sample_weight, groups, fits=not frozen)
        if row_costs is not None:
            priced = row_cost_parameters(self.estimator, "fit", row_costs)
            if not priced:
                name = type(final_estimator(self.estimator)).__name__
                raise ValueError(f"row_costs has no effect: {name} takes none; leave it out.")
            parameters |= priced
        state = check_random_state(self.random_state)
        rows = self._drawn(label_vector(y, "y"), weight, checked, state)
        table = Table(X, y, {} if frozen else parameters)
        many = len(rows.calibration) > FEW * (len(rows.training) + len(rows.held_out))
        on_all = many if self.refit == "auto" else bool(self.refit)
        learned = table if frozen or on_all else table.taken(rows.training)
        fitted = self.estimator.estimator if frozen else learned.fitted(clone(self.estimator))
        machine, rule = machine_and_rule(fitted, self.reject_label)  # an error before anything else is fitted
        detector = fitted_detector(self.estimator, self.detector, *table.rows(rows.detector), state)
        guard = Guard.calibrated(detector, table.rows(rows.calibration)[0], self.rate, len(rows.detector))
        seen = SeenColumns.of(X if weight is None or np.all(weight) else table.rows(np.flatnonzero(weight))[0])
        now = Guarded(machine, rule, fitted, guard, Calibration(guard.scores), seen)
        choices = None if frozen else decisions_on_unseen(now, table, rows, refitted=on_all)
        self._fitted_ = replace(now, calibration=Calibration(guard.scores, choices))
        return self

    def _drawn(self, y: NDArray[Any], weight: Any, groups: Any, state: Any) -> GuardRows:
        """Draw the calibration rows; an error or a warning if they are too few for the rate."""
        present = np.arange(len(y)) if weight is None else np.flatnonzero(weight)
        n, needed = len(present), rows_needed(self.rate)
        size = calibration_size(n, self.rate, self.calibration_size)
        rows = GuardRows.drawn(y, present, groups, size, state)
        if (m := len(rows.calibration)) < needed:
            text = (
                f"rate={float(self.rate)!r} needs {needed} calibration rows to reject any row as novel, and there are "
                f"{m} of {n} rows"
            )
            way = f"give at least {2 * needed} rows{' in many groups' if groups is not None else ''}, or a larger rate"
            if self.calibration_size is not None:
                way = f"raise calibration_size={self.calibration_size!r}, or the rate"
            if self.rate is not DEFAULT_RATE:
                raise ValueError(f"{text}; {way}.")
            warnings.warn(f"{text}, so that none will be; {way}.", UserWarning, stacklevel=4)  # past the decorator
        return rows
