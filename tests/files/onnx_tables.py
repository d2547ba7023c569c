"""Three classes of rows, and costs and actions for them, that graphs decide by."""

import numpy as np

from abstain import Actions, Costs
from class_cases import GENERAL, gaussians

X, CODES = gaussians(150)
NEW = gaussians(5000, seed=1)[0]
Y = np.array(["ant", "bee", "cow"])[CODES]
ANSWER = {"ant": {"ant": 0, "bee": 5}, "bee": {"ant": 1, "bee": 0}}
TWO = Actions({**ANSWER, "call": 0.3, "visit": {"ant": 0.4, "bee": 0.2}})
TRIAGE = Actions(
    {
        "ask": 0.3,  # before the answers, which come first where costs tie
        "ant": {"ant": 0, "bee": 3, "cow": 6},
        "bee": {"ant": 1, "bee": 0, "cow": 3},
        "shear": {"ant": 2, "bee": 1, "cow": 0},
        "test": {"ant": 0.5, "bee": 0.3, "cow": 0.2},
    },
    rejects=("ask", "test"),
)
NAMED = Costs.from_matrix(GENERAL, labels=["ant", "bee", "cow"], reject=0.6)
