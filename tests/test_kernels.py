import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, csr_matrix
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

from abstain import kernels
from abstain.gammas import resolve_gamma
from abstain.kernels import Kernel

KERNELS = [
    Kernel("linear"),
    Kernel("rbf", gamma=0.3),
    Kernel("laplacian", gamma=0.3),
    Kernel("poly", gamma=0.3, coef0=1.5, degree=4),
    Kernel("sigmoid", gamma=0.1, coef0=-0.2),
]


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(7, 5)), rng.normal(size=(4, 5))
    X[X < -0.5], Y[Y < -0.5] = 0.0, 0.0
    return X, Y


def scikit_learns(kernel, X, Y):
    return pairwise_kernels(
        X, Y, kernel.name, filter_params=True, gamma=kernel.gamma, coef0=kernel.coef0, degree=kernel.degree
    )


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("kind", [np.asarray, csr_array, csr_matrix])
def test_blocks_are_scikit_learns(kernel, kind, rows):
    X, Y = rows
    block = kernel(kind(X), kind(Y))
    assert_allclose(block, scikit_learns(kernel, X, Y), rtol=1e-12, atol=1e-14)
    assert_allclose(kernel(kind(X)), scikit_learns(kernel, X, X), rtol=1e-12, atol=1e-14)
    assert_allclose(kernel.diagonal(kind(X)), np.diag(kernel(X)), rtol=1e-14)
    assert type(block) is np.ndarray
    assert block.dtype == np.float64


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_dense_and_sparse_mix(kernel, rows):
    X, Y = rows
    assert_allclose(kernel(X, csr_array(Y)), kernel(X, Y), rtol=1e-12, atol=1e-14)
    assert_allclose(kernel(csr_array(X), Y), kernel(X, Y), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_data_are_left_alone(kernel, rows):
    X, Y = rows
    before = X.copy(), Y.copy()
    X.flags.writeable = Y.flags.writeable = False
    kernel(X, Y)
    kernel.diagonal(X)
    assert_allclose((X[0], Y[0]), (before[0][0], before[1][0]), rtol=0)


STATIONARY = pytest.mark.parametrize("name", ["rbf", "laplacian"])


@STATIONARY
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize("shift", [1e4, 1e8])
def test_distances_survive_far_from_the_origin(name, shift, kind, rows):
    X, Y = (np.round(block * 16) / 16 for block in rows)  # so that the shift itself rounds nothing
    assert_allclose(Kernel(name, 0.3)(kind(X + shift), kind(Y + shift)), Kernel(name, 0.3)(X, Y), rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_rbf_survives_scales_whose_squares_do_not(scale, rows):
    X, Y = rows
    assert_allclose(Kernel("rbf", 0.3 / scale / scale)(X * scale, Y * scale), Kernel("rbf", 0.3)(X, Y), rtol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize("scale", [1e-300, 1e300, 1e307])
def test_laplacian_survives_scales_whose_differences_do_not(scale, kind, rows):
    X, Y = rows
    scaled = Kernel("laplacian", 0.3 / scale)(kind(X * scale), kind(Y * scale))
    assert_allclose(scaled, Kernel("laplacian", 0.3)(X, Y), rtol=1e-9)


@STATIONARY
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_rows_infinitely_apart_have_0_not_nan(name, kind):
    X = kind(np.array([[1.5e308], [-1.5e308], [1.0]]))
    assert_allclose(Kernel(name, 1.0)(X), np.eye(3))


@STATIONARY
def test_equal_rows_have_exactly_1(name):
    X = np.random.default_rng(0).normal(size=(50, 3)) * 100
    assert (np.diag(Kernel(name, 10.0)(X)) == 1.0).all()
    assert Kernel(name, 10.0)(X).max() == 1.0


def test_precomputed_has_no_formula():
    with pytest.raises(ValueError, match="the data are the Gram matrix"):
        Kernel("precomputed")(np.eye(2))
    assert Kernel("precomputed").diagonal(np.array([[2.0, 1.0], [1.0, 3.0]])).tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"name": "gaussian"}, "kernel='gaussian' must be one of linear, rbf"),
        ({"name": "rbf", "gamma": 0}, "gamma=0 must be positive"),
        ({"name": "rbf", "gamma": "scale"}, "gamma='scale' must be a real number"),
        ({"name": "poly", "coef0": np.inf}, "coef0=inf must be finite"),
        ({"name": "poly", "degree": 2.5}, "degree=2.5 must be an integer"),
        ({"name": "poly", "degree": -1}, "degree=-1 must be an integer >= 0"),
        ({"name": "poly", "degree": True}, "degree=True must be an integer"),
    ],
)
def test_invalid_arguments_of_a_kernel_are_refused(arguments, text):
    with pytest.raises(ValueError, match=text):
        Kernel(**arguments)


def test_is_a_value():
    assert Kernel("rbf", np.float32(0.5), degree=np.int64(2)) == Kernel("rbf", 0.5, degree=2)
    assert len({Kernel(name) for name in kernels.KERNELS}) == 6


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
@pytest.mark.parametrize("gamma", ["scale", "auto", 0.7])
def test_gamma_is_scikit_learns(gamma, kind, rows):
    X = kind(rows[0])
    theirs = SVC(gamma=gamma).fit(X, [0, 1, 0, 1, 0, 1, 0])._gamma
    assert resolve_gamma(gamma, X) == pytest.approx(theirs, rel=1e-13)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_a_weight_is_so_many_rows(kind, rows):
    X, weight = rows[0], np.array([1, 2, 0, 3, 1, 1, 5])
    repeated = np.repeat(X, weight, axis=0)
    assert resolve_gamma("scale", kind(X), weight) == pytest.approx(1 / (5 * repeated.var()), rel=1e-13)
    assert resolve_gamma("scale", kind(X), weight / 7) == pytest.approx(1 / (5 * repeated.var()), rel=1e-13)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_gamma_of_the_laplacian_kernel_is_by_the_mean_absolute_deviation(kind, rows):
    X, weight = rows[0], np.array([1, 2, 0, 3, 1, 1, 5])
    repeated = np.repeat(X, weight, axis=0)
    expected = 1 / (5 * np.abs(repeated - repeated.mean()).mean())
    for scale in (1.0, 1e-300, 1e300):  # any unit of the features
        found = resolve_gamma("scale", kind(X * scale), weight, "laplacian")
        assert found * scale == pytest.approx(expected, rel=1e-13)
    assert resolve_gamma("auto", kind(X), weight, "laplacian") == 0.2
    with pytest.raises(ValueError, match=r"n_features \* mean absolute deviation of X\), which is above the range"):
        resolve_gamma("scale", kind(X * 1e-310), weight, "laplacian")


@pytest.mark.parametrize("draw", ["normal", "exponential", "rare", "outliers"])
def test_the_mean_exponent_of_the_laplacian_kernel_is_from_1_to_2(draw):
    rng = np.random.default_rng(0)
    X = {
        "normal": rng.normal(7.0, 3.0, (300, 20)),
        "exponential": rng.exponential(5.0, (300, 20)),
        "rare": 1.0 * (rng.random((300, 20)) < 0.01),
        "outliers": rng.standard_t(1.5, (300, 20)),
    }[draw]
    gamma = resolve_gamma("scale", X, kernel="laplacian")
    apart = -np.log(Kernel("laplacian", gamma)(X[:150], X[150:]))
    assert 0.9 < apart.mean() < 2.1


def test_gamma_of_entries_stored_twice():
    twice = csr_array((np.ones(4), np.array([0, 0, 1, 0]), np.array([0, 3, 4])), shape=(2, 2))  # [[2, 1], [1, 0]]
    assert resolve_gamma("scale", twice) == pytest.approx(1 / (2 * np.var([2, 1, 1, 0])))
    assert twice.nnz == 4


@pytest.mark.parametrize("X", [np.zeros((3, 2)), np.full((3, 2), 7.0), csr_array(np.zeros((3, 2)))])
def test_gamma_of_constant_data_is_1(X):
    assert resolve_gamma("scale", X) == 1.0


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_gamma_keeps_its_digits_at_extreme_scales(kind, rows):
    ordinary = resolve_gamma("scale", rows[0])
    for power in (-500, 500):
        scaled = resolve_gamma("scale", kind(np.ldexp(rows[0], power)))
        assert scaled == pytest.approx(np.ldexp(ordinary, -2 * power), rel=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize("scale", [1e160, 1e300, 8e307])
def test_gamma_below_the_range_is_refused(scale, kind):
    X = kind(np.array([[1.0, -1.0], [2.0, 0.0]]) * scale)
    with pytest.raises(ValueError, match=r'gamma="scale" is .* entries up to \S+e\+\d+; scale the features'):
        resolve_gamma("scale", X)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize("scale", [1e-160, 1e-200, 5e-324])
def test_gamma_above_the_range_is_refused(scale, kind):
    X = kind(np.array([[1.0, -1.0], [2.0, 0.0]]) * scale)
    with pytest.raises(ValueError, match=r'gamma="scale" is .* above the range .* to \S+e-\d+; scale the features'):
        resolve_gamma("scale", X)


def test_gamma_at_both_ends_of_the_range():
    X = np.array([[1.0], [-1.0]])  # variance 1
    assert resolve_gamma("scale", 2.0**-511 * X) == 4.0**511
    assert resolve_gamma("scale", 2.0**511 * X) == 4.0**-511
    for power in (-512, 512):
        with pytest.raises(ValueError, match="the range of float64"):
            resolve_gamma("scale", 2.0**power * X)


@pytest.mark.parametrize("gamma", [0, -1, np.nan, np.inf, True, None, "wide"])
def test_an_invalid_gamma_is_refused(gamma):
    with pytest.raises(ValueError, match="gamma="):
        resolve_gamma(gamma, np.eye(2))


def test_a_width_at_which_a_row_would_be_far_from_itself_is_refused():
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(ValueError, match=r"gamma=1e\+300 times the distances of rows.*lower gamma, or scale"):
        resolve_gamma(1e300, X * 1e10, kernel="laplacian")
    assert resolve_gamma(1e300, X, kernel="laplacian") == 1e300  # the control
