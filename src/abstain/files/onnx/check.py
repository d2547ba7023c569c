"""The inputs of a graph, examples of them, and the comparison of a graph with Python on them, run by onnxruntime."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline

from abstain import preprocessing as tables
from abstain.estimators.novelty.guard import TIED, Guard
from abstain.estimators.unwrap import decide
from abstain.files.format.errors import no_graph
from abstain.files.onnx.rules import by_cost, detector_scoring
from abstain.files.onnx.scores import AverageScoring, Scoring, dense
from abstain.files.onnx.steps import NUMBER, TEXT, parts_of
from abstain.files.sklearn_codecs.steps_codec import active_steps
from abstain.kernels import Kernel

if TYPE_CHECKING:
    import onnx

    from abstain.files.onnx.to_onnx import Chain

OUTPUTS, GUARDED = ("label", "score", "rejected"), ("novel", "p_value")
ROWS = 200
ROUNDING = 1e-10  # the largest difference of two scores, relative to the terms of their sums; float32 gives 1e-7
UNSEEN = "?"  # before the last category: a text that is not one of them


@dataclass(frozen=True)
class Inputs:
    """The columns that a Pipeline reads: NUMBER, TEXT, or None for those that nothing reads, and their names."""

    kinds: list[str | None]
    names: list[str]
    apart: bool  # one input per column
    framed: bool  # whether Python reads a data frame
    guarded: bool = False  # whether the graph has the outputs of a guard

    @classmethod
    def of(cls, pipeline: Pipeline, *, guarded: bool = False) -> "Inputs":
        """The inputs of a fitted Pipeline: one per column if columns are chosen by name or one is text, else one."""
        first = active_steps(pipeline)[0]
        if type(first) is Pipeline:
            return cls.of(first, guarded=guarded)
        kinds: list[str | None] = [None] * int(first.n_features_in_)
        for steps, places in _first_steps(first, list(range(len(kinds)))):
            read = tables.columns_read(steps[0] if steps else None, [str(one) for one in range(len(places))])
            for place, what in zip(places, read.values(), strict=True):
                kind = NUMBER if what == tables.NUMBER else TEXT
                if kinds[place] not in (None, kind):
                    raise no_graph(f"reads column {place} both as text and as numbers", "")
                kinds[place] = kind
        names = getattr(first, "feature_names_in_", None)
        apart = TEXT in kinds or (names is not None and type(first) is ColumnTransformer)
        called = [f"x{at}" for at in range(len(kinds))] if names is None else [str(name) for name in names]
        return cls(kinds, called, apart, names is not None, guarded)

    @property
    def inputs(self) -> list[str]:
        """The name of each column's input: that of the column, unless the graph itself uses it."""
        taken = ("", *OUTPUTS, *(GUARDED if self.guarded else ()))
        prefixes = ("abstain/", "column:")
        return [f"column:{name}" if name in taken or name.startswith(prefixes) else name for name in self.names]

    def rows(self, pipeline: Pipeline, count: int) -> tuple[Any, dict[str, Any]]:
        """Rows like the training rows, as Python reads them and as the graph does."""
        rng = np.random.default_rng(0)
        cells: list[Any] = [np.zeros(count) for _ in self.kinds]
        for steps, places in _first_steps(pipeline, list(range(len(cells)))):
            for place, column in zip(places, _examples(steps, len(places), count, rng), strict=True):
                cells[place] = column
        if not self.apart:
            X = np.column_stack(cells).astype(np.float64)
            return tables.frame(dict(zip(self.names, X.T, strict=True))) if self.framed else X, {"X": X}
        read = [one for one in zip(self.inputs, self.kinds, cells, strict=True) if one[1] is not None]
        feeds = {name: _fed(column, kind) for name, kind, column in read}
        if self.framed:  # a missing text stays what it is
            return tables.frame(dict(zip(self.names, cells, strict=True))), feeds
        X = np.empty((count, len(cells)), dtype=object)
        for place, column in enumerate(cells):
            X[:, place] = column
        return X, feeds


def _fed(column: NDArray[Any], kind: str | None) -> NDArray[Any]:
    if kind == NUMBER:
        return column.astype(np.float64)[:, np.newaxis]
    texts = ["" if not isinstance(one, str) else one for one in column.tolist()]
    return np.array(texts, dtype=object)[:, np.newaxis]


def _first_steps(step: Any, at: list[int]) -> list[tuple[Any, list[int]]]:
    """The transformers that read the columns at these places first, each with the steps that follow it."""
    if type(step) is ColumnTransformer:
        return [found for part, chosen in parts_of(step) for found in _first_steps(part, [at[one] for one in chosen])]
    if type(step) is Pipeline:
        steps = active_steps(step)
        if steps and type(steps[0]) in (Pipeline, ColumnTransformer):
            return _first_steps(steps[0], at)
        return [(steps, at)]
    return [([step], at)]


def _examples(steps: list[Any], count: int, rows: int, rng: np.random.Generator) -> list[NDArray[Any]]:
    """Columns that suit the first steps: around the centre of a scaler, among the categories of an encoder."""
    for step in steps:
        if hasattr(step, "categories_"):
            made = [_categories(step, known, rows, rng) for known in step.categories_]
            break
        if hasattr(step, "scale_") and step.n_features_in_ >= count:  # an imputer may have added columns
            made = [*step.inverse_transform(rng.standard_normal((rows, step.n_features_in_))).T[:count]]
            break
    else:
        made = [*rng.standard_normal((count, rows))]
    first = steps[0] if steps else None
    if isinstance(first, SimpleImputer):
        for column in made:
            column[rng.uniform(size=rows) < 0.1] = first.missing_values
    return made


def _categories(step: Any, known: NDArray[Any], rows: int, rng: np.random.Generator) -> NDArray[Any]:
    values = known.tolist()
    if step.handle_unknown != "error":
        texts = [one for one in values if isinstance(one, str)]
        values.append(UNSEEN + max(texts) if texts else -7.5)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    picked = column[rng.integers(0, len(values), rows)]
    return picked if known.dtype.kind in "OU" else picked.astype(np.float64)


def compare(model: "onnx.ModelProto", estimator: Any) -> None:
    """Raise an error if the graph's scores or labels differ from Python's; without onnxruntime, do nothing."""
    try:
        import onnxruntime
    except ImportError:
        return
    from abstain.files.onnx.to_onnx import Chain  # which imports this module for the inputs

    chain = Chain.of(estimator)
    pipeline, rule, guard = chain.pipeline, chain.decider.rule_, chain.guard
    rows, feeds = _rows(chain)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    label, score, rejected, *more = session.run([*OUTPUTS, *(() if guard is None else GUARDED)], feeds)
    slack = ROUNDING * _sizes(chain.scoring, rows if pipeline is None else dense(pipeline[:-1].transform(rows)))
    python = np.asarray(decide(estimator, rows).score)
    averaged = isinstance(chain.scoring, AverageScoring) and score.ndim > 1  # a logarithm near 0 has no digits left
    apart = np.abs(np.exp(score) - np.exp(python)) if averaged else np.abs(score - python)
    apart = apart.reshape(len(score), -1).max(axis=1)
    if chain.scoring.is_probability and score.ndim == 1:  # 1 minus a probability near 1 has few digits left
        slack = slack + 4.0 * np.finfo(np.float64).eps * np.exp(np.maximum(np.abs(score), np.abs(python)))
    # the decisions that Python makes by the scores of the graph
    expected, handed_on = rule.predict(score), rule.is_reject(rule.choose(score))
    alike = np.ones(len(score), dtype=bool)
    if guard is not None:
        novel, p_value = more
        expected, handed_on = np.where(novel, chain.decider._fitted_.novel_label, expected), handed_on | novel
        alike = _same_p_values(guard, _read(chain, rows), p_value) & (novel == (p_value <= guard.rate))
    agree = ((label == expected) & (rejected == handed_on) | _tied(rule, score)) & alike
    if not (apart <= slack).all() or not agree.all():
        what = f"the results of onnxruntime {onnxruntime.__version__} differ from Python's"
        found = f"scores by up to {apart.max():.3g}, and {int((~agree).sum())} of {len(agree)} decisions"
        raise RuntimeError(f"{what}: {found}; no graph is returned.")


def _read(chain: "Chain", rows: Any) -> Any:
    """The rows as the guard reads them."""
    for step in chain.before:
        rows = step.transform(rows) if hasattr(step, "transform") else rows
    return rows


def _same_p_values(guard: Guard, rows: Any, p_value: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each p-value is one that Python gives to a score of the detector that differs by rounding."""
    unusual = guard.unusual(rows)
    total = float(np.abs(detector_scoring(guard).coef).sum())
    room = np.where(np.isfinite(unusual), 2.0 * TIED * np.abs(unusual) + ROUNDING * total, 0.0)
    near = np.stack([guard.p_value(unusual + shift) for shift in (room, 0.0, -room)])
    return np.asarray((p_value >= near.min(axis=0)) & (p_value <= near.max(axis=0)))


def _tied(rule: Any, score: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether two actions cost the same up to the rounding of their expected costs, so that either may be chosen."""
    if not by_cost(rule):
        return np.zeros(len(score), dtype=bool)
    first, second = np.sort(rule.expected_cost(score), axis=1)[:, :2].T
    return np.asarray(second - first <= ROUNDING * rule.costs.values.max())


def _sizes(scoring: Scoring | AverageScoring, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """The size of the terms whose sum is each row's score, the largest of several; infinite where a vote may flip."""
    if isinstance(scoring, AverageScoring):
        each = [one * _sizes(sums, X) for one, (sums, _) in zip(scoring.steepness(), scoring.parts, strict=True)]
        return np.asarray(np.max(each, axis=0) + 1.0)
    coef, kernel = np.abs(scoring.coef).T, scoring.kernel
    if scoring.centre is not None:
        terms = (np.abs(X) + np.abs(scoring.centre)) @ coef
    elif kernel.formula.stationary:
        terms = np.tile(coef.sum(axis=0), (len(X), 1))
    else:  # |tanh(u) - tanh(v)| <= |u - v|
        degree = kernel.degree if kernel.name == "poly" else 1
        alike = Kernel("poly", gamma=kernel.gamma, coef0=abs(kernel.coef0), degree=degree)
        terms = alike(np.abs(X), np.abs(scoring.vectors)) @ coef + coef.sum(axis=0)
    sizes = terms + np.abs(scoring.biases) + 1.0
    if not scoring.is_vote:
        return np.asarray(sizes.max(axis=1))
    flips = (np.abs(scoring.sums(X)) <= ROUNDING * sizes).any(axis=1)
    return np.where(flips, np.inf, sizes.sum(axis=1))


def _rows(chain: "Chain") -> tuple[Any, dict[str, Any]]:
    """Rows like the training rows, as Python reads them and as the graph does; behind a guard some far from them."""
    guarded = chain.guard is not None
    if chain.pipeline is not None:
        return Inputs.of(chain.pipeline, guarded=guarded).rows(chain.pipeline[:-1], ROWS)
    rows = _machine_rows(chain.scoring)
    rows[::4] *= 10.0 if guarded else 1.0
    return rows, {"X": rows}


def _machine_rows(sums: Scoring | AverageScoring) -> NDArray[np.float64]:
    """Support vectors and points between two of them; for linear machines, points with scores from -3 to 3."""
    if isinstance(sums, AverageScoring):
        return np.concatenate([_machine_rows(one)[:: len(sums.parts)] for one, _ in sums.parts])
    rng = np.random.default_rng(0)
    if sums.centre is not None:
        rows = rng.standard_normal((ROWS, sums.coef.shape[1]))
        for at, (weights, bias) in enumerate(zip(sums.coef, sums.biases, strict=True)):
            mine = slice(at, None, len(sums.coef))  # each machine has its share of the rows
            square = float(weights @ weights)
            if square >= np.finfo(np.float64).tiny:  # else every score is the bias, up to rounding
                apart = np.linspace(-3.0, 3.0, len(rows[mine])) - rows[mine] @ weights - bias
                rows[mine] += np.outer(apart / square, weights)
        rows += sums.centre
        return rows
    vectors = sums.vectors if len(sums.vectors) else np.zeros((1, sums.n_features))
    first, second = (vectors[rng.integers(0, len(vectors), ROWS)] for _ in range(2))
    share = rng.uniform(0, 1, (ROWS, 1)) * (np.arange(ROWS) % 2)[:, np.newaxis]
    return np.ascontiguousarray(first + share * (second - first))
