"""Two Gaussian classes whose Bayes rule and Bayes risk are known."""

from abstain.datasets.gaussians import Gaussians
from abstain.datasets.generators import make_gaussians

__all__ = ["Gaussians", "make_gaussians"]
