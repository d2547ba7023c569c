from abstain.dual.proof import Status


def test_a_status_is_the_word_users_see():
    assert [str(status) for status in Status] == ["optimal", "inaccurate", "iteration_limit", "time_limit"]
    assert Status("optimal") is Status.OPTIMAL
    assert Status.OPTIMAL == "optimal"
