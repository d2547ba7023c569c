"""``abstain export``: write the model as an ONNX graph for other programs."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from abstain.cli.exit_codes import DataError, Note, UsageError, one_line
from abstain.cli.input.models import load_estimator
from abstain.cli.options import Given
from abstain.cli.output.files import check_free, writing
from abstain.estimators.unwrap import unguarded
from abstain.files.onnx.to_onnx import to_onnx
from abstain.preprocessing import CellPlan, plan_of


def command(given: Given) -> None:
    """Run the command."""
    check_free(given.onnx, force=given.force, inputs=[given.model])
    export(load_estimator(given.model), given.onnx, force=given.force)
    print(f"{one_line(str(given.onnx))} written")


def export(estimator: Any, path: Path, *, force: bool = False) -> None:
    """Write a fitted estimator as ONNX."""
    pipeline = unguarded(estimator)
    plan = plan_of(pipeline[0]) if hasattr(pipeline, "steps") else CellPlan()
    if plan.costs:
        raise DataError(
            "the model reads the costs of each row from columns, and a graph has no input for them; decide with "
            "'abstain predict', or fit it with the same costs for all rows."
        )
    try:
        graph = to_onnx(estimator)
    except ImportError as error:
        raise UsageError(f"{error} (install the extra 'onnx': pip install 'abstain[onnx]')") from error
    except ValueError as error:
        raise DataError(f"the model cannot be written as ONNX: {error}") from error
    if plan != CellPlan():
        dates = ", ".join(repr(name) for name in plan.dates)
        words = [f"dates ({dates}) as days since 1970-01-01"] * bool(dates) + ["missing values as NaN or empty text"]
        warnings.warn(f"the graph takes {' and '.join(words)}; convert them before you call it.", Note, stacklevel=2)
    with writing(path, force=force) as file:
        file.write(graph.SerializeToString())
