"""The whole matrix: every kind of costs at every estimator on every surface works, or is undefined with a reason.

A cell that works is compared with loops over the rows; one that does not exist raises an error that says why in one
sentence. No message lists who supports what.
"""

import io
import re
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import abstain
from abstain import (
    Actions,
    Costs,
    LinearRejectSVC,
    LinearRejectSVCCV,
    NoveltyRejector,
    RejectSVC,
    RejectSVCCV,
    ThresholdRejector,
)
from abstain.candidates.search import MachineSearch
from abstain.metrics import coverage, mean_cost, reject_rate

N = 90
RNG = np.random.default_rng(0)


def rows(n_classes):
    """Gaussians around the corners of a polygon, in the plane."""
    y = np.arange(N) % n_classes
    angle = 2 * np.pi * y / n_classes
    X = RNG.normal(size=(N, 2)) + 1.6 * np.column_stack([np.cos(angle), np.sin(angle)])
    return X, np.array(["a", "b", "c"])[y]


ROWS = {2: rows(2), 3: rows(3)}
GENERAL = {"a": {"b": 1, "c": 2}, "b": {"a": 3, "c": 1}, "c": {"a": 1, "b": 1}}
TWO = Actions({"a": {"a": 0, "b": 5}, "b": {"a": 1, "b": 0}, "call": 0.3, "visit": {"a": 0.4, "b": 0.2}})
THREE = Actions(
    {
        "a": {"a": 0, "b": 5, "c": 1},
        "treat": {"a": 1, "b": 0.1, "c": 0.2},
        "c": {"a": 1, "b": 1, "c": 0},
        "call": 0.3,
        "visit": {"a": 0.1, "b": 0.5, "c": 0.4},
    },
    rejects=("call", "visit"),
)
SIZE = RNG.uniform(0.5, 2.0, (N, 1, 1))  # how much depends on a row
PLAIN = np.array([[0, 1, 2, 0.3], [3, 0, 1, 0.3], [1, 1, 0, 0.3]])
KINDS = {
    "two": (2, Costs(1, 3, 0.3), None),
    "several": (3, Costs.from_table(GENERAL, reject=0.3), None),
    "actions of two": (2, TWO, None),
    "actions of several": (3, THREE, None),
    "rows of two": (2, None, np.column_stack([np.ones(N), 1 + 4 * RNG.random(N), RNG.uniform(0.1, 0.3, N)])),
    "rows of several": (3, None, SIZE * PLAIN),
    "rows of actions of two": (2, TWO, SIZE * TWO.values),
    "rows of actions of several": (3, THREE, SIZE * THREE.values),
}
GRID = {"Cs": [0.1, 1.0], "cv": 3}
ESTIMATORS = {
    "RejectSVC": RejectSVC,
    "RejectSVCCV": lambda costs: RejectSVCCV(costs, gammas=[0.3], **GRID),
    "LinearRejectSVC": LinearRejectSVC,
    "LinearRejectSVCCV": lambda costs: LinearRejectSVCCV(costs, **GRID),
    "ThresholdRejector": lambda costs: ThresholdRejector(LogisticRegression(), costs, method="chow"),
    "NoveltyRejector": lambda costs: NoveltyRejector(RejectSVC(costs), rate=0.1, random_state=0),
    "MachineSearch": lambda costs: MachineSearch(
        costs, ("logistic", "svm"), svm=RejectSVCCV(gammas=[0.3], **GRID), cv=3
    ),
}
# why a cell does not exist, by surface: (which cells, the words that say so)
BY_ROW = r"costs (of its|per) row|row_costs"
UNDEFINED = {
    "predict_set": (lambda cell: cell.costs is not None and cell.costs.names is not None, "undefined for Actions"),
    "plots": (lambda cell: cell.costs is None, r"row_costs|costs of (its|each) row|by its costs"),
    "ONNX": (lambda cell: cell.costs is None, "no input for the costs of a row"),
    "files": (lambda cell: cell.name == "MachineSearch", "save its best_estimator_"),
    "Dask": (lambda cell: cell.name == "NoveltyRejector", "dask"),
}


@pytest.fixture(scope="module")
def cells():
    """Each estimator fitted for each kind of costs, once."""
    found = {}

    def cell(kind, name):
        if (kind, name) not in found:
            n_classes, costs, own = KINDS[kind]
            X, y = ROWS[n_classes]
            given = {} if own is None else {"row_costs": own}
            model = ESTIMATORS[name](costs).fit(X, y, **given)
            found[kind, name] = SimpleNamespace(
                model=model, X=X, y=y, costs=costs, given=given, name=name, kind=kind, make=ESTIMATORS[name]
            )
        return found[kind, name]

    return cell


def table_of(cell, labels, classes):
    """The cost of each row's decision, by loops: its own table, or that of all rows."""
    paid = []
    own = cell.given.get("row_costs")
    names = None if cell.costs is None or cell.costs.names is None else list(cell.costs.names)
    for i, (label, truth) in enumerate(zip(labels, cell.y, strict=True)):
        j = classes.index(truth)
        if names is not None:
            table = cell.costs.values if own is None else own[i]
            paid.append(table[j][names.index(label)])
        elif len(classes) == 2:
            c_fp, c_fn, r = (1, 3, 0.3) if own is None else own[i]
            paid.append(r if label == "reject" else 0.0 if label == truth else c_fn if truth == "b" else c_fp)
        else:
            table = PLAIN if own is None else own[i]
            paid.append(table[j][3 if label == "reject" else classes.index(label)])
    return np.array(paid)


def check_predict(cell):
    labels = cell.model.predict(cell.X, **cell.given).tolist()
    possible = {"a", "b", "c", "reject"} if cell.costs is None or cell.costs.names is None else {*cell.costs.names}
    assert set(labels) <= possible
    assert len(labels) == N


def check_decide(cell):
    found = cell.model.decide(cell.X, **cell.given)
    assert found.label.tolist() == cell.model.predict(cell.X, **cell.given).tolist()
    frame = found.to_frame()
    assert len(frame) == N
    assert sum(name.startswith("cost_") for name in frame) == found.expected_cost.shape[1]
    known = np.isfinite(found.expected_cost).all(axis=1)
    assert known.mean() > 0.8
    if found.costs_decide:  # the label has the least of the expected costs, and no other does
        cheapest = found.expected_cost[known].min(axis=1)
        columns = [name.removeprefix("cost_") for name in frame if name.startswith("cost_")]
        at = [columns.index(one) for one in found.label[known]]
        np.testing.assert_allclose(found.expected_cost[known][np.arange(known.sum()), at], cheapest, atol=1e-9)


def check_predict_set(cell):
    sets = cell.model.predict_set(cell.X, **cell.given)
    rejected = cell.model.reject_mask(cell.X, **cell.given)
    assert sets.shape == (N, len(cell.model.classes_))
    assert (sets[rejected].sum(axis=1) > 1).all()
    assert sets.any(axis=1).all()


def check_score(cell):
    labels = cell.model.predict(cell.X, **cell.given)
    by_hand = table_of(cell, labels, cell.model.classes_.tolist())
    assert cell.model.score(cell.X, cell.y, **cell.given) == pytest.approx(-by_hand.mean())
    other = np.roll(cell.y, 1)  # control: other true labels cost something else
    assert cell.model.score(cell.X, other, **cell.given) != pytest.approx(-by_hand.mean())


def check_metrics(cell):
    found = cell.model.decide(cell.X, **cell.given)
    by_hand = table_of(cell, found.label, cell.model.classes_.tolist())
    assert mean_cost(cell.y, found, cell.costs, **cell.given) == pytest.approx(by_hand.mean())
    assert reject_rate(cell.y, found) == pytest.approx(found.rejected.mean())
    assert coverage(cell.y, found) == pytest.approx(1 - found.rejected.mean())


def check_compare(cell):
    models = {"it": cell.make(cell.costs)}
    found = abstain.compare(models, cell.X, cell.y, cell.costs, cv=2, **cell.given)
    assert "it" in str(found)
    by_hand = table_of(cell, found.answers[0].predicted, cell.model.classes_.tolist())
    assert found.mean_cost[0] == pytest.approx(by_hand.mean())


def check_plots(cell):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from abstain.plot import RejectRegionDisplay

    try:
        RejectRegionDisplay.from_estimator(cell.model, cell.X, cell.y, grid_resolution=20)
    finally:
        plt.close("all")


def check_report(cell):
    from abstain.report import render, report_for

    report = report_for(cell.model, cell.X, cell.y, **cell.given)
    by_hand = table_of(cell, cell.model.predict(cell.X, **cell.given), cell.model.classes_.tolist())
    assert report.mean_cost == pytest.approx(by_hand.mean())
    assert "<html" in render(report)


def check_files(cell, tmp_path):
    path = tmp_path / "model.abstain"
    abstain.save(cell.model, path)
    again = abstain.load(path)
    expected = cell.model.predict(cell.X, **cell.given).tolist()
    assert again.predict(cell.X, **cell.given).tolist() == expected


def check_onnx(cell):
    runtime = pytest.importorskip("onnxruntime")
    graph = abstain.to_onnx(cell.model)
    session = runtime.InferenceSession(graph.SerializeToString())
    label, *_ = session.run(["label"], {session.get_inputs()[0].name: cell.X})
    assert label.tolist() == cell.model.predict(cell.X).tolist()  # by the costs of the machine


def check_dask(cell):
    da = pytest.importorskip("dask.array")
    X = da.from_array(cell.X, chunks=(30, 2))
    given = {name: da.from_array(own, chunks=(30, *own.shape[1:])) for name, own in cell.given.items()}
    expected = cell.model.predict(cell.X, **cell.given)
    assert np.asarray(cell.model.predict(X, **given)).tolist() == expected.tolist()
    if cell.name == "LinearRejectSVC":
        y = da.from_array(cell.y, chunks=30)
        fitted = cell.make(cell.costs).fit(X, y, **given)
        same = fitted.predict(cell.X, **cell.given) == expected  # sums over chunks round otherwise, on a cut as well
        assert same.mean() > 0.97


SURFACES = {
    "predict": check_predict,
    "decide": check_decide,
    "predict_set": check_predict_set,
    "score": check_score,
    "metrics": check_metrics,
    "compare": check_compare,
    "plots": check_plots,
    "report": check_report,
    "files": check_files,
    "ONNX": check_onnx,
    "Dask": check_dask,
}


# pages, pictures and comparisons read the rule, which the kinds of estimators share: `make test` draws those of three
DRAWN, OF = ("report", "plots", "compare"), ("RejectSVC", "NoveltyRejector", "MachineSearch")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "surface"),
    [
        pytest.param(name, surface, marks=[pytest.mark.long] if surface in DRAWN and name not in OF else [])
        for name in ESTIMATORS  # in turn, so that a process fits few of them
        for surface in SURFACES
    ],
)
def test_every_kind_of_costs_works_or_says_why_not(surface, name, cells, tmp_path):
    which, words = UNDEFINED.get(surface, (lambda _: False, ""))
    failures = []
    for kind in KINDS:
        cell, output = cells(kind, name), io.StringIO()
        extra = {"tmp_path": tmp_path} if surface == "files" else {}
        if not which(cell):
            try:
                SURFACES[surface](cell, **extra)
            except Exception as error:  # noqa: BLE001 (all cells are reported together)
                failures.append(f"{kind}: {type(error).__name__}: {str(error)[:300]}")
            continue
        try:
            SURFACES[surface](cell, **extra)
            failures.append(f"{kind}: it works, so it is not undefined")
        except (ValueError, TypeError, AttributeError) as error:
            print(error, file=output)
            said = output.getvalue()
            if not re.search(words, said) or len(said) > 400 or re.search(r"RejectSVC,? (and|or) \w*SVC", said):
                failures.append(f"{kind}: {said}")
    assert not failures, "\n".join(failures)
