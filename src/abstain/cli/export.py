"""``abstain export``: the model in a form that other programs run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from abstain.cli import options as o
from abstain.cli.endings import DataError, UsageError, endings

if TYPE_CHECKING:
    from abstain.cli.models import FittedModel

Onnx = Annotated[Path, typer.Option("--onnx", metavar="FILE", help="Where to write the ONNX graph.")]


def command(model: o.Model, onnx: Onnx, force: o.Force = False) -> None:
    """Write the model as an ONNX graph: columns in, label, score and rejected out."""
    with endings():
        from abstain.cli.files_out import check_free
        from abstain.cli.models import load_model

        check_free(onnx, force=force)
        export(load_model(model), onnx)
        print(f"{onnx} written")


def export(model: FittedModel, path: Path) -> None:
    """Write a model as ONNX."""
    from abstain.cli.files_out import replacing
    from abstain.files.onnx import to_onnx

    try:
        graph = to_onnx(model.estimator)
    except ImportError as error:
        raise UsageError(f"{error} (the extra 'onnx' brings it: pip install 'abstain[onnx]')") from error
    except ValueError as error:
        raise DataError(f"the model cannot be written as ONNX: {error}") from error
    with replacing(path) as file:
        file.write(graph.SerializeToString())
