"""Sums over rows that are not kept in memory, as `LinearNewton` needs them: read or computed block by block.

The numbers of each row (margin, multiplier, ...) stay in memory. All blocks share one buffer, which is filled with the
rows of a block before its sums are taken.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain import _native
from abstain.arguments import threads
from abstain.dual.linear_certificate import LinearProblem
from abstain.solvers.linear import Point

# The methods of sums that read rows, and those that do not.
READING = ("score", "along", "gradient", "hessian_times", "hessian_diagonal")
RESTING = ("move", "slopes", "between", "accept", "shift", "loss", "dual")


class BlockSums:
    """Sums over the rows of a problem, which a source returns again for every pass, `block` rows at a time.

    The source has a ``shape``, and ``read(block, which, out)`` writes the rows of a block, or only those that `which`
    lists, to `out`.
    """

    def __init__(self, source: Any, block: int, problem: LinearProblem, n_jobs: int | None = None) -> None:
        self.source, self.threads = source, threads(n_jobs)
        self.rows, self.features = source.shape
        self.tables = problem.loss.tables()
        self.buffer = np.zeros((min(block, self.rows), self.features))
        kinds = problem.kind.astype(np.int32)
        self.parts = [slice(first, min(first + block, self.rows)) for first in range(0, self.rows, block)]
        self.blocks: list[Any] = []
        for part in self.parts:
            each = (problem.sign[part], problem.weight[part], kinds[part])
            self.blocks.append(self._block(part.stop - part.start, *each))

    def _block(self, n: int, *each: Any) -> Any:
        """Return the block of the first n rows of the buffer; all share the threads of the first block."""
        data = {"X": self.buffer[:n], "centre": np.zeros(self.features)}
        beside = self.blocks[0] if self.blocks else None
        make: Any = _native.LinearBlock  # the types of unpacked arguments are not known
        return make(data, *each, *self.tables, threads=self.threads, beside=beside)

    def _ask(self, name: str, *arguments: Any) -> list[Any]:
        """Call a method of each block, on its rows if it reads them."""
        found = []
        for part, block in zip(self.parts, self.blocks, strict=True):
            if name in READING:
                self.source.read(part, None, self.buffer[: part.stop - part.start])
            found.append(getattr(block, name)(*arguments))
        return found

    def __getattr__(self, name: str) -> Any:
        """Return a method that calls each block, and adds the results."""
        if name not in READING and name not in RESTING:
            raise AttributeError(name)
        return lambda *given, **named: _added(self._ask(name, *given, *named.values()))

    def hessian(self, most: int, *, everything: bool) -> NDArray[np.float64]:
        """Return the sum over the rows between breakpoints, or over all; an estimate from about `most` of them.

        Only the rows that are summed are read.
        """
        d = self.features + 1
        total, filled = np.zeros(d * d), 0
        rows = self.rows if everything else self.between()
        stride, seen, taken = max(1, rows // most), 0, 0
        for part, block in zip(self.parts, self.blocks, strict=True):
            of = np.arange(part.stop - part.start) if everything else np.flatnonzero(block.flags())
            chosen = of[-seen % stride :: stride]
            seen, taken = seen + len(of), taken + len(chosen)
            while len(chosen):
                here, chosen = np.split(chosen, [len(self.buffer) - filled])
                self.source.read(part, here, self.buffer[filled : filled + len(here)])
                filled += len(here)
                if filled == len(self.buffer):
                    total += self._outer(filled)
                    filled = 0
        if filled:
            total += self._outer(filled)
        return total * (rows / taken) if taken else total

    def _outer(self, n: int) -> NDArray[np.float64]:
        """Return the sum of (x, 1)(x, 1)' over the first n rows of the buffer."""
        of_rows = (np.ones(n, dtype=np.int8), np.zeros(n), np.zeros(n, dtype=np.int32))
        return np.asarray(self._block(n, *of_rows).hessian(True, 1))

    def gamma(self) -> NDArray[np.float64]:
        """Return gamma of all rows."""
        return np.concatenate(self._ask("gamma"))

    def start(self, gamma: NDArray[np.float64]) -> None:
        """Begin with these multipliers."""
        for part, block in zip(self.parts, self.blocks, strict=True):
            block.start(np.ascontiguousarray(gamma[part]))


class MixedSums:
    """The sums over rows A' x, from the sums over rows x: each takes a product of A with two vectors or two matrices.

    So features that are mixtures of kernel values need not be computed for each row.
    """

    def __init__(self, sums: BlockSums, mix: NDArray[np.float64]) -> None:
        self.sums, self.mix = sums, mix
        self.features = mix.shape[1]

    def __getattr__(self, name: str) -> Any:
        """Return a method that does not depend on the features."""
        if name not in (*RESTING, "gamma", "start"):
            raise AttributeError(name)
        return getattr(self.sums, name)

    def _onto(self, point: Point) -> Point:
        return np.append(self.mix @ point[:-1], point[-1])

    def _back(self, sums: Point) -> Point:
        return np.append(self.mix.T @ sums[:-1], sums[-1])

    def score(self, point: Point) -> None:
        """Set the margins."""
        self.sums.score(self._onto(point))

    def along(self, direction: Point) -> None:
        """Set the changes of the margins along a direction."""
        self.sums.along(self._onto(direction))

    def gradient(self, sigma: float, *, afresh: bool) -> NDArray[np.float64]:
        """Set gamma, and return its sums over either side."""
        first, second = self.sums.gradient(sigma, afresh=afresh).reshape(2, -1)
        return np.concatenate([self._back(first), self._back(second)])

    def hessian(self, most: int, *, everything: bool) -> NDArray[np.float64]:
        """Return the sum over the rows between breakpoints, or over all; an estimate from about `most` of them."""
        d = self.sums.features + 1
        H = self.sums.hessian(most, everything=everything).reshape(d, d)
        found = np.empty((self.features + 1, self.features + 1))
        found[:-1, :-1] = self.mix.T @ H[:-1, :-1] @ self.mix
        found[-1, :-1] = found[:-1, -1] = self.mix.T @ H[:-1, -1]
        found[-1, -1] = H[-1, -1]
        return found.ravel()

    def hessian_times(self, direction: Point) -> Point:
        """Return the Hessian's product with a direction."""
        return self._back(self.sums.hessian_times(self._onto(direction)))

    def hessian_diagonal(self, everything: bool) -> Point:
        """Approximate the Hessian's diagonal: if landmarks are like the rows, features have the mean square e_j / m."""
        rows = self.sums.rows if everything else self.sums.between()
        return np.append(rows / (len(self.mix) * np.einsum("ij,ij->j", self.mix, self.mix)), float(rows))


def _added(parts: list[Any]) -> Any:
    """Add numbers or arrays in order; None if there are none."""
    return None if parts[0] is None else sum(parts)
