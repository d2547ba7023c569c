"""ThresholdRejector: any scikit-learn classifier made to reject."""

from dataclasses import KW_ONLY
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from abstain.arguments import is_dask, refuse_dask, refuse_lazy
from abstain.costs.per_row import row_table
from abstain.costs.table import CostTable
from abstain.estimators.fitting.parameters import checked_first, with_parameters
from abstain.estimators.linear.linear_svc import LinearRejectSVC
from abstain.estimators.threshold.fitted_rejector import TunedDecisions, labels_for
from abstain.estimators.threshold.out_of_fold import Fitting, is_prefit, refuse_unused
from abstain.rules.tuning.request import Request

_SHARE = Interval(RealNotInt, 0, 1, closed="neither")


@with_parameters
class ThresholdRejector(TunedDecisions):
    """Reject where the score of a classifier lies between two thresholds, or does not lead by enough.

    The score f is the classifier's `decision_function`; if it has none, or if `method` needs probabilities, the
    log-odds of ``classes_[1]``, the class that sorts last, log(p / (1 - p)) of its `predict_proba`. The classifier's
    own cut is at 0 either way. With more than two classes there is a score for each, of `decision_function` or
    log(p_k); the class of the highest is answered, and its confidence is the lead over the second highest. A cut on the
    confidence takes the place of the thresholds. `predict_proba` is that of the classifier, without rejects. There are
    four ways to specify the thresholds, and without any of them nothing is rejected:

    - `costs`: the costs of the errors and of a reject; their sum over the rows is minimised;
    - `reject_rate`: a budget, the largest share of new rows to reject;
    - `max_error` with `confidence`: a ceiling on the error among the accepted rows, which holds with this confidence;
    - `class_error`: of each true class at most this share is answered wrongly, by conformal prediction.

    Parameters
    ----------
    estimator : classifier
        With `decision_function` or `predict_proba`; with more than two classes, one score for each class.
    costs : Costs, Actions or None, default=None
        Costs of the errors and of a reject, or of several actions, with ``method="chow"`` only; for any number of
        classes.
    reject_rate : float, (float, float), dict or None, default=None
        At most this share of new rows is rejected, or these shares of the true (negative, positive) class; or, with a
        dict {class: share}, of the rows for which this class is the forced answer. Of n rows that the cut is placed on,
        at most floor(share (n + 1)) - 1 are rejected, rows with the same confidence together or not at all; with few
        rows for the share that is none. See the Notes for what is promised. Answers of a class that the dict does not
        name are never rejected.
    max_error : float, (float, float), dict or None, default=None
        The error among the accepted rows is at most this, or among those truly of the (negative, positive) class at
        most these (one minus the specificity and sensitivity over the accepted), or, with a dict {class: ceiling},
        among those answered so (one minus the predictivity of the class); by exact binomial tests along a sequence of
        thresholds fixed without the labels [3]_, on rows that are held out of the fit. If no threshold can be
        certified, a `ValueError` gives the number of rows needed, or says that no number would be enough at the error
        rates seen. Answers of a class that the dict does not name are all accepted.
    class_error : float, dict or None, default=None
        The largest share of the rows of each true class that is answered as another class: {class: rate}, which must
        name every class, or one rate for all. A row has a set of classes that are not ruled out [4]_; if one class is
        left, it is answered, and if several or none are, the row is rejected. See the Notes for what is promised. A
        rate below 1 / (n_k + 1), with n_k calibration rows of the class, is a `ValueError` that gives the number of
        rows needed.
    confidence : float, default=0.9
        The ceiling `max_error` holds for at least this share of calibrations like this one. Several ceilings hold
        together with this confidence; those of a dict, as each of m is tested at the level (1 - confidence) / m.
    method : {"auto", "symmetric", "roc", "chow"}, default="auto"
        "auto": "roc" for `costs` that differ by class, where one symmetric threshold lies in the wrong place, otherwise
        "symmetric". "symmetric": one threshold D; a row is rejected if f lies within D of the classifier's own cut, 0,
        or leads by at most D. "roc": two thresholds, with `costs` from the convex hull of the ROC curve [1]_, with
        `reject_rate` those that leave the fewest errors; with more than two classes and `costs`, a cut on the lead for
        each class answered, where the rows cost least. "chow": on probabilities, by Platt's sigmoid
        (`CalibratedClassifierCV`) if the classifier has none; with `costs` the least expected cost decides (Chow's rule
        [2]_) and nothing is tuned, otherwise there is one threshold on the largest probability.
    cv : int, splitter, iterable, "prefit" or "train", default=5
        The scores on which thresholds are tuned. Folds: the scores of the rows left out of each fold; the classifier is
        then fitted on all rows. "prefit": the classifier is already fitted, and the thresholds are tuned on the rows
        given to `fit`; so is a `FrozenEstimator`, whatever the folds. "train": the classifier is fitted and the
        thresholds are tuned on the same rows, as in FR02. If `fit` is given groups, a number of folds means
        `StratifiedGroupKFold`. With `max_error` and `class_error` it can be "prefit"; the default, 5, makes no folds,
        and rows are held out instead (`calibration_size`). Other folds are for ``conformal="cross"`` only: scores of
        folds with a classifier fitted on all rows are refused, because nothing is proven of them, and simulations
        missed the promises by far.
    conformal : {"split", "cross"}, default="split"
        For `class_error`, unless ``cv="prefit"``. "split": the classifier is fitted without the calibration rows, so
        that the promise holds as stated. "cross": one classifier for each fold of `cv`; a row is scored by each of
        them, and its rank among the rows left out of that fold counts. All rows serve both purposes, but what is proven
        is about twice the rate (``certificate_.upper_bound``).
    calibration_size : float, int or None, default=None
        The share, or the number, of rows held out for `max_error` and for "split", the same share of each class. None:
        for `max_error` half of the rows, fewer if there are many, at least a quarter; for `class_error` of each class
        about a quarter, more if its rate needs more rows, at most half; just so many that the rate loses nothing to
        rounding. If `fit` is given groups, whole groups are held out, about as many rows.
    pos_label : label, default=None
        The class that "positive" means in costs, budgets and ceilings of two classes; ``classes_[1]`` if None.
    reject_label : label, default="auto"
        The label that `predict` gives a rejected row; see `RejectSVC`.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel; None is one, -1 is one per core.
    random_state : int, RandomState or None, default=None
        Shuffles the rows before an integer `cv` cuts them into folds; None keeps their order. Chooses the rows that
        are held out; with None they differ from fit to fit.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier, with a sigmoid if one was needed; for "cross" a value with all of them, `classifiers`.
    classes_, reject_label_ : ndarray of shape (n_classes,), scalar
        The classes, sorted, and the label of a rejected row.
    thresholds_ : Thresholds, or ndarray of shape (n_classes,)
        In the units of the score, oriented to ``classes_[1]``. With more than two classes, the cut on the lead (for
        "chow" on the logarithm of the largest probability) for each class answered; for `class_error` the lead over the
        best of the others from which on a class is in the set. It does not exist for "chow" with `costs`. For "cross"
        the score is made of p-values, and so are these.
    response_method_ : {"decision_function", "predict_proba"}
        The method that gives the score.
    method_ : {"symmetric", "roc", "chow", "conformal"}
        The method that placed the thresholds.
    certificate_ : ErrorBound, ClassErrorBound or None
        For `max_error`: the rows accepted, the errors among them, and the exact bound. For `class_error`: the rate, the
        number of calibration rows and the cut of each class, and the bound that is proven.
    n_features_in_, feature_names_in_ : int, ndarray
        Those of the classifier, if it has them.

    Notes
    -----
    `predict_forced` is the classifier's own decision for "symmetric", the cheapest class by the probability for "chow",
    and the decision at the single threshold of least cost for "roc" with two classes. With more, the classifier's own
    decision is the class of its highest score (where the votes of an `SVC` tie, it may predict another). If another
    class would be cheaper, "symmetric" and "roc" never answer it: they reject instead. "chow" does, and needs good
    probabilities; around forests, naive Bayes and sigmoids of `SVC` tuned cuts were cheaper, so "auto" avoids it.

    The expected costs of `decide` are those of the classifier's `predict_proba`; nan without it, or without costs.

    `reject_rate` promises that a new row that is exchangeable with the rows of the scores is rejected with a
    probability of at most the share, on average over such rows, if the classifier was not fitted on them: for
    ``cv="prefit"``, and for `retune` with other rows or with those that `max_error` held out. With folds the final
    classifier is another one than those that gave the scores, so that the share is kept only about, and with "train"
    not even that. It is not proven for "roc", whose band is chosen by the labels too. Weights count a new row as much
    as the mean of the rows.

    The guarantee of `max_error` is exact for the rows that are held out, and for ``cv="prefit"`` with rows that the
    classifier was not fitted on. It holds for one calibration: if you choose the best of several by their coverage, the
    confidence is lower than stated. The test counts rows as independent. Whole groups are held out, but if rows of a
    group resemble each other, the confidence is lower than stated.

    What `class_error` promises is stated in `ClassErrorBound`. Nothing that was fitted may have seen the calibration
    rows: give the whole Pipeline as `estimator`, with its scaling and its search for parameters. With `class_error`,
    `predict_forced` is the answer where there is one; otherwise the classifier's own decision, among the classes in the
    set if there are any (for "cross" by p-values). `predict_set` is the conformal set, which can be empty. Weights are
    for the classifier's `fit`; calibration counts each row once, except rows of weight 0, which are left out.

    References
    ----------
    .. [1] Tortorella, "Reducing the classification cost of support vector classifiers through an ROC-based reject
       rule", Pattern Analysis and Applications 7 (2004).
    .. [2] Chow, "On optimum recognition error and reject tradeoff", IEEE Trans. Inf. Theory 16 (1970).
    .. [3] Angelopoulos, Bates, Candes, Jordan & Lei, "Learn then Test" (2021).
    .. [4] Vovk, Gammerman & Shafer, "Algorithmic Learning in a Random World" (2005), Mondrian conformal predictors;
       "cross": Vovk, "Cross-conformal predictors", Ann. Math. Artif. Intell. 74 (2015).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from abstain import Costs, ThresholdRejector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> clf = ThresholdRejector(model, max_error=0.02, random_state=0).fit(X, y)
    >>> clf.certificate_
    ErrorBound(max_error=0.02, confidence=0.9, n_rows=285, accepted=189, errors=0)
    >>> cheap = clf.retune(costs=Costs(false_positive=5, false_negative=1, reject=0.2))  # no new fit
    >>> promised = ThresholdRejector(model, class_error={0: 0.02, 1: 0.05}, random_state=0).fit(X, y)
    >>> promised.certificate_.n_rows  # 0 is malignant
    {0: 99, 1: 99}
    >>> promised.predict_set(X[19:21])
    array([[ True,  True],
           [False,  True]])
    """

    estimator: Any
    costs: CostTable | None = None
    _: KW_ONLY
    reject_rate: Any = None
    max_error: Any = None
    class_error: Any = None
    confidence: float = 0.9
    method: str = "auto"
    cv: Any = 5
    conformal: str = "split"
    calibration_size: Any = None
    pos_label: Any = None
    reject_label: Any = "auto"
    n_jobs: int | None = None
    random_state: Any = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {  # the others are checked together, by Request, and with y
        "estimator": [HasMethods(["fit", "decision_function"]), HasMethods(["fit", "predict_proba"])],
        "cv": ["cv_object", StrOptions({"prefit", "train"})],
        "conformal": [StrOptions({"split", "cross"})],
        "calibration_size": [_SHARE, Interval(Integral, 1, None, closed="left"), None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    @checked_first(nested=True)
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        row_costs: Any = None,
    ) -> Self:
        """Fit the classifier, unless it is already fitted, and tune the thresholds.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows, in the form that the classifier takes.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: for fitting, if the classifier takes them, and for tuning by `costs` or `reject_rate`.
            With `class_error` for fitting only.
        groups : array-like of shape (n_samples,), default=None
            Labels of the groups that rows belong to, such as patients; they are passed to the splitter of `cv`, to the
            folds of the sigmoid, and to the classifier's own search if its `fit` takes groups. Whole groups are held
            out for `max_error` and `class_error`. No effect for ``cv="prefit"``.
        row_costs : array-like or data frame, default=None
            Costs of each row, as in `RejectSVC.fit`. They say that rows to decide on will come with theirs: decisions
            are then by Chow's rule, for which nothing is tuned.

        Returns
        -------
        ThresholdRejector
            The fitted estimator.
        """
        if not isinstance(self.estimator, LinearRejectSVC):  # which reads the chunks of a dask array one by one
            some = 'fit the classifier first, and then ThresholdRejector(fitted, cv="prefit") on some of the rows'
            refuse_dask(X, "ThresholdRejector", some)
        refuse_lazy(y, "y")
        request = Request.of(self, by_row=row_costs is not None)
        if request.promise is not None:
            refuse_unused(self, request.promise)
        X, y = indexable(X, y)
        prefit, by_class = is_prefit(self), request.way == "class_error"
        if prefit:
            check_is_fitted(self.estimator)
        labels = labels_for(self, request, self.estimator.classes_ if prefit else y)
        request.warn_if_assumed(labels, self.pos_label)
        request = request.of_classes(labels)
        code = labels.encode(y)
        if row_costs is not None:
            row_table(row_costs, labels, request.costs, len(code))
        tune = request.needs_rows and not by_class
        weight, groups, parameters = self._checked_rows(X, sample_weight, groups, tune=tune, fits=not prefit)
        if row_costs is not None and not prefit and getattr(self.estimator, "_fits_row_costs", False):
            parameters = {**parameters, "row_costs": row_costs}
        if by_class and prefit and weight is not None:
            raise ValueError('sample_weight has no effect with class_error and cv="prefit"; leave it out.')
        if weight is not None and not weight.all() and isinstance(self.cv, Integral) and not (prefit or is_dask(X)):
            present = np.flatnonzero(weight)  # as if the others were not there, in the folds of a sigmoid too
            X, y, code, weight = (_safe_indexing(one, present) for one in (X, y, code, weight))
            groups = None if groups is None else groups[present]
            parameters = {name: _safe_indexing(value, present) for name, value in parameters.items()}
        if by_class and weight is not None:
            weight = np.sign(weight)
        self._fitted_ = Fitting(self, request, labels, X, y, groups, parameters, code, weight).tuned()
        return self
