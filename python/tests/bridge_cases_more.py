"""Further problems for the suite: shapes, stacking, sparse data, products with public parameters, odd names, attributes."""

import conveil
import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from bridge_cases import C, N, _data, _variable, case

# Objectives.


@case
def quad_form_with_a_public_psd_parameter():
    x, d = _variable(), _data()
    root = cp.Parameter((N, N), name="root", value=np.array([[1.0, 0.2, 0], [0, 1, 0.1], [0, 0, 1]]))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(root @ x) - d @ x), [x >= -9, x <= 9])
    return problem, [d], x, {"sensitivity": conveil.strong_convexity()}


@case
def total_variation_objective():
    x, d = cp.Variable(5, name="x"), _data(np.array([1.0, 1.2, 3.0, 3.1, 2.9]))
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(x - d) + 0.4 * cp.tv(x)), [x >= -9, x <= 9])
    return problem, [d], cp.sum(x)


@case
def elastic_net_objective():
    w, y = cp.Variable(2, name="w"), cp.Parameter(4, name="y", value=np.array([1.0, 2.0, 2.5, 4.0]))
    regressors = sp.csr_array(np.array([[1.0, 0], [1, 1], [1, 2], [1, 3]]))
    loss = cp.sum_squares(regressors @ w - y) / 4 + 0.1 * cp.norm1(w) + 0.05 * cp.sum_squares(w)
    return cp.Problem(cp.Minimize(loss), [w >= -9, w <= 9]), [y], w


@case
def quantile_regression_objective():
    w, y = cp.Variable(2, name="w"), cp.Parameter(5, name="y", value=np.array([1.0, 2.0, 2.5, 4.0, 4.2]))
    regressors = np.column_stack([np.ones(5), np.arange(5.0)])
    residual = y - regressors @ w
    loss = cp.sum(cp.maximum(0.8 * residual, -0.2 * residual))
    return cp.Problem(cp.Minimize(loss), [w >= -9, w <= 9]), [y], w[1]


@case
def convolution_objective():
    x, d = _variable(), _data(np.array([1.0, 3.0, 5.0, 3.0]))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(cp.conv(np.array([1.0, 0.5]), x) - d)), [x >= 0, x <= 9])
    return problem, [d], x, {"sensitivity": conveil.strong_convexity()}


@case
def logarithm_of_a_determinant_with_private_weights():
    X, weight = cp.Variable((2, 2), name="X", symmetric=True), cp.Parameter(2, name="weight", nonneg=True, value=np.array([1.0, 2.0]))
    problem = cp.Problem(cp.Maximize(cp.log_det(X) - weight @ cp.diag(X)), [cp.diag(X) <= 3, X >> 0.2 * np.eye(2)])
    return problem, [weight], cp.trace(X)


@case
def sum_smallest_maximised():
    x, d = _variable(), _data()
    return cp.Problem(cp.Maximize(cp.sum_smallest(x, 2)), [x <= d + 2, cp.sum(x) <= 9, x >= -9]), [d], cp.sum(x)


@case
def log1p_and_sqrt_maximised():
    x, d = _variable(), _data()
    problem = cp.Problem(cp.Maximize(cp.sum(cp.log1p(x)) + cp.sqrt(x[0])), [cp.sum(x) <= cp.sum(d), x >= 0.1])
    return problem, [d], x[0]


@case
def parameter_in_the_objective_and_in_a_constraint():
    x, d = _variable(), _data()
    problem = cp.Problem(cp.Minimize(d @ x + cp.sum_squares(x)), [x >= d - 5, x <= 9])
    return problem, [d], cp.sum(x)


@case
def mixed_norm_objective():
    X, data = cp.Variable((2, 3), name="X"), cp.Parameter((2, 3), name="D", value=np.arange(6.0).reshape(2, 3))
    problem = cp.Problem(cp.Minimize(cp.mixed_norm(X - data, 2, 1)), [X >= -9, X <= 3])
    return problem, [data], cp.sum(X)


@case
def variance_objective():
    x, d = cp.Variable(4, name="x"), _data(6.0)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - cp.sum(x) / 4) + x[0]), [cp.sum(x) == d, x >= 0, x <= 5])
    return problem, [d], x[:2], {"adjacency": conveil.one_entry(0.01)}


@case
def constant_objective():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(0), [x >= d, x <= 10]), [d], cp.sum(x)


# Constraints, shapes and attributes.


@case
def matrix_equality():
    X, supply = cp.Variable((2, 2), name="X", nonneg=True), cp.Parameter(2, name="supply", value=np.array([3.0, 4.0]))
    slack = cp.Variable(2, name="slack", nonneg=True)
    problem = cp.Problem(
        cp.Minimize(cp.sum(cp.multiply(np.array([[1.0, 2], [3, 1]]), X)) + 9 * cp.sum(slack)),
        [X @ np.ones(2) + slack == supply, X <= 6, slack <= 9],
    )
    return problem, [supply], "value", {"bounds": {supply: (0, 8)}, "price": 20}


@case
def stacked_rows():
    x, y, d = cp.Variable(2, name="x"), cp.Variable(name="y"), _data()
    problem = cp.Problem(cp.Minimize(cp.sum(x) + 2 * y), [cp.hstack([x, y]) >= d, cp.vstack([x, x]) <= 9, y <= 9])
    return problem, [d], "value", {"bounds": {d: (0, 6)}, "price": 10}


@case
def kronecker_product():
    x, d = cp.Variable((2, 1), name="x"), cp.Parameter((4, 1), name="d", value=np.array([[1.0], [2], [1], [3]]))
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [cp.kron(np.array([[1.0], [2.0]]), x) >= d, x <= 9])
    return problem, [d], "value"


@case
def sparse_public_matrix():
    x, d = cp.Variable(30, name="x", nonneg=True), _data(np.linspace(1.0, 2.0, 10))
    matrix = sp.random_array((10, 30), density=0.2, rng=np.random.default_rng(3)) + sp.eye_array(10, 30)
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [sp.csr_array(matrix) @ x >= d, x <= 20])
    return problem, [d], "value", {"bounds": {d: (0, 4)}, "price": 5}


@case
def fancy_indexing():
    x, d = cp.Variable((3, 4), name="x"), _data()
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [x[[0, 2, 1], [3, 0, 1]] >= d, x[1:, ::2] <= 5, x >= -2, x <= 8])
    return problem, [d], x[[0, 2, 1], [3, 0, 1]]


@case
def public_parameter_times_variable():
    x, d = _variable(), _data()
    rate = cp.Parameter(N, name="rate", nonneg=True, value=np.array([0.5, 1.0, 2.0]))
    problem = cp.Problem(cp.Minimize(rate @ x), [cp.multiply(rate, x) >= d, x <= 20])
    return problem, [d], "value", {"bounds": {d: (0, 6)}, "price": 10}


@case
def private_scalar_times_an_affine_expression():
    x, rate = _variable(), cp.Parameter(name="rate", nonneg=True, value=1.5)
    problem = cp.Problem(cp.Maximize(cp.sum(x)), [rate * cp.norm_inf(x) <= 6, rate * cp.sum(x) <= 10, x >= -1])
    return problem, [rate], cp.sum(x)


@case
def sparse_private_parameter():
    x = _variable()
    spots = ([0, 0, 1], [0, 2, 1])
    matrix = cp.Parameter((2, N), name="M", sparsity=spots)
    if not hasattr(matrix, "sparse_idx"):
        pytest.skip("this CVXPY does not say which entries of a sparse parameter there are, and the bridge refuses it")
    values = sp.coo_array(([1.0, 2.0, 1.5], spots), shape=(2, N))
    if hasattr(matrix, "value_sparse"):
        matrix.value_sparse = values
    else:
        matrix.value = values.toarray()
    return cp.Problem(cp.Minimize(C @ x), [matrix @ x >= 2, x >= 0, x <= 9]), [matrix], "value"


@case
def limits_that_meet():
    x, d = _variable(), _data()
    fixed = cp.Variable(2, name="fixed", bounds=[np.array([1.0, 0.0]), np.array([1.0, 4.0])])
    problem = cp.Problem(cp.Minimize(C @ x + cp.sum(fixed)), [x + fixed[0] >= d, x <= 10, 2 * fixed[1] >= 2, fixed[1] <= 1])
    return problem, [d], "value", {"bounds": {d: (0, 6)}, "price": 10}


@case
def names_that_need_care():
    x, d = cp.Variable(2, name='a "b" [0]\n= ü'), cp.Parameter(2, name="p.q, [1]#", value=np.array([1.0, 2.0]))
    y = cp.Variable(2, name='a "b" [0]\n= ü')
    return cp.Problem(cp.Minimize(cp.sum(x) + cp.sum(y)), [x + y >= d, x >= 0, y >= 0, x <= 5, y <= 5]), [d], [x, y]


@case
def unnamed_variables():
    x, y, d = cp.Variable(2), cp.Variable(), cp.Parameter(2, value=np.array([1.0, 2.0]))
    return cp.Problem(cp.Minimize(cp.sum(x) + y), [x + y >= d, x >= 0, y >= 0, x <= 5, y <= 5]), [d], x + y


@case
def variable_of_which_a_part_is_unused():
    x, d = cp.Variable(4, name="x"), _data(np.array([1.0, 2.0]))
    return cp.Problem(cp.Minimize(x[0] + x[1]), [x[:2] >= d, x[:2] <= 9]), [d], x[:2]


@case
def exponential_cone_by_hand():
    x, y, z, d = cp.Variable(name="x"), cp.Variable(name="y"), cp.Variable(name="z"), _data(1.0)
    problem = cp.Problem(cp.Minimize(z - 0.1 * x), [cp.ExpCone(x, y, z), y == 1, x >= d, x <= 3, z <= 99])
    return problem, [d], x


@case
def power_cone_by_hand():
    x, d = cp.Variable(3, name="x", nonneg=True), _data(1.0)
    problem = cp.Problem(cp.Minimize(x[0] + x[1]), [cp.PowCone3D(x[0], x[1], x[2], 0.4), x[2] >= d, x <= 9])
    return problem, [d], x[2]


@case
def semidefinite_two_blocks():
    X, cap = cp.Variable((2, 2), name="X", PSD=True), cp.Parameter(2, name="cap", value=np.array([2.0, 3.0]))
    problem = cp.Problem(cp.Maximize(X[0, 1]), [cp.diag(X) <= cap, cp.lambda_max(X) <= 4])
    return problem, [cap], X[0, 1]


@case
def trace_inverse_constraint():
    X, cap = cp.Variable((2, 2), name="X", symmetric=True), cp.Parameter(name="cap", value=3.0)
    problem = cp.Problem(cp.Minimize(cp.trace(X)), [cp.tr_inv(X) <= cap, X <= 9])
    return problem, [cap], cp.trace(X)


@case
def harmonic_mean_constraint():
    x, d = _variable(), _data(1.5)
    return cp.Problem(cp.Minimize(C @ x), [cp.harmonic_mean(x) >= d, x <= 20]), [d], "value"


@case
def relative_entropy_constraint():
    x, d = cp.Variable(3, name="p", nonneg=True), _data(np.array([0.2, 0.3]))
    problem = cp.Problem(
        cp.Maximize(C @ x), [cp.sum(x) <= 1, cp.sum(cp.rel_entr(x, np.ones(3) / 3)) <= 0.1, x[:2] >= d - 0.1]
    )
    return problem, [d], C @ x, {"adjacency": conveil.one_entry(0.001), "sensitivity": conveil.declared(0.001, "a test")}


@case
def max_in_the_objective_and_in_a_constraint():
    x, d = _variable(), _data()
    problem = cp.Problem(cp.Minimize(cp.max(x) + 0.1 * cp.sum(x)), [x >= d, cp.max(x) <= 8])
    return problem, [d], "value", {"slope": cp.sum(x) / 3}


@case
def maximise_concave_quadratic_value_with_nominal():
    x, d = _variable(), _data()
    problem = cp.Problem(cp.Maximize(C @ x - cp.quad_form(x, np.eye(N))), [x <= d, x >= -2])
    return problem, [d], "value", {"nominal": {d: np.array([1.0, 1.0, 1.0])}, "bounds": {d: (0, 6)}}


@case
def stacked_parameters_of_several_shapes():
    X, level = cp.Variable((2, 2), name="X"), cp.Parameter(name="level", value=1.0)
    floor = cp.Parameter((2, 2), name="floor", value=np.array([[1.0, 0.5], [0.2, 0.8]]))
    shift = cp.Parameter((1, 2), name="shift", value=np.array([[0.1, 0.2]]))
    problem = cp.Problem(cp.Minimize(cp.sum(X)), [X >= floor + np.ones((2, 1)) @ shift, cp.trace(X) >= level, X <= 7])
    return problem, [level, floor, shift], "value", {"bounds": {level: (0, 4), floor: (0, 2), shift: (0, 1)}, "price": 9}


@case
def truncated_noise_on_two_variables():
    x, d = _variable(), _data()
    problem = cp.Problem(cp.Minimize(C @ x), [x >= d, x <= 10])
    return problem, [d], x[:2], {"mechanism": "truncated-laplace", "delta": 0.01}
