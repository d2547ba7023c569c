"""Every loader on the data folder: sizes, classes and names as the sets' own documentation counts them."""

import csv
import gzip

import numpy as np
import pytest
from public_data import (
    load_cells,
    load_covtype,
    load_german,
    load_heart,
    load_letter,
    load_liver,
    load_mitbih,
    load_pima,
    load_thyroid,
    load_wdbc,
)
from sklearn.datasets import load_breast_cancer

from abstain import Costs

# loader, keywords, features, rows per class in the order of the target
SETS = [
    (load_wdbc, {}, 30, {"benign": 357, "malignant": 212}),
    (load_pima, {}, 8, {"no diabetes": 500, "diabetes": 268}),
    (load_liver, {}, 6, {"selector 1": 145, "selector 2": 200}),
    (load_thyroid, {}, 5, {"normal": 150, "hyper or hypo": 65}),
    (load_thyroid, {"binary": False}, 5, {"normal": 150, "hyper": 35, "hypo": 30}),
    (load_german, {}, 24, {"good": 700, "bad": 300}),
    (load_german, {"symbolic": True}, 20, {"good": 700, "bad": 300}),
    (load_heart, {}, 13, {"absence": 150, "presence": 120}),
    (load_letter, {"pair": "HK"}, 16, {"H": 734, "K": 739}),
    (load_letter, {"pair": "KH"}, 16, {"K": 739, "H": 734}),
    (load_covtype, {}, 54, {"Cottonwood/Willow": 2747, "Douglas-fir": 17367}),
    (load_covtype, {"classes": (6, 4)}, 54, {"Douglas-fir": 17367, "Cottonwood/Willow": 2747}),
    (load_mitbih, {}, 18, {"normal conduction": 43148, "ventricular ectopic": 6800}),
    (load_mitbih, {"features": False}, 200, {"normal conduction": 43148, "ventricular ectopic": 6800}),
    (load_mitbih, {"records": [214, 221]}, 18, {"normal conduction": 4034, "ventricular ectopic": 652}),
    (
        load_cells,
        {},
        765,
        {
            "CD14+ Monocyte": 129,
            "CD19+ B": 95,
            "CD34+": 13,
            "CD4+/CD25 T Reg": 68,
            "CD4+/CD45RA+/CD25- Naive T": 8,
            "CD4+/CD45RO+ Memory": 19,
            "CD56+ NK": 31,
            "CD8+ Cytotoxic T": 54,
            "CD8+/CD45RA+ Naive Cytotoxic": 43,
            "Dendritic": 240,
        },
    ),
]
NAMES = [f"{loader.__name__}-{'-'.join(map(str, keywords.values()))}" for loader, keywords, *_ in SETS]


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(("loader", "keywords", "features", "classes"), SETS, ids=NAMES)
def test_a_loader_gives_the_set_in_scikit_learns_form(loader, keywords, features, classes):
    loaded = loader(**keywords)
    assert loaded.data.shape == (sum(classes.values()), features)
    assert len(loaded.feature_names) == features == len(set(loaded.feature_names))
    assert loaded.target.dtype == np.int64
    assert loaded.target_names == list(classes)
    assert np.bincount(loaded.target).tolist() == list(classes.values())
    assert loaded.frame is None
    assert loaded.source in loaded.DESCR
    assert loaded.citation in loaded.DESCR
    assert loaded.licence in loaded.DESCR
    if not keywords.get("symbolic"):
        assert loaded.data.dtype == np.float64
        assert np.isfinite(loaded.data).all()
    X, y = loader(**keywords, return_X_y=True)
    np.testing.assert_array_equal(X, loaded.data)
    np.testing.assert_array_equal(y, loaded.target)


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("loader", [load_pima, load_german, load_heart])
def test_a_frame_has_the_same_numbers_under_their_names(loader):
    plain, framed = loader(), loader(as_frame=True)
    assert framed.frame.columns.tolist() == [*plain.feature_names, "target"]
    np.testing.assert_array_equal(framed.data.to_numpy(), plain.data)
    np.testing.assert_array_equal(framed.target.to_numpy(), plain.target)
    X, y = loader(as_frame=True, return_X_y=True)
    assert X.equals(framed.data)
    assert y.equals(framed.target)


@pytest.mark.usefixtures("data")
def test_all_letters():
    loaded = load_letter()
    assert loaded.data.shape == (20000, 16)
    assert "".join(loaded.target_names) == "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    counts = np.bincount(loaded.target)
    assert [int(counts[k]) for k in (0, 7, 10, 25)] == [789, 734, 739, 734]


@pytest.mark.usefixtures("data")
def test_all_cover_types():
    loaded = load_covtype(classes=None)
    assert np.bincount(loaded.target).tolist() == [211840, 283301, 35754, 2747, 9493, 17367, 20510]
    indicators = loaded.data[:, 10:]
    assert set(np.unique(indicators).tolist()) == {0.0, 1.0}
    assert (indicators[:, :4].sum(axis=1) == 1).all()
    assert (indicators[:, 4:].sum(axis=1) == 1).all()
    pair = load_covtype()
    rows = np.isin(loaded.target, (3, 5))
    np.testing.assert_array_equal(loaded.data[rows], pair.data)
    np.testing.assert_array_equal(loaded.target[rows] == 5, pair.target == 1)


def test_cells_are_those_of_the_file(data, monkeypatch):
    loaded = load_cells()
    with np.load(data / "pbmc68k_reduced.npz") as arrays:
        assert [loaded.target_names[k] for k in loaded.target] == arrays["cell_type"].tolist()
        assert loaded.feature_names == arrays["genes"].tolist()
        assert loaded.data.sum() == pytest.approx(float(arrays["data"].sum(dtype=np.float64)))
        first = slice(*arrays["indptr"][:2])
        np.testing.assert_array_equal(loaded.data[0, arrays["indices"][first]], arrays["data"][first].astype(float))
    monkeypatch.delenv("ABSTAIN_DATA")
    with pytest.raises(FileNotFoundError, match=r"from a data folder only; set ABSTAIN_DATA .* 'pbmc68k_reduced.npz'"):
        load_cells()


def test_wdbc_needs_neither_folder_nor_network(monkeypatch):
    monkeypatch.delenv("ABSTAIN_DATA", raising=False)
    monkeypatch.setattr("public_data.access.fetch", lambda *_: pytest.fail("asked for a download"))
    loaded, theirs = load_wdbc(), load_breast_cancer()
    np.testing.assert_array_equal(loaded.data, theirs.data)
    np.testing.assert_array_equal(loaded.target, 1 - theirs.target)
    assert loaded.feature_names == [name.replace(" ", "_") for name in theirs.feature_names]


@pytest.mark.parametrize("loader", [load_german, load_heart])
def test_published_costs_are_those_of_the_folder_and_fit_costs(loader, data):
    file = {"load_german": "german_cost.csv", "load_heart": "heart_statlog_cost.csv"}[loader.__name__]
    matrix = loader().cost_matrix
    np.testing.assert_array_equal(matrix, np.loadtxt(data / file, delimiter=",", skiprows=1)[:, 1:])
    assert Costs.from_matrix(matrix, reject=0.3) == Costs(false_positive=1, false_negative=5, reject=0.3)


def test_symbolic_german_has_the_codes_of_the_file(data):
    with gzip.open(data / "german.csv.gz", "rt", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    loaded = load_german(symbolic=True)
    assert loaded.feature_names == names[:-1]
    codes = [rows[0][j].startswith("A") for j in range(20)]
    assert loaded.categorical_features == [name for name, code in zip(names, codes, strict=False) if code]
    for ours, theirs in zip(loaded.data.tolist(), rows, strict=True):
        assert ours == [text if code else float(text) for text, code in zip(theirs, codes, strict=False)]
    frame = load_german(symbolic=True, as_frame=True).frame
    assert frame["status"].cat.categories.tolist() == ["A11", "A12", "A13", "A14"]
    assert frame["age"].dtype == np.float64


def test_names_of_features_are_those_of_the_folder(data):
    for loader, file in [
        (load_letter, "letter.csv.gz"),
        (load_wdbc, "wdbc.csv.gz"),
        (load_pima, "pima.csv"),
        (load_liver, "liver_bupa.csv"),
        (load_thyroid, "thyroid_new.csv"),
        (load_german, "german_numeric.csv.gz"),
        (load_heart, "heart_statlog.csv"),
    ]:
        with gzip.open(data / file, "rt") if file.endswith("gz") else (data / file).open() as lines:
            assert loader().feature_names == lines.readline().strip().split(",")[:-1]
    with gzip.open(data / "mitbih" / "features.csv.gz", "rt") as lines:
        assert load_mitbih().feature_names == lines.readline().strip().split(",")[2:-1]
    with np.load(data / "covtype_4v6.npz") as arrays:
        assert load_covtype().feature_names == arrays["feature_names"].tolist()


def test_beats_keep_their_record_and_symbol(data):
    with np.load(data / "mitbih" / "beats.npz") as arrays:
        windows, record, sample, symbol = (arrays[name] for name in ("windows", "record", "sample", "symbol"))
    beats, features = load_mitbih(features=False), load_mitbih()
    np.testing.assert_array_equal(beats.groups, record)
    np.testing.assert_array_equal(beats.sample, sample)
    np.testing.assert_array_equal(beats.symbol, symbol)
    np.testing.assert_allclose(beats.data * 200 + 1024, windows, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(beats.target == 1, symbol == "V")
    for name in ("groups", "sample", "target"):
        np.testing.assert_array_equal(features[name], beats[name])
    some = load_mitbih(records=iter([221, 214]))
    np.testing.assert_array_equal(some.data, features.data[np.isin(features.groups, (214, 221))])


@pytest.mark.parametrize("pair", ["H", "HH", "HKL", "hk", "H1", 7, ("H", "K")])
def test_letter_refuses_what_is_not_a_pair_of_letters(pair):
    with pytest.raises(ValueError, match=r'pair=.* must be two different capital letters, such as "HK", or None'):
        load_letter(pair=pair)


@pytest.mark.parametrize("classes", [(4,), (4, 4), (0, 4), (4, 8), "46", 4])
def test_covtype_refuses_classes_that_do_not_exist(classes):
    with pytest.raises(ValueError, match=r"classes=.* must be at least two different cover types, 1 to 7"):
        load_covtype(classes=classes)


@pytest.mark.parametrize("records", [[], [100], [214, 999]])
def test_mitbih_refuses_other_records(records):
    with pytest.raises(ValueError, match=r"records=\[.*\] must be some of the 21 records 105, 106, .* 233, or None"):
        load_mitbih(records=records)
