"""Pipelines and ColumnTransformers as fields and arrays, and back.

A ColumnTransformer is restored by fitting one whose parts pass their columns through, given by numbers, to a row of
zeros. Then the parts are replaced and the columns named. scikit-learn itself looks up each name in a list: that takes
time in the square of the number of columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from abstain.files.format.errors import ModelFileError, refuse, unsupported
from abstain.files.format.pool import PoolReader, PoolWriter
from abstain.files.format.schema import Fields
from abstain.files.sklearn_codecs.parameters import parameters_from, parameters_of
from abstain.files.sklearn_codecs.scaler_codec import fitted_quietly
from abstain.files.sklearn_codecs.steps_codec import KEPT, Columns, asked, check_output, step_from, step_parts

PASS, DROP, REMAINDER = "passthrough", "drop", "remainder"
Steps = list[tuple[str, Any]]


@dataclass(frozen=True)
class _Part:
    """A fitted part of a ColumnTransformer, its columns by number, and as they were given: by number or by name."""

    name: str
    part: Any
    indices: list[int]
    columns: list[Any]


def pipeline_parts(pipeline: Pipeline, steps: Steps, pool: PoolWriter, columns: Columns) -> tuple[Any, Columns]:
    """Return the parameters of a Pipeline and the fields of these steps of it, and the columns that the last makes."""
    found: list[Any] = []
    for name, step in steps:
        state, columns = _any_parts(step, pool, columns)
        found.append([name, state])
    return {"parameters": parameters_of(pipeline, KEPT[Pipeline]), "steps": found}, columns


def pipeline_from(fields: Fields, pool: PoolReader, columns: Columns, last: Any = None) -> tuple[Pipeline, Columns]:
    """Make a Pipeline, of these steps alone or with a fitted estimator as its last one."""
    chosen = parameters_from(Pipeline, fields.take("parameters", dict), KEPT[Pipeline])
    given = fields.take("steps", list)
    if not all(isinstance(one, list) and len(one) == 2 for one in given):
        raise ModelFileError("its steps are not pairs of a name and a transformer.")
    steps: Steps = []
    for name, state in given:
        step, columns = _any_from(state, pool, columns)
        steps.append((_checked(name), step))
    if last is not None:
        steps.append((fields.take("name", str), last))
    pipeline = Pipeline(steps, **chosen)
    pipeline._validate_params()
    pipeline._validate_steps()
    return pipeline, columns


def _checked(name: Any) -> str:
    refuse(not isinstance(name, str), "the name of one of its steps is not a string.")
    return name


def _any_parts(step: Any, pool: PoolWriter, columns: Columns) -> tuple[Any, Columns]:
    if step is None or (isinstance(step, str) and step == PASS):
        return step, columns
    if type(step) is Pipeline:
        pool.count(0)
        check_output(step)
        state, made = pipeline_parts(step, step.steps, pool, columns)
        return {"kind": Pipeline.__name__} | state, made
    if type(step) is ColumnTransformer:
        return _transformer_parts(step, pool, columns)
    return step_parts(step, pool, columns)


def _any_from(state: Any, pool: PoolReader, columns: Columns) -> tuple[Any, Columns]:
    if state is None or (isinstance(state, str) and state == PASS):
        return state, columns
    fields = Fields(state, "preprocessing")
    kind = fields.maybe("kind")
    if kind == Pipeline.__name__:
        pool.count(0)
        return pipeline_from(fields, pool, columns)
    if kind == ColumnTransformer.__name__:
        return _transformer_from(fields, pool, columns)
    return step_from(fields, pool, columns)


def _transformer_parts(step: ColumnTransformer, pool: PoolWriter, columns: Columns) -> tuple[dict[str, Any], Columns]:
    pool.count(columns.count)
    check_output(step)
    columns.check(step)
    fitted = {name: (part, chosen) for name, part, chosen in step.transformers_}
    state: dict[str, Any] = {"kind": ColumnTransformer.__name__}
    state |= {"parameters": parameters_of(step, KEPT[ColumnTransformer]), "parts": []}
    width, used = 0, np.zeros(columns.count, dtype=bool)
    for name, given, _ in step.transformers:
        part, chosen = fitted[name]
        indices, named = _indices(name, chosen, columns)
        used[indices] = True
        pool.count(0)
        entry = [name, named, pool.put(indices)]
        inner, made = _part_parts(given, part, pool, columns.at(indices))
        state["parts"].append([*entry, inner])
        width += made
    rest = columns.at(np.flatnonzero(~used))
    part, _ = fitted.get(REMAINDER, (step.remainder, None))
    state[REMAINDER], made = _part_parts(step.remainder, part, pool, rest)
    state["sparse_output"] = bool(step.sparse_output_)
    return state, Columns(width + made)


def _part_parts(given: Any, part: Any, pool: PoolWriter, columns: Columns) -> tuple[Any, int]:
    if isinstance(given, str) and given in (PASS, DROP):
        return given, columns.count if given == PASS else 0
    if not columns.count:
        what = f"has a ColumnTransformer with a {type(given).__name__} for no columns"
        raise unsupported(what, "leave this part out")
    if asked(given) != asked(part):
        raise ModelFileError("the parameters of a part of its ColumnTransformer differ from those that were fitted.")
    state, made = _any_parts(part, pool, columns)
    return state, made.count


def _indices(name: str, chosen: Any, columns: Columns) -> tuple[NDArray[np.int64], bool]:
    """The indices of the columns of a part, and whether they were chosen by name."""
    if isinstance(chosen, slice) and all(one is None or isinstance(one, int) for one in (chosen.start, chosen.stop)):
        return np.arange(columns.count)[chosen], False
    listed = None if isinstance(chosen, str | slice) or np.ndim(chosen) != 1 else list(chosen)
    if listed is not None and listed and all(isinstance(one, bool | np.bool_) for one in listed):
        return np.flatnonzero(listed), False
    if listed is not None and all(isinstance(one, int | np.integer) for one in listed):
        return np.array([int(one) % max(columns.count, 1) for one in listed], dtype=np.int64), False
    if listed is None or columns.names is None or not all(isinstance(one, str) for one in listed):
        what = f"has a ColumnTransformer whose part {name!r} chooses its columns by {chosen!r}"
        raise unsupported(what, "give a list of their names or their numbers")
    places = {column: at for at, column in enumerate(columns.names.tolist())}
    return np.array([places[one] for one in listed], dtype=np.int64), True


def _transformer_from(fields: Fields, pool: PoolReader, columns: Columns) -> tuple[ColumnTransformer, Columns]:
    pool.count(columns.count)
    chosen = parameters_from(ColumnTransformer, fields.take("parameters", dict), KEPT[ColumnTransformer])
    used, parts, widths = np.zeros(columns.count, dtype=bool), [], {}
    for one in fields.take("parts", list):
        if not isinstance(one, list) or len(one) != 4 or type(one[1]) is not bool or (one[1] and columns.names is None):
            raise ModelFileError("a part of its ColumnTransformer is not described by name, columns and transformer.")
        name, named, entry, state = one
        pool.count(0)
        indices = pool.take("columns", entry, "i8 k")
        if not ((indices >= 0) & (indices < columns.count)).all():
            raise ModelFileError("a part of its ColumnTransformer uses columns that do not exist.")
        used[indices] = True
        read = columns.at(indices)
        part, widths[_checked(name)] = _part_from(state, pool, read)
        given = read.names if named and read.names is not None else indices
        parts.append(_Part(name, part, indices.tolist(), given.tolist()))
    rest = columns.at(np.flatnonzero(~used))
    remainder, widths[REMAINDER] = _part_from(fields.take(REMAINDER), pool, rest)
    sparse = fields.take("sparse_output", bool)
    if len(widths) != len(parts) + 1 or any("__" in name for name in widths):
        raise ModelFileError("the parts of its ColumnTransformer have names that are not allowed.")
    step = _assembled(parts, remainder, columns)
    step.set_params(**chosen)
    step._validate_params()
    step.sparse_output_ = sparse
    _set_indices(step, widths)
    return step, Columns(sum(widths.values()))


def _part_from(state: Any, pool: PoolReader, columns: Columns) -> tuple[Any, int]:
    if isinstance(state, str) and state in (PASS, DROP):
        return state, columns.count if state == PASS else 0
    refuse(state is None or not columns.count, "a part of its ColumnTransformer has no columns or no transformer.")
    part, made = _any_from(state, pool, columns)
    return part, made.count


def _assembled(parts: list[_Part], remainder: Any, columns: Columns) -> ColumnTransformer:
    def light(part: Any) -> Any:
        return part if isinstance(part, str) else PASS

    step = ColumnTransformer([(one.name, light(one.part), one.indices) for one in parts], remainder=light(remainder))
    fitted_quietly(step, np.zeros((1, columns.count)))
    fresh = remainder if isinstance(remainder, str) else clone(remainder)
    rest = step._remainder[2]
    if columns.names is not None and {isinstance(one.columns[0], str) for one in parts if one.indices} == {True}:
        rest = columns.names[rest].tolist()  # as scikit-learn names them if all parts name theirs
    full = {one.name: (one.part, one.columns) for one in parts} | {REMAINDER: (remainder, rest)}
    step.transformers_ = [
        (name, part if isinstance(full[name][0], str) else full[name][0], full[name][1])
        for name, part, _ in step.transformers_
    ]
    for name, part, _ in step.transformers_:
        if not isinstance(part, str) and isinstance(full[name][0], str):  # what "passthrough" became
            columns.at(np.array(step._transformer_to_input_indices[name], dtype=np.int64)).set_on(part)
    step._columns = [one.columns for one in parts]
    step._remainder = (REMAINDER, fresh, rest)
    step.transformers = [
        (one.name, one.part if isinstance(one.part, str) else clone(one.part), one.columns) for one in parts
    ]
    step.remainder = fresh
    columns.set_on(step)
    return step


def _set_indices(step: ColumnTransformer, widths: dict[str, int]) -> None:
    """Where the columns of each part are in the result, as `fit` records it."""
    start = 0
    for name in step.output_indices_:
        if widths.get(name):
            step.output_indices_[name] = slice(start, start + widths[name])
            start += widths[name]
