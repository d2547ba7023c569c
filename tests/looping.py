"""Many cases in one test: seeds and grids are looped over, and the report names the case that fails."""

import inspect
from functools import wraps
from itertools import product


def looped(**values):
    """Call the test with every combination of the values; pytest sees one test, without these arguments.

    Fixtures are made once for all cases. The first case to fail ends the test; the error names it: ``case: seed=7``.
    """

    def decorate(test):
        @wraps(test)
        def every_case(*args, **fixtures):
            ran = 0
            for combination in product(*values.values()):
                case = dict(zip(values, combination, strict=True))
                try:
                    test(*args, **fixtures, **case)
                except BaseException as error:
                    error.add_note("case: " + ", ".join(f"{name}={value}" for name, value in case.items()))
                    raise
                ran += 1
            assert ran, "there are no cases"

        signature = inspect.signature(test)
        kept = [parameter for name, parameter in signature.parameters.items() if name not in values]
        every_case.__signature__ = signature.replace(parameters=kept)
        return every_case

    return decorate
