"""The reject band.

Two machines on the same rows, drawn as in figures 4 and 5 of Amirou et al. (Informatica 38, 2014). Left: both errors
cost the same, and Bartlett and Wegkamp's rule rejects between the scores -0.5 and +0.5. Right: a missed positive costs
1.4 times as much as a false alarm, and a reject 0.42 times as much. The double hinge rejects between -0.8473 and
+0.3228, where the probability of the positive class lies between 0.30 and 0.58, so most of the band is on the negative
side of the dotted line, the score 0. The dashed line is the threshold if the machine must decide.
"""

import matplotlib.pyplot as plt
import numpy as np

from abstain import Costs, RejectSVC
from abstain.plot import RejectRegionDisplay

rng = np.random.default_rng(5)
X = rng.normal(size=(260, 2))
bent = 2.0 * X[:, 0] + 1.2 * X[:, 1] ** 2 - 1.2
y = np.where(rng.random(260) < 1 / (1 + np.exp(-1.6 * bent)), "ill", "healthy")

equal = RejectSVC(Costs(reject=0.24), C=3, gamma=0.2, rule="bartlett-wegkamp")
unequal = RejectSVC(Costs(false_positive=1, false_negative=1.4, reject=0.42), C=3, gamma=0.2, pos_label="ill")

figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.9), layout="constrained", sharey=True)
for clf, ax, title in zip(
    (equal, unequal),
    axes,
    ("both errors cost the same", "a missed positive costs 1.4 times a false alarm"),
    strict=True,
):
    RejectRegionDisplay.from_estimator(clf.fit(X, y), X, y, annotate=True, ax=ax)
    ax.set_title(title, fontsize="medium")
plt.show()
