"""Modules of the experiments, for the tests of their pieces."""

import importlib
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "experiments"


def experiment_modules(experiment, *names):
    """Modules of an experiment, which are then forgotten: other experiments call theirs the same."""
    if not FOLDER.is_dir():
        pytest.skip("the experiments are in a checkout only", allow_module_level=True)
    folder = FOLDER / experiment
    own = {path.stem for path in folder.glob("*.py")}
    others = {name: sys.modules.pop(name) for name in own & sys.modules.keys()}
    path = list(sys.path)
    sys.path[:0] = [str(folder), str(FOLDER)]
    try:
        return [importlib.import_module(name) for name in names]
    finally:
        for name in own & sys.modules.keys():
            del sys.modules[name]
        sys.modules.update(others)
        sys.path[:] = path
