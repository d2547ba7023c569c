"""Write the model files of the installed version, which all later versions must go on reading.

Run once per released format or version, from the repository's root, and commit what it writes::

    python tests/files/data/make.py

Files of earlier versions stay as they are: never run it to mend a test that fails.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from abstain import Costs, EmbeddedRejectSVC, RejectSVC, RejectSVCCV, ThresholdRejector, __version__, save
from abstain.preprocessing import default_pipeline

COSTS = Costs(1, 3, 0.3)


def models():
    """One small fitted estimator of each kind."""
    rng = np.random.default_rng(11)
    X = rng.standard_normal((24, 2))
    y = np.where(X[:, 0] + 0.8 * rng.standard_normal(24) > 0, "ill", "well")
    frame = pd.DataFrame({"age": X[:, 0], "dose": X[:, 1], "city": rng.choice(["Bonn", "Ulm"], 24)})
    frame.loc[3, "age"], frame.loc[5, "city"] = np.nan, None
    yield "machine", RejectSVC(COSTS, pos_label="ill").fit(X, y)
    yield "sparse", RejectSVC(COSTS, kernel="poly", degree=2, coef0=1.0).fit(sparse.csr_array(X), y)
    yield "search", RejectSVCCV(COSTS, Cs=2, gammas=2, cv=2).fit(X, y)
    more = np.random.default_rng(5).standard_normal((60, 2))
    noisy = np.where(more[:, 0] + np.random.default_rng(105).standard_normal(60) > 0, "ill", "well")
    yield "tuned", RejectSVCCV(COSTS, Cs=[1.0, 30.0], gammas=[0.3], cv=3, pos_label="ill").fit(more, noisy)
    yield "linear", RejectSVC(COSTS, kernel="linear").fit(X + 1e4, y)
    yield "rejector", ThresholdRejector(LogisticRegression(), COSTS, cv=2).fit(X, y)
    yield "ceiling", ThresholdRejector(RejectSVC(gamma=0.5), max_error=0.5, confidence=0.6, random_state=0).fit(X, y)
    forest = RandomForestClassifier(2, max_depth=2, random_state=0)
    boosting = HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=3, min_samples_leaf=4)
    yield "forest", ThresholdRejector(forest, reject_rate=0.3, cv=2).fit(X, y)
    yield "boosting", ThresholdRejector(boosting, reject_rate=0.3, cv=2).fit(np.where(X > 1, np.nan, X), y)
    yield "sigmoids", ThresholdRejector(CalibratedClassifierCV(forest, cv=2), reject_rate=0.3, cv=2).fit(X, y)
    curve = CalibratedClassifierCV(boosting, method="isotonic", ensemble=False, cv=2)
    yield "curve", ThresholdRejector(curve, reject_rate=0.3, cv=2).fit(X, y)
    yield "chow", ThresholdRejector(RejectSVC(gamma=0.5), COSTS, method="chow", cv=2).fit(X, y)
    yield "embedded", EmbeddedRejectSVC(0.2, C=1.0, lower_bound=True).fit(X, y)
    yield "embedded_kernel", EmbeddedRejectSVC(0.1, C=1.0, kernel="rbf", pos_label="ill").fit(X, y)
    parts = [("dose", StandardScaler(), ["dose"]), ("city", OneHotEncoder(handle_unknown="ignore"), ["city"])]
    steps = make_pipeline(ColumnTransformer(parts), RejectSVC(COSTS, gamma=0.5))
    yield "steps", steps.fit(frame.assign(city=frame["city"].fillna("Ulm")), y)
    yield "pipeline", default_pipeline(RejectSVC(COSTS, kernel="linear"), ["age", "dose"], ["city"]).fit(frame, y)


if __name__ == "__main__":
    for name, model in models():
        save(model, Path(__file__).parent / f"{__version__}-{name}.abstain")
