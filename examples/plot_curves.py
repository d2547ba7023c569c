"""Four views of the same rejects.

Three classifiers on the same rows, in the four curves of `abstain.metrics`. To draw several models in one plot, pass
the axes on, as in ``ax=display.ax_``. Colours, line styles and markers can be distinguished with any kind of colour
vision and in print. The markers show the cheapest point of each curve at the stated costs, and the point of the
machine's own thresholds.
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
