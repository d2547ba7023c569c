"""Public data sets of the papers and experiments, by name.

Loaders read from the folder named by the environment variable ``ABSTAIN_DATA``; without it they download from the
public source into a cache. Either way the arrays are verified against a checksum before they are returned.
"""

from public_data.cells import load_cells
from public_data.covtype import load_covtype
from public_data.letter import load_letter
from public_data.medical import load_liver, load_pima, load_thyroid, load_wdbc
from public_data.mitbih import load_mitbih
from public_data.statlog import load_german, load_heart

__all__ = [
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
]
