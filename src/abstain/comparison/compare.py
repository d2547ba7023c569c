"""`abstain.compare`: several models on the same rows and at the same costs."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import indexable

from abstain.arguments import refuse_dask, share_between
from abstain.comparison.folds import Folds, held_out
from abstain.comparison.result import Comparison
from abstain.comparison.rules import default_rules, left_out
from abstain.comparison.verdict import Judge, judge_of
from abstain.estimators.fitting.splitting import parts_of, row_groups, splitter
from abstain.estimators.threshold.out_of_fold import checked_parts
from abstain.frames import frozen
from abstain.metrics.outcomes import Outcomes
from abstain.metrics.tables import counted
from abstain.preprocessing import scales_one_hot
from abstain.reject_labels import chosen_reject_label, free_label


def compare(
    models: Mapping[str, Any] | None,
    X: Any,
    y: ArrayLike,
    costs: Any = None,
    *,
    row_costs: Any = None,
    cv: Any = 5,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    confidence: float = 0.95,
    random_state: Any = 0,
    verbose: bool = False,
) -> Comparison:
    """Compare models by the cost of their decisions on held-out rows.

    Every model is fitted on the training rows of every fold and decides the test rows. The result gives the mean cost
    with its interval, and the paired difference from the best model with an interval that holds for all pairs of models
    at once, so that noise is not mistaken for a ranking.

    Parameters
    ----------
    models : dict of str to classifier, or None
        Models by name: classifiers with or without rejects, Pipelines, searches; they are cloned. None compares the
        rules of the papers on a kernel SVM: the double hinge, Bartlett & Wegkamp's rule if the costs are symmetric, an
        SVM trained for the error costs that never rejects, and a plain SVM with no rejects, with one symmetric
        threshold, with Tortorella's two thresholds, and with Chow's rule on Platt's probabilities. If the costs are
        symmetric and X is dense, Fumera & Roli's linear machine is added. Then follow logistic regression, a
        random forest and, if X is dense, gradient boosting, with Chow's rule. Features are standardised, and the
        parameters of each model are chosen inside the training rows. For several classes, `Actions` and `row_costs`
        these are the rules that take them; the others are named with the reason, as "left out".
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Rows, in a form that the models accept.
    y : array-like of shape (n_samples,)
        Labels of the rows, of any number of classes.
    costs : Costs or Actions
        The costs by which decisions are evaluated. Models with a `costs` parameter should get the same ones. With
        `Actions`, every model must predict names of actions.
    row_costs : array-like or data frame of shape (n_samples, 3) or (n_samples, 4), default=None
        Costs of each row, as in `RejectSVC.fit`, in place of those in `costs`; otherwise than for two classes, of shape
        (n_samples, n_classes, n_actions), as in `mean_cost`. They are also passed to the models whose `fit` and
        `predict` take them, and to Pipelines that end in one; with metadata routing, to those that request them.
    cv : int, splitter or iterable of (train, test), default=5
        Folds; an integer is the number of stratified folds of shuffled rows. If a splitter repeats rows, the costs of
        each row are averaged first; rows in no test fold are left out.
    groups : array-like of shape (n_samples,), default=None
        Labels of the groups that rows belong to, such as patients; they are passed to the splitter, and an integer `cv`
        then means `StratifiedGroupKFold`. The groups of the training rows are also passed to models that use them in a
        cross-validation of their own: the rules of the papers, models whose `fit` takes `groups`, searches whose `cv`
        is a group splitter, and Pipelines that end in one of these. Other searches split inside groups. With metadata
        routing, a Pipeline or search gets them if it requests them.
    pos_label : label, default=None
        The class that "positive" means in the costs of two classes; the larger of the two if None.
    confidence : float, default=0.95
        Confidence of the intervals.
    random_state : int, RandomState or None, default=0
        Seed of the shuffling for an integer `cv`.
    verbose : bool, default=False
        Whether to print a progress line on stderr after two seconds.

    Returns
    -------
    Comparison
        ``print(comparison)`` shows a table, ``comparison.to_frame()`` returns it as a pandas DataFrame, and
        ``comparison.verdict`` says whether the cheapest model that rejects is worth using.

    Notes
    -----
    The intervals are Student's t intervals of the costs of single rows and of the paired costs, adjusted for rows that
    rarely cost anything or rarely differ; those of differences have Bonferroni's correction for all pairs of models.
    They apply to the machines fitted on these folds. The folds share training rows, so one cross-validation cannot show
    how costs vary with the training rows, and the intervals do not include that variation; see
    `abstain.comparison.intervals` for the formula, reasons and sources. They are too narrow if rows of a group resemble
    each other, since they treat rows as independent.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from abstain import Costs, RejectSVC, compare
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> costs = Costs(false_positive=5, false_negative=1, reject=0.3)  # class 1 is benign
    >>> models = {
    ...     "rejecting": make_pipeline(StandardScaler(), RejectSVC(costs, C=10)),
    ...     "deciding": make_pipeline(StandardScaler(), LogisticRegression()),
    ... }
    >>> compare(models, X, y, costs)
    Comparison(names=('rejecting', 'deciding'), rows=569, n_splits=5, best='rejecting')
    """
    level = share_between("confidence", confidence, 0.95)
    refuse_dask(X, "compare", "pass some of the rows")
    judge = judge_of(y, costs, row_costs, pos_label)
    X, truth = indexable(X, judge.truth)
    groups = row_groups(groups, len(truth))
    chosen, missing = _checked_models(models, judge, X, grouped=groups is not None)
    cautions = _cautions(chosen)
    folds: Folds = parts_of(splitter(cv, truth, groups, shuffle=True, random_state=random_state), X, truth, groups)
    checked_parts(folds, truth)
    decided = np.concatenate([test for _, test in folds])
    answers = held_out(chosen, X, truth, folds, groups=groups, row_costs=judge.row_costs, verbose=verbose)
    rows, place, times = np.unique(decided, return_inverse=True, return_counts=True)

    def mean(values: NDArray[Any]) -> NDArray[np.float64]:
        """The mean over the repetitions of each row."""
        columns = [np.bincount(place, weights=column) / times for column in np.atleast_2d(values.T)]
        return frozen(np.column_stack(columns) if values.ndim > 1 else columns[0])

    def read(name: str, predicted: NDArray[Any], reject_label: Any) -> Outcomes:
        """The outcomes of the predictions, each time a row is repeated."""
        try:
            return judge.outcomes(predicted, reject_label, decided, weight)
        except ValueError as error:
            error.add_note(f"Raised by the predictions of model {name!r} in abstain.compare.")
            raise

    weight = None if (times == 1).all() else 1.0 / times[place]
    named = list(zip(chosen, answers, strict=True))
    outcomes = [read(name, one.predicted, one.reject_label) for name, one in named]
    known = [(name, one.decisions, one.reject_label) for name, one in named]
    forced = [None if of is None else read(name, of.forced, label) for name, of, label in known]
    blind = judge.blind(rows)
    return Comparison(
        names=tuple(chosen),
        prices=np.column_stack([mean(one.cost) for one in outcomes]),
        rows=rows,
        scores=tuple(None if one.score is None else mean(one.score) for one in answers),
        tables=tuple(map(counted, outcomes)),
        fit_seconds=np.array([one.fit_seconds for one in answers]),
        predict_seconds=np.array([one.predict_seconds for one in answers]),
        costs=judge.costs,
        confidence=level,
        n_splits=len(folds),
        left_out=tuple(missing.items()),
        cautions=cautions,
        classes=judge.classes,
        blind_prices=np.column_stack(list(blind.values())),
        blind_names=tuple(blind),
        forced_prices=tuple(None if one is None else mean(one.cost) for one in forced),
        novel=tuple(None if of is None or of.novel is None else mean(of.novel) for _, of, _ in known),
        answers=tuple(one.take(np.argsort(decided)) for one in answers) if weight is None else (),
    )


def _checked_models(models: Any, judge: Judge, X: Any, *, grouped: bool) -> tuple[dict[str, Any], dict[str, str]]:
    """The models by name, and the default rules left out, with the reasons."""
    if models is None:
        is_sparse = sparse.issparse(X)
        # a label of our own where the default is the name of a class, since nobody can be asked
        taken = judge.costs.answering and chosen_reject_label(np.unique(judge.truth), "auto", rejects=False) is None
        labels = {"pos_label": judge.positive, "reject_label": free_label(judge.truth) if taken else "auto"}
        rules = default_rules(judge.costs, **labels, sparse=is_sparse, grouped=grouped)
        return rules, left_out(judge.costs, sparse=is_sparse)
    if not isinstance(models, Mapping) or not models:
        raise ValueError(
            f"models={models!r} must be a dict of names to classifiers, such as {{'mine': RejectSVC(costs)}}, or None "
            "for the rules of the papers."
        )
    for name, model in models.items():
        if not isinstance(name, str) or not (hasattr(model, "fit") and hasattr(model, "predict")):
            raise ValueError(f"models[{name!r}]={model!r} must be a string and a classifier with fit and predict.")
    return dict(models), {}


def _cautions(models: Mapping[str, Any]) -> tuple[str, ...]:
    """One sentence, also a warning, for each model whose Pipeline scales what should stay 0 and 1."""
    found = tuple(
        f"models[{name!r}] standardises the columns of a OneHotEncoder, so that rare categories weigh most; scale only "
        "the numeric columns, in a ColumnTransformer."
        for name, model in models.items()
        if scales_one_hot(model)
    )
    for sentence in found:
        warnings.warn(sentence, UserWarning, stacklevel=3)
    return found
