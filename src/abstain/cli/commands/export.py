"""``abstain export``: write the model as an ONNX graph for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from abstain.cli.commands import options as o
from abstain.cli.exit_codes import DataError, UsageError, exit_on_error

Onnx = Annotated[Path, typer.Option("--onnx", metavar="FILE", help="ONNX file to write.")]


def command(model: o.Model, onnx: Onnx, force: o.Force = False) -> None:
    """Write the model as an ONNX graph with the outputs label, score and rejected."""
    with exit_on_error():
        from abstain.cli.input.models import load_estimator
        from abstain.cli.output.files import check_free

        check_free(onnx, force=force)
        export(load_estimator(model), onnx)
        print(f"{onnx} written")


def export(estimator: Any, path: Path) -> None:
    """Write a fitted estimator as ONNX."""
    from abstain.cli.output.files import replacing
    from abstain.files.onnx import to_onnx

    try:
        graph = to_onnx(estimator)
    except ImportError as error:
        raise UsageError(f"{error} (install the extra 'onnx': pip install 'abstain[onnx]')") from error
    except ValueError as error:
        raise DataError(f"the model cannot be written as ONNX: {error}") from error
    with replacing(path) as file:
        file.write(graph.SerializeToString())
