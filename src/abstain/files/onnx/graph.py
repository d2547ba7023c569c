"""An ONNX graph under construction: its values, which are calculated with as arrays are, and its inputs and outputs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

KINDS = {"f": TensorProto.DOUBLE, "i": TensorProto.INT64, "U": TensorProto.STRING, "b": TensorProto.BOOL}
OPSET = 19  # the first in which Equal compares strings
IR_VERSION = 9  # that of opset 19
INNER = "abstain/"  # prefix of every name inside the graph, so that it cannot equal the name of a column


def _operator(operation: str) -> "Callable[..., Value]":
    """Return the method that applies an operation to a value, and to others or constants if it takes several."""

    def method(self: "Value", *others: Any) -> "Value":
        return self.apply(operation, *others)

    return method


class Value:
    """A result in a graph. Its operators and methods add operations to the graph and return their results."""

    __array_ufunc__ = None  # so that NumPy leaves `array - value` to the operators here
    __add__, __sub__, __mul__, __truediv__ = _operator("Add"), _operator("Sub"), _operator("Mul"), _operator("Div")
    __lt__, __le__, __and__ = _operator("Less"), _operator("LessOrEqual"), _operator("And")
    __gt__, __ge__, __or__ = _operator("Greater"), _operator("GreaterOrEqual"), _operator("Or")
    __neg__, __invert__, __abs__ = _operator("Neg"), _operator("Not"), _operator("Abs")
    equals, at_least, at_most, where = _operator("Equal"), _operator("Max"), _operator("Min"), _operator("Where")

    def __init__(self, graph: "Graph", name: str) -> None:
        self.graph, self.name = graph, name

    def __rsub__(self, other: Any) -> "Value":
        return self.graph.apply("Sub", other, self)

    def __rtruediv__(self, other: Any) -> "Value":
        return self.graph.apply("Div", other, self)

    def apply(self, operation: str, *others: Any, **attributes: Any) -> "Value":
        """Add an operation on this value and on others or constants."""
        return self.graph.apply(operation, self, *others, **attributes)

    def of(self, values: Any) -> "Value":
        """Return the entries of an array at these positions."""
        return self.graph.apply("Gather", values, self)

    def cast(self, kind: str) -> "Value":
        """Convert to the type of this letter in `KINDS`."""
        return self.apply("Cast", to=int(KINDS[kind]))

    def across(self, operation: str) -> "Value":
        """Reduce each row to one number, shape (rows, 1)."""
        # onnxruntime keeps all columns of a reduced matrix without rows
        return self.apply(operation, np.array([1]), keepdims=1).columns([0])

    def first(self, operation: str) -> "Value":
        """Return the first position of the largest or smallest value of each row, as a vector."""
        return self.apply(operation, axis=-1, keepdims=1).column()

    def column(self) -> "Value":
        """Return the first column as a vector."""
        return self.apply("Gather", np.int64(0), axis=1)

    def columns(self, indices: list[int]) -> "Value":
        """Return the columns at these indices."""
        return self.apply("Gather", np.array(indices, dtype=np.int64), axis=1)

    def beside(self, *others: "Value") -> "Value":
        """Put other matrices to the right of this one."""
        return self.apply("Concat", *others, axis=1) if others else self

    def distances(self, vectors: Any) -> "Value":
        """Return sum_k |x_k - s_k| for every row x and vector s.

        A loop over the columns, because all differences at once are rows times vectors times columns.
        """
        names = [f"{INNER}{part}" for part in ("sum", "column", "entries", "difference", "distance", "total")]
        before, x, s, difference, distance, total = names
        infos = [helper.make_tensor_value_info(name, KINDS["f"], None) for name in (before, x, s, total)]
        steps = ("Sub", [x, s], difference), ("Abs", [difference], distance), ("Add", [before, distance], total)
        nodes = [helper.make_node(operation, given, [made]) for operation, given, made in steps]
        body = helper.make_graph(nodes, "abstain_distances", infos[:3], infos[3:])
        start = self.columns([0]) * 0.0 + np.zeros((1, len(vectors)))
        apart = self.apply("Unsqueeze", np.array([2]))
        return start.apply("Scan", apart, vectors, body=body, num_scan_inputs=2, scan_input_axes=[1, 1])

    def any(self) -> "Value":
        """Whether any of the booleans of each row is true, shape (rows, 1)."""
        return self.cast("f").across("ReduceMax") > 0.5


class Graph:
    """Operations in order, constants, inputs and outputs."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._refused: list[Value] = []

    def constant(self, values: Any) -> "Value":
        """Add an array of float64, int64, bool or text."""
        name = f"{INNER}constant{len(self._constants)}"
        array = np.asarray(values)
        if array.dtype.kind in "UO":
            texts = [str(text).encode("utf-8") for text in array.ravel()]
            tensor = helper.make_tensor(name, TensorProto.STRING, array.shape, texts)  # type: ignore[arg-type]
        else:
            tensor = numpy_helper.from_array(array, name)
        self._constants.append(tensor)
        return Value(self, name)

    def apply(self, operation: str, *inputs: Any, name: str | None = None, **attributes: Any) -> "Value":
        """Add one operation on values and constants; its result is named after it unless a name is given."""
        result = name or f"{INNER}{operation}{len(self._nodes)}"
        named = [(one if isinstance(one, Value) else self.constant(one)).name for one in inputs]
        self._nodes.append(helper.make_node(operation, named, [result], **attributes))
        return Value(self, result)

    def input(self, name: str, kind: str, width: int, note: str) -> "Value":
        """Add an input with any number of rows and `width` columns."""
        info = helper.make_tensor_value_info(name, KINDS[kind], ["rows", width], doc_string=note)
        self._inputs.append(info)
        return Value(self, name)

    def output(self, name: str, kind: str, value: "Value", width: int | None = None) -> None:
        """Add an output with one entry per row, or one row of `width` entries."""
        value.apply("Identity", name=name)
        shape: list[str | int | None] = ["rows"] if width is None else ["rows", width]
        self._outputs.append(helper.make_tensor_value_info(name, KINDS[kind], shape))

    def refuse(self, cells: "Value") -> None:
        """Note the cells, booleans of shape (rows, columns), for which Python raises an error instead of deciding."""
        self._refused.append(cells)

    def refuse_unless_finite(self, values: "Value") -> None:
        """Note the numbers, of shape (rows, columns), that are NaN or infinite."""
        self.refuse(~(abs(values) < np.inf))

    def refused(self) -> "Value":
        """Whether each row has a cell that was noted, shape (rows, 1)."""
        return self._refused[0].beside(*self._refused[1:]).any()

    def model(self, version: str, note: str) -> onnx.ModelProto:
        """The finished model, checked by onnx."""
        graph = helper.make_graph(self._nodes, "abstain", self._inputs, self._outputs, self._constants)
        about = {"producer_name": "abstain", "producer_version": version, "doc_string": note}
        opset = helper.make_opsetid("", OPSET)
        model = helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION, **about)
        onnx.checker.check_model(model, full_check=True)
        return model
