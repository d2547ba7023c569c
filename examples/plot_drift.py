"""A batch that is unlike the training rows.

Two batches of the same size compared with the rows that a model was trained on: one of the same kind, and one in which
two of the measurements have risen. Above: the calibration rows in tenths by how unusual they are, with the novel ones
apart, and the rows of the batch in the same tenths. Below: what the classifier decides. The p-values are corrected for
the number of tests; at most 5 % of batches like the left one are called drifted.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

from abstain import Costs, NoveltyRejector, RejectSVC
from abstain.plot import DriftDisplay

X, y = make_classification(2400, 8, n_informative=4, flip_y=0.06, class_sep=0.8, random_state=3)
model = NoveltyRejector(RejectSVC(Costs(reject=0.2)), random_state=0).fit(X[:2000], y[:2000])
same, risen = X[2000:2200], X[2200:] + 2.0 * (np.arange(8) < 2)

figure, axes = plt.subplots(2, 2, figsize=(10.5, 6.0), layout="constrained", height_ratios=(3, 2), sharey="row")
for batch, column in ((same, 0), (risen, 1)):
    display = DriftDisplay.from_estimator(model, batch, ax=(axes[0, column], axes[1, column]))
    print(display.drift.sentence)
plt.show()
