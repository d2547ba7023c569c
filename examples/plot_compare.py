"""Compare all rules on your data.

`abstain.compare` computes the cost of every decision on held-out rows. Left: the mean cost of each rule from the
papers, with its interval. Right: how much more each rule costs per row than the best, with an interval that holds for
all pairs at once. Where that interval reaches the dashed line, the order may be noise: none of the first six is shown
to be the best.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

from abstain import Costs, compare

X, y = make_classification(800, 8, n_informative=4, flip_y=0.06, class_sep=0.9, random_state=3)
comparison = compare(None, X, y, Costs(false_positive=1, false_negative=2, reject=0.15), cv=3)
frame = comparison.to_frame()
print(frame[["mean_cost", "reject_rate", "error_rate", "sensitivity", "positive_predictivity"]].round(3).to_string())

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 3.2), layout="constrained", sharey=True)
place = np.arange(len(frame))[::-1]
for ax, column, colour in ((left, "mean_cost", "#0072B2"), (right, "difference", "#D55E00")):
    middle = frame[column]
    reach = np.abs(frame[[f"{column}_lower", f"{column}_upper"]].sub(middle, axis=0)).T
    ax.errorbar(middle, place, xerr=reach, fmt="o", color=colour, capsize=3, markersize=6)
    ax.set_ylim(-0.6, len(frame) - 0.4)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="x", color="#E6E6E6", linewidth=0.7)
left.set_yticks(place, frame.index)
left.set_xlabel("mean cost per row, 95 % intervals, one at a time")
right.axvline(0, color="#333333", linestyle="--", linewidth=1)
right.set_xlabel("difference from the best, 95 % for all pairs at once")
plt.show()
