"""Data sets from the literature, by name, and Gaussians whose Bayes risk is known.

Loaders read from the folder named by the environment variable ``ABSTAIN_DATA``; without it they download from the
public source into a cache. Either way the arrays are verified against a checksum before they are returned.
"""

from abstain.datasets.cells import load_cells
from abstain.datasets.covtype import load_covtype
from abstain.datasets.gaussians import Gaussians
from abstain.datasets.generators import make_gaussians
from abstain.datasets.letter import load_letter
from abstain.datasets.medical import load_liver, load_pima, load_thyroid, load_wdbc
from abstain.datasets.mitbih import load_mitbih
from abstain.datasets.statlog import load_german, load_heart

__all__ = [
    "Gaussians",
    "load_cells",
    "load_covtype",
    "load_german",
    "load_heart",
    "load_letter",
    "load_liver",
    "load_mitbih",
    "load_pima",
    "load_thyroid",
    "load_wdbc",
    "make_gaussians",
]
