"""Two Gaussian classes with a known Bayes rule and Bayes risk."""

from abstain.datasets.gaussians import Gaussians
from abstain.datasets.generators import make_gaussians

__all__ = ["Gaussians", "make_gaussians"]
