"""An ONNX graph under construction: constants, operations, and names for their results."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike
from onnx import TensorProto, helper, numpy_helper

KINDS = {"f": TensorProto.DOUBLE, "i": TensorProto.INT64, "U": TensorProto.STRING, "b": TensorProto.BOOL}
OPSET = 19  # the first in which Equal compares strings
IR_VERSION = 9  # that of opset 19
INNER = "abstain/"  # prefix of every name inside the graph, so that it cannot equal the name of a column


class Graph:
    """Operations in order; each method returns the name of its result."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._refused: list[str] = []

    def constant(self, values: ArrayLike) -> str:
        """Add an array of float64, int64, bool or text."""
        name = f"{INNER}constant{len(self._constants)}"
        array = np.asarray(values)
        if array.dtype.kind in "UO":
            texts = [str(text).encode("utf-8") for text in array.ravel()]
            tensor = helper.make_tensor(name, TensorProto.STRING, array.shape, texts)  # type: ignore[arg-type]
        else:
            tensor = numpy_helper.from_array(array, name)
        self._constants.append(tensor)
        return name

    def apply(self, operation: str, *inputs: str | ArrayLike, name: str | None = None, **attributes: Any) -> str:
        """Add one operation on results, by name, and on constants; its result is named after it unless told."""
        result = name or f"{INNER}{operation}{len(self._nodes)}"
        named = [one if isinstance(one, str) else self.constant(one) for one in inputs]
        self._nodes.append(helper.make_node(operation, named, [result], **attributes))
        return result

    def cast(self, values: str, kind: str) -> str:
        """Convert to the type of this letter in `KINDS`."""
        return self.apply("Cast", values, to=int(KINDS[kind]))

    def across(self, operation: str, values: str) -> str:
        """Reduce each row to one number, shape (rows, 1)."""
        reduced = self.apply(operation, values, np.array([1]), keepdims=1)
        # onnxruntime keeps all columns of a reduced matrix without rows
        return self.apply("Gather", reduced, np.array([0]), axis=1)

    def column(self, values: str) -> str:
        """Return the first column as a vector."""
        return self.apply("Gather", values, np.int64(0), axis=1)

    def joined(self, parts: list[str]) -> str:
        """Put matrices side by side."""
        return self.apply("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]

    def any_of(self, cells: str) -> str:
        """Whether any of the booleans of each row is true, shape (rows, 1)."""
        return self.apply("Greater", self.across("ReduceMax", self.cast(cells, "f")), 0.5)

    def input(self, name: str, kind: str, width: int, note: str) -> str:
        """Add an input with any number of rows and `width` columns."""
        info = helper.make_tensor_value_info(name, KINDS[kind], ["rows", width], doc_string=note)
        self._inputs.append(info)
        return name

    def output(self, name: str, kind: str, value: str, width: int | None = None) -> None:
        """Add an output with one entry per row, or one row of `width` entries."""
        self.apply("Identity", value, name=name)
        shape: list[str | int | None] = ["rows"] if width is None else ["rows", width]
        self._outputs.append(helper.make_tensor_value_info(name, KINDS[kind], shape))

    def refuse(self, cells: str) -> None:
        """Note the cells, booleans of shape (rows, columns), for which Python raises an error instead of deciding."""
        self._refused.append(cells)

    def refuse_unless_finite(self, values: str) -> None:
        """Note the numbers, of shape (rows, columns), that are NaN or infinite."""
        self.refuse(self.apply("Not", self.apply("Less", self.apply("Abs", values), np.inf)))

    def refused(self) -> str:
        """Whether each row has a cell that was noted, shape (rows, 1)."""
        return self.any_of(self.joined(self._refused))

    def model(self, version: str, note: str) -> onnx.ModelProto:
        """The finished model, checked by onnx."""
        graph = helper.make_graph(self._nodes, "abstain", self._inputs, self._outputs, self._constants)
        opset = helper.make_opsetid("", OPSET)
        model = helper.make_model(
            graph,
            opset_imports=[opset],
            ir_version=IR_VERSION,
            producer_name="abstain",
            producer_version=version,
            doc_string=note,
        )
        onnx.checker.check_model(model, full_check=True)
        return model
