from fractions import Fraction

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from abstain.arguments import one_blas_thread, positive_number, real_number


@pytest.mark.parametrize("value", [2, 2.0, np.int32(2), np.float32(2), np.uint8(2), Fraction(2)])
def test_any_real_number_will_do(value):
    assert real_number("C", value) == 2.0
    assert type(real_number("C", value)) is float
    assert positive_number("C", value) == 2.0


@pytest.mark.parametrize("value", [True, np.True_, "2", None, 2j, [2.0], np.array([2.0]), np.nan])
def test_what_is_not_a_number_is_refused_by_name(value):
    with pytest.raises(ValueError, match=r"C=.* must be a"):
        real_number("C", value)


@pytest.mark.parametrize("value", [0, 0.0, -1e-300, np.inf, -np.inf])
def test_what_is_not_positive_and_finite_is_refused_by_name(value):
    assert real_number("C", value) == value
    with pytest.raises(ValueError, match=r"C=.* must be positive and finite"):
        positive_number("C", value)


def test_one_blas_thread_ends_with_the_last_that_asked():
    def counts():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    with threadpool_limits(2, user_api="blas"):
        before = counts()
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        assert set(counts()) == {1}
        first.__exit__(None, None, None)  # not in the order of nested blocks, as in two threads
        assert set(counts()) == {1}
        second.__exit__(None, None, None)
        assert counts() == before
