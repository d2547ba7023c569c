"""The data most tests of the estimators use, and signals that reach them."""

import signal

import numpy as np
import pytest
from sklearn.datasets import make_classification


@pytest.fixture(scope="session")
def data():
    X, y = make_classification(150, 4, n_informative=3, n_redundant=0, flip_y=0.15, class_sep=0.8, random_state=3)
    return np.round(X * 8), y  # whole numbers, which every dtype holds exactly


@pytest.fixture
def interruptible():
    """SIGINT, which is ignored where tests run in the background, raises KeyboardInterrupt."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
