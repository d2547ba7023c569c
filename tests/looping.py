"""Many cases in one test: seeds and grids are looped over, and the report names the case that fails."""

import inspect
from functools import wraps
from itertools import product


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
