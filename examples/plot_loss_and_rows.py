"""Where the rows lie on the loss.

The scores of a fitted machine and the loss it was trained with. Positive rows to the right of the last knot of their
loss, and negative rows to the left of theirs, have zero loss. Rows in the grey band are rejected.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from abstain import Costs, RejectSVC
from abstain.plot import LossDisplay

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y == 0, random_state=0)  # True: malignant
costs = Costs(false_positive=1, false_negative=5, reject=0.3)
clf = make_pipeline(StandardScaler(), RejectSVC(costs, C=10)).fit(X_train, y_train)
LossDisplay.from_estimator(clf, X_test, y_test)
plt.show()
