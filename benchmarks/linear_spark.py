"""Spark's LinearSVC beside `LinearRejectSVC`, on the same rows and machine; needs `pip install pyspark` and Java.

Both minimise the hinge with a ridge and a free bias. Spark takes the mean loss and regParam |w|^2 / 2, so regParam is
1 / (C n); it runs OWL-QN until its own tolerance, or for `maxIter` iterations, and certifies nothing.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from contenders import timed
from data import generated
from linear import Table, objective
from pyspark.ml.classification import LinearSVC
from pyspark.ml.linalg import Vectors
from pyspark.sql import SparkSession

import report
from abstain import LinearRejectSVC

JOBS, C = 2, 1.0
ITERATIONS = (10, 30, 100)


def run(rows: int = 500_000, features: int = 30) -> dict[str, Any]:
    """Seconds of either, and how far above the optimum Spark ends; its rows are cached before."""
    made = generated(rows, features)
    table = Table(made.name, made.X, made.y, (C,))
    seconds, ours = timed(LinearRejectSVC(C=C, tol=1e-5, n_jobs=JOBS).fit, table.X, table.y)
    session = SparkSession.builder.master(f"local[{JOBS}]").config("spark.driver.memory", "6g").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        pairs = zip(((table.y + 1) / 2).tolist(), map(Vectors.dense, table.X), strict=True)
        frame = session.createDataFrame(pairs, ["label", "features"]).cache()
        frame.count()
        fits = []
        for iterations in ITERATIONS:
            began = time.perf_counter()
            model = LinearSVC(maxIter=iterations, regParam=1.0 / (C * rows), standardization=False, tol=1e-9).fit(frame)
            found = np.array(model.coefficients)
            took = time.perf_counter() - began
            excess = objective(table, C, found) / ours.dual_objective_ - 1.0
            fits.append({"iterations": iterations, "seconds": took, "ratio": took / seconds, "excess": excess})
    finally:
        session.stop()
    return {"rows": rows, "features": features, "seconds": seconds, "gap": ours.duality_gap_, "spark": fits}


if __name__ == "__main__":
    stored = Path(__file__).with_name("results.json")
    results = json.loads(stored.read_text(encoding="utf-8")) | {"linear_spark": run()}
    stored.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    report.write(results, stored.with_name("README.md"))
