"""Pipelines and ColumnTransformers as fields and arrays, and back.

A ColumnTransformer is restored by fitting one whose parts pass their columns through, given by numbers, to a row of
zeros. Then the parts are replaced and the columns named. scikit-learn itself looks up each name in a list: that takes
time in the square of the number of columns.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from abstain.files.format.errors import ModelFileError, refuse, unsupported
from abstain.files.format.manifest import PoolReader, PoolWriter
from abstain.files.format.schema import Fields
from abstain.files.sklearn_codecs import steps_codec as codecs
from abstain.files.sklearn_codecs.scaler_codec import fitted_quietly
from abstain.files.sklearn_codecs.steps_codec import Columns, asked, check_output, identity, parameters_from
from abstain.preprocessing import ColumnNames

PASS, DROP, REMAINDER = "passthrough", "drop", "remainder"
Steps = list[tuple[str, Any]]


@dataclass(frozen=True)
class _Part:
    """A fitted part of a ColumnTransformer, or its remainder, which is the last.

    Attributes
    ----------
    name : str
    part : transformer or str
    indices : list of int
        Its columns.
    columns : list
        The same as they were given, by number or by name.
    width : int
        The number of columns that it makes.
    """

    name: str
    part: Any
    indices: list[int]
    columns: list[Any]
    width: int

    def set_in(self, make: Callable[[Any], Any]) -> Any:
        """Return the part, or what `make` makes of a transformer."""
        return self.part if isinstance(self.part, str) else make(self.part)


def pipeline_parts(steps: Steps, pool: PoolWriter, columns: Columns) -> tuple[list[Any], Columns]:
    """Return the fields of these steps of a Pipeline, and the columns that the last makes."""
    found: list[Any] = []
    for name, step in steps:
        state, columns = _any_parts(step, pool, columns)
        found.append([name, state])
    return found, columns


def pipeline_from(fields: Fields, pool: PoolReader, columns: Columns, last: Any = None) -> tuple[Pipeline, Columns]:
    """Make a Pipeline, of these steps alone or with a fitted estimator as its last one."""
    chosen = parameters_from(Pipeline, fields)
    given = fields.take("steps", list)
    if not all(isinstance(one, list) and len(one) == 2 and isinstance(one[0], str) for one in given):
        raise ModelFileError("its steps are not pairs of a name and a transformer.")
    steps: Steps = []
    for name, state in given:
        step, columns = _any_from(state, pool, columns)
        steps.append((name, step))
    if last is not None:
        steps.append((fields.take("name", str), last))
    pipeline = Pipeline(steps, **chosen)
    pipeline._validate_params()
    pipeline._validate_steps()
    return pipeline, columns


def _any_parts(step: Any, pool: PoolWriter, columns: Columns) -> tuple[Any, Columns]:
    if step is None or isinstance(step, str):
        return step, Columns(0) if step == DROP else columns
    if type(step) is Pipeline:
        pool.count(0)
        check_output(step)
        inner, made = pipeline_parts(step.steps, pool, columns)
        return identity(step) | {"steps": inner}, made
    return (_transformer_parts if type(step) is ColumnTransformer else codecs.step_parts)(step, pool, columns)


def _any_from(state: Any, pool: PoolReader, columns: Columns) -> tuple[Any, Columns]:
    if state is None or (isinstance(state, str) and state in (PASS, DROP)):
        return state, Columns(0) if state == DROP else columns
    fields = Fields(state, "preprocessing")
    kind = fields.maybe("kind")
    if kind == Pipeline.__name__:
        pool.count(0)
        return pipeline_from(fields, pool, columns)
    return (_transformer_from if kind == ColumnTransformer.__name__ else codecs.step_from)(fields, pool, columns)


def _transformer_parts(step: ColumnTransformer, pool: PoolWriter, columns: Columns) -> tuple[dict[str, Any], Columns]:
    pool.count(columns.count)
    check_output(step)
    columns.check(step)
    fitted = {name: (part, chosen) for name, part, chosen in step.transformers_}
    found, width, used = [], 0, np.zeros(columns.count, dtype=bool)
    for name, given, wanted in [*step.transformers, (REMAINDER, step.remainder, None)]:
        part, chosen = fitted.get(name, (given, None))
        chosen = wanted if isinstance(wanted, ColumnNames) else chosen
        indices, named = (np.flatnonzero(~used), False) if name == REMAINDER else _indices(name, chosen, columns)
        used[indices] = True
        entry: Any = None
        if name != REMAINDER:
            pool.count(0)
            entry = pool.put(indices)
        own = not isinstance(given, str)
        if own and not len(indices):
            what = f"has a ColumnTransformer with a {type(given).__name__} for no columns"
            raise unsupported(what, "leave this part out")
        other = own and asked(given) != asked(part)
        refuse(other, "the parameters of a part of its ColumnTransformer differ from those that were fitted.")
        state, made = _any_parts(part if own else given, pool, columns.at(indices))
        found.append([name, named, entry, state])
        width += made.count
    state = {"parts": found[:-1], REMAINDER: found[-1][-1], "sparse_output": bool(step.sparse_output_)}
    return identity(step) | state, Columns(width)


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
    chosen = parameters_from(ColumnTransformer, fields)
    used, parts = np.zeros(columns.count, dtype=bool), []
    for one in fields.take("parts", list):
        if not isinstance(one, list) or [type(value) for value in one[:3]] != [str, bool, list] or len(one) != 4:
            raise ModelFileError("a part of its ColumnTransformer is not described by name, columns and transformer.")
        name, named, entry, state = one
        pool.count(0)
        indices = pool.take("columns", entry, "i8 k")
        if not ((indices >= 0) & (indices < columns.count)).all() or (named and columns.names is None):
            raise ModelFileError("a part of its ColumnTransformer uses columns that do not exist.")
        used[indices] = True
        parts.append(_part_from(name, state, pool, columns.at(indices), indices, named=named))
    rest = np.flatnonzero(~used)
    parts.append(_part_from(REMAINDER, fields.take(REMAINDER), pool, columns.at(rest), rest))
    names = {one.name for one in parts}
    if len(names) != len(parts) or any("__" in name for name in names):
        raise ModelFileError("the parts of its ColumnTransformer have names that are not allowed.")
    step = _assembled(parts, columns)
    step.set_params(**chosen)
    step._validate_params()
    step.sparse_output_ = fields.take("sparse_output", bool)
    return step, Columns(sum(one.width for one in parts))


def _part_from(name: str, state: Any, pool: PoolReader, columns: Columns, at: Any, *, named: bool = False) -> _Part:
    none = state is None or (not isinstance(state, str) and not columns.count)
    refuse(none, "a part of its ColumnTransformer has no columns or no transformer.")
    part, made = _any_from(state, pool, columns)
    given = columns.names if named and columns.names is not None else at
    return _Part(name, part, at.tolist(), given.tolist(), made.count)


def _assembled(parts: list[_Part], columns: Columns) -> ColumnTransformer:
    *most, remainder = parts
    light = [(one.name, one.set_in(lambda _: PASS), one.indices) for one in most]
    step = ColumnTransformer(light, remainder=remainder.set_in(lambda _: PASS))
    fitted_quietly(step, np.zeros((1, columns.count)))
    rest = step._remainder[2]
    if columns.names is not None and {isinstance(one.columns[0], str) for one in most if one.indices} == {True}:
        rest = columns.names[rest].tolist()  # as scikit-learn names them if all parts name theirs
    full = {one.name: one for one in [*most, replace(remainder, columns=rest)]}
    for at, (name, made, _) in enumerate(step.transformers_):
        if isinstance(full[name].part, str) and not isinstance(made, str):  # what "passthrough" became
            columns.at(np.array(step._transformer_to_input_indices[name], dtype=np.int64)).set_on(made)
        part = made if isinstance(full[name].part, str) else full[name].part
        step.transformers_[at] = (name, part, full[name].columns)
    step._columns = [one.columns for one in most]
    step.remainder = remainder.set_in(clone)
    step._remainder = (REMAINDER, step.remainder, rest)
    step.transformers = [(one.name, one.set_in(clone), one.columns) for one in most]
    columns.set_on(step)
    start = 0
    for name in step.output_indices_:  # where the columns of each part are in the result, as `fit` records it
        if name in full and full[name].width:
            step.output_indices_[name] = slice(start, start + full[name].width)
            start += full[name].width
    return step
