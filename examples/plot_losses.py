"""The double hinge loss.

The double hinge is the maximum of 0 and two tangents of the logistic loss, one at each of the two thresholds that
follow from the costs. It is accurate at the probabilities where the decision changes, and flat beyond. Left and middle:
the two classes of figure 1 of Grandvalet et al. (NIPS 2008: thresholds at the probabilities 0.4 and 0.8). Right: the
positive class of figure 3 of Amirou et al. (Informatica 38, 2014: 0.4 and 0.7).
"""

import matplotlib.pyplot as plt

from abstain.losses.tangent_hinge import tangent_hinge_at
from abstain.plot import LossDisplay

figure, axes = plt.subplots(1, 3, figsize=(11.5, 3.7), layout="constrained")
wide = LossDisplay(tangent_hinge_at([0.4, 0.8]), likelihood=True)
wide.plot(axes[0], classes=(1,))
wide.plot(axes[1], classes=(-1,))
LossDisplay(tangent_hinge_at([0.4, 0.7]), likelihood=True).plot(axes[2], classes=(1,))
for ax, title in zip(axes, ("0.4 and 0.8", "0.4 and 0.8", "0.4 and 0.7"), strict=True):
    ax.set_title(f"thresholds at P = {title}", fontsize="medium")
plt.show()
