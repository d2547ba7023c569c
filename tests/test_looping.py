import inspect

import pytest

from looping import looped, quick, rarely


def test_every_combination_runs():
    seen = []

    @looped(a=(1, 2), b="xy")
    def body(fixture, a, b):
        seen.append((fixture, a, b))

    body(fixture=0)
    assert seen == [(0, 1, "x"), (0, 1, "y"), (0, 2, "x"), (0, 2, "y")]
    assert list(inspect.signature(body).parameters) == ["fixture"]


def test_the_failing_case_is_named():
    @looped(seed=range(9))
    def body(seed):
        assert seed < 5

    with pytest.raises(AssertionError) as failed:
        body()
    assert failed.value.__notes__ == ["case: seed=5"]


def test_no_cases_at_all_is_a_failure():
    @looped(seed=range(0))
    def body(seed):
        raise NotImplementedError

    with pytest.raises(AssertionError, match="cases is empty"):
        body()


@pytest.mark.parametrize("args", [(0,), ()], ids=["by position", "by name"])
def test_other_arguments_may_come_either_way(args):
    seen = []

    @looped(case=(1, 2))
    def body(case, given):
        seen.append((case, given))

    body(*args, **({} if args else {"given": 0}))
    assert seen == [(1, 0), (2, 0)]


def test_every_case_runs_somewhere():
    for given in (quick("abcd", "a", "d"), rarely("abcd", "b", "c")):
        assert [given[0], given[3]] == ["a", "d"]
        assert [(case.values, [mark.name for mark in case.marks]) for case in given[1:3]] == [
            (("b",), ["long"]),
            (("c",), ["long"]),
        ]
    with pytest.raises(AssertionError, match="not one of the cases"):
        quick("ab", "c")
    with pytest.raises(AssertionError, match="not one of the cases"):
        rarely("ab", "c")
