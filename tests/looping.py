"""Many cases: seeds and grids in one test, whose report names the case that fails; few of many in `make test`."""

import inspect
from functools import wraps
from itertools import product

import pytest


def rarely(cases, *named):
    """The cases of a parametrisation; those that are named run in `make test-more`, the others in `make test`."""
    cases = list(cases)
    assert all(case in cases for case in named), "what is named is not one of the cases"
    return [pytest.param(case, marks=pytest.mark.long) if case in named else case for case in cases]


def quick(cases, *kept):
    """Likewise, where those that are named run in `make test`, and the others in `make test-more`."""
    cases = list(cases)
    assert all(case in cases for case in kept), "what is kept is not one of the cases"
    return rarely(cases, *(case for case in cases if case not in kept))


def looped(**values):
    """Call the test with every combination of the values; pytest sees one test, without these arguments.

    Fixtures are made once for all cases. The first case to fail ends the test; the error names it: ``case: seed=7``.
    """

    def decorate(test):
        whole = inspect.signature(test)
        kept = whole.replace(parameters=[p for name, p in whole.parameters.items() if name not in values])

        @wraps(test)
        def every_case(*args, **keywords):
            given = kept.bind(*args, **keywords).arguments  # by name: hypothesis gives its values by position
            combinations = list(product(*values.values()))
            assert combinations, "cases is empty"
            for combination in combinations:
                case = dict(zip(values, combination, strict=True))
                try:
                    test(**given, **case)
                except BaseException as error:
                    error.add_note("case: " + ", ".join(f"{name}={value}" for name, value in case.items()))
                    raise

        every_case.__signature__ = kept
        return every_case

    return decorate
