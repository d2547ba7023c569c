"""What a reject is worth.

The slope of the error-reject curve, the error-reject ratio, is minus the share of newly rejected rows that would have
been wrong. It starts near -1/2, where the machine performs at chance level, and flattens. Rejecting stops paying where
the slope passes minus the reject cost. The dotted line rejects only errors, the dashed one rejects rows at random.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from abstain import Costs, RejectSVC
from abstain.plot import ErrorRejectDisplay

X, y = make_classification(2400, 8, n_informative=4, flip_y=0.06, class_sep=0.8, random_state=3)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
clf = RejectSVC(Costs(reject=0.2)).fit(X_train, y_train)
ErrorRejectDisplay.from_estimator(clf, X_test, y_test, band=0.95)
plt.show()
