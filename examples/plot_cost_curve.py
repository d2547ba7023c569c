"""What rejecting saves.

The mean cost of all decisions, rejects included, against the share of rows rejected, with a bootstrap band. Rejecting
the least certain rows first pays until the expected cost of deciding the next one is below the reject cost. The filled
marker is the cheapest point of the curve; the open one is the point of the machine's own thresholds, which were set
without these rows.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from abstain import Costs, RejectSVC
from abstain.plot import CostCurveDisplay

X, y = make_classification(2400, 8, n_informative=4, flip_y=0.06, class_sep=0.8, random_state=3)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
clf = RejectSVC(Costs(false_positive=1, false_negative=2, reject=0.25)).fit(X_train, y_train)
CostCurveDisplay.from_estimator(clf, X_test, y_test, band=0.95)
plt.show()
