"""``abstain drift``: whether the rows of a table are together like the training rows."""

from __future__ import annotations

import warnings

from abstain.cli.exit_codes import DataError, Note
from abstain.cli.input.deciding import Deciding, drift_facts
from abstain.cli.input.models import load_model
from abstain.cli.options import Given
from abstain.cli.output.printing import print_json


def command(given: Given) -> None:
    """Run the command."""
    deciding = Deciding(load_model(given.model), given.notation)
    if not deciding.model.guarded:
        raise DataError(f"{given.model} has no guard, and nothing to compare rows with; fit it without --no-novelty.")
    found = deciding.read(given.data, given.notation).drift()
    if given.json:
        print_json({**(drift_facts(found) or {}), **deciding.facts()})
        return
    print(found)
    for words in deciding.words():
        warnings.warn(f"{given.data}: {words}", Note, stacklevel=2)
