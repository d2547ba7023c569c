"""A native call of many tasks refuses what makes no sense, and a task that fails changes nothing of the others."""

from dataclasses import replace

import numpy as np
import pytest

from abstain import _native
from abstain.dual.problem import native_task
from abstain.solvers.native import SMO, native_rows
from many_tasks import SCALES, call, classes


def test_problems_over_other_rows_are_refused():
    one, other = classes(90)[0], classes(80)[0]
    with pytest.raises(ValueError, match="must share X and their kernel; use one call for each"):
        SMO().solve_many([one, other])


class TestOneFailingTask:
    """What becomes of one task is nothing to the others."""

    @pytest.mark.parametrize("threads", [1, 2])
    def test_that_runs_out_of_iterations(self, threads):
        problems = classes(600)
        rng = np.random.default_rng(3)
        hopeless = replace(problems[1], weight=1e7 * rng.uniform(size=600))
        settings = {"method": "smo", "max_iter": 30_000, "threads": threads}
        well = call([problems[0], problems[2]], **settings)
        ill = call([problems[0], hopeless, problems[2]], **settings)
        assert "iteration_limit" in ill["status"][3:6]
        assert ill["status"][:3] + ill["status"][6:] == well["status"] == ["optimal"] * 6
        for name in ("beta", "expansion"):
            kept = np.delete(ill[name].reshape(9, -1), [3, 4, 5], axis=0)
            assert kept.tobytes() == well[name].tobytes()

    @pytest.mark.parametrize(
        ("change", "text"),
        [
            ({"weight": np.full(90, np.nan)}, "weight must be finite"),
            ({"weight": np.full(90, -1.0)}, "weight must be finite and >= 0"),
            ({"weight": np.ones(89)}, "must have an entry per row"),
            ({"sign": np.zeros(90, np.int8)}, "sign must be -1 or 1"),
            ({"kind": np.full(90, 2, np.int32)}, "kind must name a row"),
            ({"kind": np.full(90, -1, np.int32)}, "kind must name a row"),
            ({"kind": np.zeros(89, np.int32)}, "must have an entry per row"),
            ({"knots": np.ones((2, 60)), "slopes": np.ones((2, 60))}, r"shape \(L, K\) with 1 <= K < 60"),
            ({"knots": np.ones((3, 1))}, r"shape \(L, K\)"),
            ({"scales": np.array([1.0, 1.0])}, "scales must be positive and ascend"),
            ({"scales": np.array([0.0, 1.0])}, "scales must be positive and ascend"),
            ({"scales": np.array([np.nan])}, "scales must be positive and ascend"),
            ({"start": np.ones(91)}, "start must have an entry per row"),
            ({"kernel": 1}, "kernel must be an index into gammas"),
        ],
        ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
    )
    def test_that_makes_no_sense_is_refused_before_anything_runs(self, change, text):
        problems = classes()
        tasks = [native_task(problem.sign, problem.loss, problem.weight) | {"scales": SCALES} for problem in problems]
        tasks[1] |= change
        with pytest.raises(ValueError, match=text):
            call(problems, tasks=tasks)

    def test_of_the_wrong_type_is_named(self):
        problems = classes()
        task = native_task(problems[0].sign, problems[0].loss, problems[0].weight) | {"scales": SCALES}
        with pytest.raises(TypeError, match="weight must be an aligned, C-contiguous array"):
            call(problems, tasks=[task | {"weight": np.ones(90, np.float32)}])
        with pytest.raises(TypeError, match="kind must be an aligned, C-contiguous array"):
            call(problems, tasks=[task | {"kind": np.ones(90, np.int64)}])
        del task["scales"]
        with pytest.raises(ValueError, match="scales is missing"):
            call(problems, tasks=[task])


class TestShortArrays:
    """Arrays that do not hold what they promise are refused, never read beyond their end."""

    def data(self):
        problem = classes(storage="sparse")[0]
        return problem, native_rows(problem)["data"]

    @pytest.mark.parametrize(
        ("change", "text"),
        [
            (lambda d: {"values": d["values"][:-1].copy()}, "values must have as many entries as starts ends with"),
            (lambda d: {"columns": d["columns"][:-1].copy()}, "columns and values must have as many"),
            (lambda d: {"starts": d["starts"][:-1].copy()}, "sign, weight and kind must have an entry per row"),
            (lambda _: {"starts": np.empty(0, np.int64)}, "starts must have one entry more"),
            (lambda d: {"starts": d["starts"] + 1}, "starts must begin with 0"),
            (lambda d: {"starts": d["starts"][::-1].copy()}, "starts must"),
            (lambda d: {"starts": -d["starts"]}, "starts must not descend"),
            (lambda d: {"starts": np.where(np.arange(91) == 90, 2**63 - 1, d["starts"])}, "values must have as many"),
            (lambda d: {"columns": d["columns"] + 3}, "columns must lie between 0 and features - 1"),
            (lambda d: {"columns": d["columns"] - 1}, "columns must lie between"),
            (lambda _: {"features": 2}, "columns must lie between"),
            (lambda _: {"features": -1}, "features must not be negative"),
        ],
    )
    def test_of_compressed_rows(self, change, text):
        problem, data = self.data()
        with pytest.raises(ValueError, match=text):
            call([problem], data=data | change(data))
        keywords = {"gamma": 1.0, "start": None, "method": "auto", "tol": 1e-3, "max_iter": 10, "seconds": np.inf}
        keywords |= {"cache_size": 1.0, "threads": 1, "report": None} | native_rows(problem)
        keywords |= native_task(problem.sign, problem.loss, problem.weight)
        with pytest.raises(ValueError, match=text):
            _native.solve(**(keywords | {"data": data | change(data)}))

    def test_unharmed_they_are_taken(self):
        problem, data = self.data()
        assert call([problem], data=data)["status"] == ["optimal"] * 3
        longer = {name: np.append(data[name], data[name][:1]) for name in ("values", "columns")}
        assert call([problem], data=data | longer)["status"] == ["optimal"] * 3

    def test_of_the_other_layouts(self):
        problem = classes()[0]
        X = problem.X
        with pytest.raises(ValueError, match="must have an entry per row"):
            call([problem], data={"X": X[:-1].copy()})
        with pytest.raises(ValueError, match="gram must be square"):
            call([problem], data={"gram": X})
        with pytest.raises(TypeError, match="X must be an aligned, C-contiguous array"):
            call([problem], data={"X": X[:, ::-1]})
        with pytest.raises(ValueError, match="starts is missing"):
            call([problem], data={})
