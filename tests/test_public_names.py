"""`from abstain import ...` is the whole public surface; this is the list of it."""

import importlib.metadata
import subprocess
import sys

import pytest

import abstain
from looping import looped

PUBLIC = [
    "Actions",
    "BartlettWegkamp",
    "Costs",
    "EmbeddedRejectSVC",
    "Forced",
    "LinearRejectSVC",
    "LinearRejectSVCCV",
    "MachineSearch",
    "NoveltyRejector",
    "OneClassSVM",
    "RegularizationPath",
    "RejectSVC",
    "RejectSVCCV",
    "TRUSTED_TYPES",
    "ThresholdRejector",
    "Thresholds",
    "__version__",
    "compare",
    "decide",
    "drift",
    "embedded_reject_curve",
    "explain",
    "load",
    "reject_price_sweep",
    "reject_svc_path",
    "save",
    "to_onnx",
]


def test_the_list_is_complete():
    assert sorted(abstain.__all__) == PUBLIC
    assert set(PUBLIC) <= set(dir(abstain))


@looped(name=[name for name in PUBLIC if name not in ("TRUSTED_TYPES", "__version__")])
def test_every_name_is_the_thing_itself(name):
    thing = getattr(abstain, name)
    assert thing.__name__ == name
    assert thing is getattr(sys.modules[thing.__module__], name)
    assert thing.__doc__


def test_public_modules_are_found_after_a_bare_import():
    # each is loaded by the attribute itself: it is not there before, whatever the ones before it have loaded; the
    # displays load no matplotlib, and compare is the function, whatever was imported before
    names = ["datasets", "metrics", "plot", "report"]
    script = f"""
import sys
import abstain
for name in {names}:
    assert "abstain." + name not in sys.modules, name
    print(getattr(abstain, name).__name__)
    assert name != "plot" or "matplotlib" not in sys.modules
import abstain.comparison.compare
assert callable(abstain.compare)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)  # noqa: S603
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == [f"abstain.{name}" for name in names]
    assert set(names) <= set(dir(abstain))


def test_the_version_is_that_of_the_distribution():
    assert abstain.__version__ == importlib.metadata.version("abstain")


def test_other_names_are_missing_as_from_any_module():
    with pytest.raises(AttributeError, match="module 'abstain' has no attribute 'Cost'"):
        abstain.Cost  # noqa: B018 (the look-up is the test)


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import abstain; dir(abstain)", {"numpy", "scipy", "sklearn"}),
        ("from abstain import Thresholds", {"scipy", "sklearn"}),
    ],
)
def test_importing_is_lazy(statement, absent):
    script = f"{statement}; import sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)  # noqa: S603
    assert absent.isdisjoint(loaded.stdout.split())
