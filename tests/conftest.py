"""Settings shared by all tests."""

from hypothesis import settings

# The same examples in every run, and no time limit for one: a busy machine is not a failure.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
