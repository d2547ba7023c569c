"""Four ways to look at the same rejects.

Three classifiers, asked about the same rows, in the four curves of `abstain.metrics`. A display of one model gives
its axes to the next, as in ``ax=display.ax_``; colours, strokes and markers stay apart for every kind of colour
vision, and in print. The marks are where the stated costs are least on each curve, and where the machine's own
thresholds lead.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from abstain import Costs, RejectSVC
from abstain.plot import AccuracyRejectDisplay, CostCurveDisplay, ErrorRejectDisplay, RiskCoverageDisplay

X, y = make_classification(2400, 8, n_informative=4, flip_y=0.06, class_sep=0.8, random_state=3)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
costs = Costs(reject=0.2)
models = [RejectSVC(costs), KNeighborsClassifier(25), LogisticRegression()]

figure, axes = plt.subplots(2, 2, figsize=(11.5, 8.6), layout="constrained")
displays = (AccuracyRejectDisplay, ErrorRejectDisplay, RiskCoverageDisplay, CostCurveDisplay)
for display, ax in zip(displays, axes.flat, strict=True):
    for model in models:
        display.from_estimator(model.fit(X_train, y_train), X_test, y_test, costs, ax=ax)
plt.show()
