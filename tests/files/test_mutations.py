"""Every field and every array of every kind of model file, changed, with all checksums right again.

`load` refuses the file with a reason, or reads a model that `save` writes again as it is, parameters apart. Where the
form was changed (something is missing, or of another type, dtype or shape, or is not a number), the model that is read
must also decide as the one that was saved; where a number was changed, it may be the file of another model.
"""

import copy
import json
import warnings

import numpy as np
import pytest

from abstain.files import registry
from abstain.files.format import manifest as stored_arrays
from abstain.files.format.errors import ModelFileError
from abstain.files.format.manifest import packed
from abstain.files.registry import parts
from files.forging import array, dropped, entry, field, lacking, manifest_of, opened, other_whole, part_at
from files.kinds import COST_KINDS, ESTIMATORS, KINDS, cell, rows_of
from looping import looped, quick

OTHERS = [None, True, -1, 2**62, 0.5, "x", [], {}, {"float": "nan"}, {"float": "-inf"}, 1e300, {"tuple": []}]
OTHERS += [{"Costs": [1.0, 1.0, 0.1]}, {"dict": [[1, 2]]}, "passthrough", 10**400]
MOST = 40  # changes of a file that are tried, evenly spread over all of them
FEW = 10  # of each kind of costs at each estimator, others for each
TREES = ("left", "right", "feature", "sizes", "lengths")  # followed without a look by scikit-learn: more is tried
# what may have any length, so that one entry less is another model
ANY_LENGTH = ("guard.unusual",)
# fields without which the file is that of another model
OPTIONAL = ("row_costs", "largest_row_cost", "spread")


def places(value, path=()):
    """The paths of all values in JSON, those that contain others included."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


def changed_fields(model):
    """All changes of the fields of a model: what was done, the change, and whether it is one of form."""
    for at, path in enumerate(places(model)):
        part, key = part_at(model, path)
        old, form = part[key], not {"parameters", "statistics", "categories"} & {*path}  # of several types
        yield "missing", path, lacking(path), form and isinstance(part, dict) and key not in OPTIONAL
        for new in (OTHERS[at % len(OTHERS)], OTHERS[(at + len(OTHERS) // 2) % len(OTHERS)]):
            if json.dumps(new) != json.dumps(old):
                alike = type(new) is type(old) or (isinstance(new, int | float) and isinstance(old, int | float))
                yield f"{new!r}"[:20], path, field(path, new), form and not alike and new != "passthrough"
        if isinstance(old, list) and len(old) > 1:
            yield "swapped", path, field(path, lambda old: old[::-1]), False
            yield "shorter", path, field(path, lambda old: old[:-1]), False
        if isinstance(old, dict):
            yield "more", path, field(path, lambda old: old | {"more": 1}), form
        if isinstance(old, int | float) and not isinstance(old, bool):
            yield "larger", path, field(path, lambda old: old + 1), False


def changed_arrays(arrays):
    """All changes of the arrays, as of the fields."""
    names = [*arrays]
    for at, (name, old) in enumerate(arrays.items()):
        yield "dropped", name, dropped(name), True
        other = other_whole if old.dtype.kind == "i" else lambda x: x.astype("<i8")
        yield "another dtype", name, array(name, other), True
        yield "an axis more", name, array(name, lambda x: x[np.newaxis]), True
        second = names[(at + 1) % len(names)]
        yield "swapped", name, array(name, arrays[second]), False
        if not old.size:
            continue
        any_length = name in ANY_LENGTH
        yield "truncated", name, array(name, lambda x: x[:-1]), not any_length
        yield "longer", name, array(name, lambda x: np.concatenate([x, x[-1:]])), not any_length
        yield "turned", name, array(name, lambda x: x[::-1]), False
        last = name.rpartition(".")[2]
        odd = [-1, 2**31 - 1, 0, 5] if old.dtype.kind == "i" else [np.nan, np.inf, -1.0, 1e308]
        for value in odd:
            form = last in ("coef", "vectors", "weights") and not np.isfinite(value)
            for one in range(min(6, old.size)) if last in TREES else [old.size // 2]:
                yield value, name, entry(name, one, np.array(value).astype(old.dtype)), form
    yield "unknown", "evil", array("evil", np.zeros(1)), True


def decided(estimator, rows, given):
    """The decisions, or the scores of what does not decide."""
    return (estimator.predict if hasattr(estimator, "predict") else estimator.score_samples)(rows, **given)


def without_parameters(value):
    if isinstance(value, list):
        return [without_parameters(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {name: without_parameters(one) for name, one in value.items() if name != "parameters"}


def judged(raw, estimator, rows, given, *, form):
    """Whether a file is refused; an AssertionError if it is neither refused nor harmless."""
    try:
        loaded = opened(raw)
    except ModelFileError as error:
        reason = str(error)
    else:
        reason = ""
    if reason:
        assert reason.endswith(".") and "\n" not in reason, reason  # noqa: PT018 (one sentence)
        return True
    stored, (state, arrays) = manifest_of(raw), parts(loaded)
    written = json.dumps(without_parameters(state))
    assert json.dumps(without_parameters(stored["model"])) == written, "save writes others"
    assert json.dumps(stored["arrays"]) == json.dumps(packed(arrays)[0]), "save writes other arrays"
    try:
        found = decided(loaded, rows, given)
    except (TypeError, ValueError):  # other columns, or numbers that overflow
        assert not form, "it was read although its form is wrong, and decides nothing"
        return False
    assert not form or found.tolist() == decided(estimator, rows, given).tolist(), "it was read and decides otherwise"
    return False


def tried(estimator, rows, forge, most=MOST, *, first=0, given=None):
    """The number of changed files that were refused, and of all; the first that is not harmless is named."""
    inside = []
    forge(estimator, lambda one: inside.append(copy.deepcopy(one)))
    changes = [*changed_fields(inside[0].model), *changed_arrays(inside[0].arrays)]
    step = max(1, len(changes) // most)
    changes = changes[first % step :: step]
    count = 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for what, where, change, form in changes:
            try:
                count += judged(forge(estimator, change), estimator, rows, given or {}, form=form)
            except AssertionError as error:
                raise AssertionError(f"{where}: {what}: {error}") from error
    return count, len(changes)


@pytest.mark.parametrize("kind", quick(KINDS, *[*KINDS][::2]))
def test_a_changed_file_is_refused_or_harmless(kind, request, forge):
    estimator = KINDS[kind](request)
    count, total = tried(estimator, rows_of(kind, request), forge)
    assert total / 2 < count < total, "most changes contradict something, and not all do"


@pytest.mark.long
@looped(estimator=ESTIMATORS)
def test_a_changed_file_of_any_kind_of_costs_is_refused_or_harmless(estimator, forge):
    refused = 0
    for at, costs in enumerate(COST_KINDS):
        model, rows, given = cell(costs, estimator)
        try:
            refused += tried(model, rows, forge, most=FEW, first=5 * at, given=given)[0]
        except AssertionError as error:
            error.add_note(f"costs: {costs}")
            raise
    assert refused > FEW * len(COST_KINDS) / 2


@pytest.mark.parametrize(
    ("kind", "target", "name", "value"),
    [
        ("machine", stored_arrays, "MAY_BE_NAN", ("coef", "vectors")),
        ("rejector", registry, "_difference", lambda *_: ""),
    ],
    ids=["nan", "what is written again"],
)
def test_a_check_that_is_missing_is_noticed(kind, target, name, value, request, forge, monkeypatch):
    estimator, rows = KINDS[kind](request), rows_of(kind, request)
    forge(estimator, lambda _: None)
    monkeypatch.setattr(target, name, value)
    with pytest.raises(AssertionError, match=r"it was read|save writes"):
        tried(estimator, rows, forge, most=10**6)
