"""Every example runs, warns of nothing, and leaves a picture with named axes; the gallery has them all."""

import importlib.util
from pathlib import Path

import pytest
from matplotlib import pyplot as plt

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))


@pytest.fixture(scope="module")
def gallery():
    spec = importlib.util.spec_from_file_location("build_gallery", ROOT / "docs" / "build_gallery.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def _no_figures_left():
    plt.close("all")
    yield
    plt.close("all")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_the_example_leaves_one_picture_with_named_axes(gallery, example):
    gallery.run(example)
    (number,) = plt.get_fignums()
    figure = plt.figure(number)
    figure.canvas.draw()
    assert all(ax.get_xlabel() for ax in figure.axes)
    assert any(ax.get_ylabel() or len(ax.get_yticklabels()) for ax in figure.axes)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_the_gallery_shows_the_example_as_it_is(gallery, example):
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert example.read_text(encoding="utf-8").split('"""', 2)[2].strip() in page, "run `make docs`"
    picture = ROOT / "docs" / "gallery" / f"{example.stem.removeprefix('plot_')}.png"
    assert picture.stat().st_size <= gallery.LARGEST
    assert f"(gallery/{picture.name})" in page


def test_there_are_examples_and_no_pictures_without():
    assert len(EXAMPLES) >= 6
    pictures = {path.stem for path in (ROOT / "docs" / "gallery").glob("*.png")}
    assert pictures == {example.stem.removeprefix("plot_") for example in EXAMPLES}


def test_a_picture_that_is_too_large_is_refused(gallery, tmp_path, monkeypatch):
    monkeypatch.setattr(gallery, "DOCS", tmp_path / "docs")
    monkeypatch.setattr(gallery, "LARGEST", 10)
    (tmp_path / "docs").mkdir()
    with pytest.raises(SystemExit, match=r"losses.png has .* more than 10; draw it smaller"):
        gallery.build([example for example in EXAMPLES if example.stem == "plot_losses"])
