"""CVXPY problems of all kinds: each atom class in the objective and in a constraint, each certificate, each attribute."""

from dataclasses import dataclass, field

import conveil
import cvxpy as cp
import numpy as np

N = 3
C = np.array([1.0, 2.0, 3.0])
D = np.array([1.0, 2.0, 3.0])
DECLARED = conveil.declared(0.05, "a number for the test")


@dataclass
class Case:
    """A problem, what is private in it and what is released."""

    name: str
    problem: cp.Problem
    private: list
    release: object
    ask: dict = field(default_factory=dict)

    def plan(self, **more):
        ask = {"epsilon": 1.0, "adjacency": conveil.one_entry(0.05), "eta": 0.05, **self.ask, **more}
        if "price" not in ask:
            ask.setdefault("sensitivity", DECLARED)
        return conveil.privatize(self.problem, private=self.private, release=self.release, **ask)


def _variable(**attributes):
    return cp.Variable(N, name="x", **attributes)


def _data(value=D, **attributes):
    return cp.Parameter(np.shape(value) or (), name="d", value=value, **attributes)


CASES = []


def case(function):
    """Registers a case; each call makes fresh objects."""
    CASES.append(function)
    return function


def make(function):
    found = function()
    return Case(function.__name__, *found)


# Linear programs, by certificate.


@case
def lp_private_right_hand_side_envelope():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(C @ x), [x >= d, x <= 10]), [d], "value", {"bounds": {d: (0, 6)}, "price": 10}


@case
def lp_private_right_hand_side_declared():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(C @ x), [x >= d, x <= 10]), [d], "value"


@case
def lp_private_prices_radius():
    x, d = _variable(), _data()
    problem = cp.Problem(cp.Minimize(d @ x), [x >= 0, x <= 4, cp.sum(x) >= 3, x[0] + x[1] <= 5])
    return problem, [d], "value", {"sensitivity": conveil.radius(), "bounds": {d: (0, 6)}}


@case
def lp_private_prices_and_constant_radius():
    x, d = _variable(), _data()
    problem = cp.Problem(cp.Minimize(d @ (x - 1)), [x >= 0, x <= 4, cp.sum(x) >= 3])
    return problem, [d], "value", {"sensitivity": conveil.radius(), "bounds": {d: (0, 6)}, "strategy": "output"}


@case
def lp_private_prices_declared_with_slope():
    x, d = _variable(), _data()
    problem = cp.Problem(cp.Minimize(d @ x), [x >= 0, x <= 4, cp.sum(x) >= 3])
    return problem, [d], "value", {"slope": C @ x}


@case
def lp_private_matrix():
    x, matrix = _variable(), cp.Parameter((2, N), name="M", nonneg=True, value=np.array([[1.0, 1, 0], [0, 1, 2]]))
    return cp.Problem(cp.Minimize(C @ x), [matrix @ x >= 2, x >= 0, x <= 9]), [matrix], "value"


@case
def lp_private_constant_in_the_objective():
    x, d = _variable(), _data()
    problem = cp.Problem(cp.Minimize(C @ x + cp.sum(d)), [x >= d, x <= 10])
    return problem, [d], "value", {"bounds": {d: (0, 6)}, "price": 20}


@case
def lp_maximise_with_constant():
    x, d = _variable(), _data()
    return cp.Problem(cp.Maximize(C @ x + 7), [x <= d, x >= 0]), [d], "value", {"bounds": {d: (0, 6)}, "price": 10}


@case
def lp_public_constant_in_the_expression():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(C @ x), [x >= d, x <= 10]), [d], cp.sum(x) + 5


@case
def lp_several_parameters_and_scalars():
    generation, shed = cp.Variable(N, name="gen", nonneg=True), cp.Variable(name="shed", nonneg=True)
    demand = cp.Parameter(N, name="demand", nonneg=True, value=np.array([2.0, 3.0, 4.0]))
    limit = cp.Parameter(name="limit", value=5.0)
    price = cp.Parameter(N, name="price", value=C)
    problem = cp.Problem(
        cp.Minimize(price @ generation + 50 * shed),
        [cp.sum(generation) + shed == cp.sum(demand), generation <= limit, shed <= 9],
    )
    return problem, [demand, limit], "value", {"bounds": {demand: (0, 8), limit: (1, 8)}, "price": 60}


@case
def lp_matrix_variable_with_bounds():
    flow = cp.Variable((2, 3), name="flow", bounds=[0, 6])
    demand = cp.Parameter(3, name="demand", value=np.array([2.0, 3.0, 4.0]))
    cost = np.array([[1.0, 2, 3], [3, 2, 1]])
    problem = cp.Problem(
        cp.Minimize(cp.sum(cp.multiply(cost, flow))), [cp.sum(flow, axis=0) >= demand, cp.sum(flow, axis=1) <= 7]
    )
    return problem, [demand], flow[0, :]


@case
def lp_sampled():
    x, d = cp.Variable(2, name="x"), _data(np.array([1.0, 2.0]))
    problem = cp.Problem(cp.Minimize(x[0] + 2 * x[1]), [x >= d, x <= 10])
    return problem, [d], "value", {"sensitivity": conveil.sampled(0.2, 0.2), "bounds": {d: (0, 4)}}


@case
def lp_gaussian_noise_on_two_expressions():
    x, d = _variable(), _data()
    problem = cp.Problem(cp.Minimize(C @ x), [x >= d, x <= 10])
    return problem, [d], [x[0] + x[1], x[2]], {"delta": 1e-5}


@case
def lp_truncated_noise():
    x, d = _variable(), _data()
    problem = cp.Problem(cp.Minimize(C @ x), [x >= d, x <= 10])
    return problem, [d], "value", {"mechanism": "truncated-laplace", "delta": 0.01}


# Quadratic objectives.


@case
def squares_strong_convexity():
    x, d = _variable(), _data()
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - d)), [x >= 0, x <= 10])
    return problem, [d], x, {"sensitivity": conveil.strong_convexity()}


@case
def least_squares_with_public_regressors():
    w, y = cp.Variable(2, name="w"), cp.Parameter(4, name="y", value=np.array([1.0, 2.0, 2.5, 4.0]))
    regressors = np.array([[1.0, 0], [1, 1], [1, 2], [1, 3]])
    problem = cp.Problem(cp.Minimize(cp.sum_squares(regressors @ w - y) + 0.1 * cp.sum_squares(w)), [w[1] >= 0, w <= 9])
    return problem, [y], w, {"sensitivity": conveil.strong_convexity()}


@case
def least_squares_with_private_regressors():
    x, d, regressors = _variable(), _data(), cp.Parameter((3, N), name="R", value=np.eye(3))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(regressors @ x - d) + 0.1 * cp.sum_squares(x)), [x >= -9, x <= 9])
    return problem, [regressors, d], cp.sum(x)


@case
def quadratic_form_and_private_linear_cost():
    x, d = _variable(), _data()
    risk = np.array([[2.0, 0.3, 0], [0.3, 1.5, 0.2], [0, 0.2, 1]])
    problem = cp.Problem(cp.Maximize(d @ x - cp.quad_form(x, risk)), [cp.sum(x) <= 1.5, x >= -2, x <= 2])
    return problem, [d], x, {"sensitivity": conveil.strong_convexity()}


@case
def value_of_squares_with_slope():
    x, d = _variable(), _data()
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - d) + C @ x), [x >= 0, x <= 10])
    return problem, [d], "value", {"slope": C @ x}


@case
def value_of_squares_by_the_nominal_gradient():
    x, d = _variable(), _data()
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - d)), [cp.sum(x) <= 4, x >= 0, x <= 10])
    return problem, [d], "value", {"nominal": {d: np.array([1.5, 2.0, 2.5])}, "bounds": {d: (0, 6)}}


@case
def value_of_squares_output():
    x, d = _variable(), _data()
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - d) + 1), [cp.sum(x) <= 4, x >= 0])
    return problem, [d], "value", {"strategy": "output"}


@case
def private_weight_on_a_square():
    x, weight = _variable(), cp.Parameter(name="weight", nonneg=True, value=0.5)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - C) + weight * cp.sum_squares(x)), [x >= -5, x <= 5])
    return problem, [weight], cp.sum(x)


@case
def private_weight_on_a_norm():
    x, weight = _variable(), cp.Parameter(name="weight", nonneg=True, value=0.5)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - C) + weight * cp.norm1(x)), [x >= -5, x <= 5])
    return problem, [weight], cp.sum(x)


# Atoms in the objective.


@case
def norm1_objective():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(cp.norm1(x - d) + 0.1 * C @ x), [x >= -5, x <= 9]), [d], cp.sum(x)


@case
def norm_inf_objective():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(cp.norm_inf(x - d)), [cp.sum(x) <= 3, x >= -9, x <= 9]), [d], cp.sum(x)


@case
def norm2_objective_value():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(cp.norm(x - d, 2)), [cp.sum(x) <= 1, x >= -10]), [d], "value", {"slope": -cp.sum(x)}


@case
def abs_objective():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(cp.sum(cp.abs(x - d)) + x[0]), [cp.sum(x) >= 8, x <= 10, x >= -10]), [d], x


@case
def max_objective_value():
    x, d = _variable(), _data()
    problem = cp.Problem(cp.Minimize(cp.max(x - d)), [cp.sum(x) >= 3, x <= 10, x >= -10])
    return problem, [d], "value", {"slope": cp.sum(x) / 3}


@case
def min_objective_maximised():
    x, d = _variable(), _data()
    return cp.Problem(cp.Maximize(cp.min(x)), [cp.sum(x) <= 9, x <= 2 * d]), [d], "value", {"slope": cp.sum(x) / 3}


@case
def maximum_and_minimum_elementwise():
    x, d = _variable(), _data()
    problem = cp.Problem(cp.Minimize(cp.sum(cp.maximum(x, d)) - cp.sum(cp.minimum(x, 4))), [x >= -2, x <= 9])
    return problem, [d], cp.sum(x)


@case
def pos_objective():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(cp.sum(cp.pos(d - x)) + 0.2 * cp.sum(x)), [x >= 0, x <= 9]), [d], cp.sum(x)


@case
def huber_objective():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(cp.sum(cp.huber(x - d, 1.0))), [cp.sum(x) >= 9, x >= -10, x <= 10]), [d], cp.sum(x)


@case
def exp_objective_value():
    x, d = _variable(), _data()
    problem = cp.Problem(cp.Minimize(cp.sum(cp.exp(0.3 * x))), [x >= d, x <= 10])
    return problem, [d], "value", {"slope": cp.sum(x)}


@case
def entropy_maximised():
    x, d = _variable(), _data(np.array([0.1, 0.2, 0.3]))
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x)) + d @ x), [cp.sum(x) <= 2, x >= 0.01, x <= 1.5])
    return problem, [d], cp.sum(x)


@case
def entropy_value_radius_output():
    x, d = _variable(), _data(np.array([0.1, 0.2, 0.3]))
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x)) + d @ x), [cp.sum(x) <= 2, x >= 0.01, x <= 1.5])
    return problem, [d], "value", {"sensitivity": conveil.radius(), "strategy": "output", "bounds": {d: (0, 1)}}


@case
def log_objective_maximised():
    x, d = _variable(), _data()
    return cp.Problem(cp.Maximize(cp.sum(cp.log(x))), [x <= d + 1, cp.sum(x) <= 6]), [d], cp.sum(x)


@case
def log_sum_exp_objective():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(cp.log_sum_exp(x - d)), [cp.sum(x) >= 3, x <= 9, x >= -9]), [d], cp.sum(x)


@case
def logistic_objective():
    x, d = _variable(), _data()
    return (
        cp.Problem(cp.Minimize(cp.sum(cp.logistic(d - x)) + 0.1 * cp.sum_squares(x)), [x <= 5, x >= -5]),
        [d],
        cp.sum(x),
    )


@case
def kl_divergence_objective():
    x, d = _variable(), _data(np.array([0.4, 0.6, 0.8]))
    return cp.Problem(cp.Minimize(cp.sum(cp.kl_div(x, C))), [x >= d, x <= 5, cp.sum(x) <= 5]), [d], cp.sum(x)


@case
def geometric_mean_maximised_value():
    x, d = _variable(), _data()
    return cp.Problem(cp.Maximize(cp.geo_mean(x)), [x <= d, x >= 0]), [d], "value", {"slope": cp.sum(x) / 3}


@case
def power_objective():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(cp.sum(cp.power(x, 3))), [x >= d, x <= 10]), [d], cp.sum(x)


@case
def power_one_and_a_half_value():
    x, d = _variable(), _data()
    problem = cp.Problem(cp.Minimize(cp.sum(cp.power(x, 1.5))), [x >= d, x <= 10])
    return problem, [d], "value", {"slope": cp.sum(x)}


@case
def quad_over_lin_objective():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(cp.quad_over_lin(x - d, x[0] + 3) + x[0]), [x >= 0, x <= 10]), [d], cp.sum(x)


@case
def sum_largest_objective():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(cp.sum_largest(x - d, 2)), [cp.sum(x) >= 3, x <= 9, x >= -9]), [d], cp.sum(x)


@case
def inv_pos_objective():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(cp.sum(cp.inv_pos(x))), [x <= d, x >= 0.1]), [d], cp.sum(x)


# Matrices.


@case
def lambda_max_of_a_symmetric_variable():
    X = cp.Variable((2, 2), name="X", symmetric=True)
    data = cp.Parameter((2, 2), name="D", symmetric=True, value=np.array([[1.0, 0.2], [0.2, 2.0]]))
    return cp.Problem(cp.Minimize(cp.lambda_max(X - data)), [cp.trace(X) >= 1, X <= 5, X >= -5]), [data], X


@case
def log_det_of_a_psd_variable():
    X, cap = cp.Variable((2, 2), name="X", PSD=True), cp.Parameter(name="cap", value=4.0)
    return cp.Problem(cp.Maximize(cp.log_det(X)), [cp.trace(X) <= cap, X[0, 0] <= 3]), [cap], cp.trace(X)


@case
def semidefinite_constraint_envelope():
    X, load = cp.Variable((2, 2), name="X", symmetric=True), cp.Parameter(name="load", value=1.0)
    problem = cp.Problem(cp.Minimize(cp.trace(X)), [X >> 0.1 * np.eye(2), X[0, 1] >= load, X <= 8])
    return problem, [load], "value", {"bounds": {load: (0.5, 2)}, "price": 5}


@case
def nuclear_norm_objective():
    X, data = cp.Variable((2, 2), name="X"), cp.Parameter((2, 2), name="D", value=np.array([[1.0, 0.5], [0.0, 2.0]]))
    return cp.Problem(cp.Minimize(cp.normNuc(X)), [X >= data - 0.5, X <= 5]), [data], cp.sum(X)


@case
def nuclear_norm_constraint():
    X, cap = cp.Variable((2, 2), name="X"), cp.Parameter(name="cap", value=3.0)
    return cp.Problem(cp.Maximize(X[0, 0] + X[1, 1]), [cp.normNuc(X) <= cap, X <= 5]), [cap], "value"


@case
def matrix_frac_constraint():
    x, cap = cp.Variable(2, name="x"), cp.Parameter(name="cap", value=4.0)
    matrix = np.array([[2.0, 0.5], [0.5, 1.0]])
    return cp.Problem(cp.Maximize(cp.sum(x)), [cp.matrix_frac(x, matrix) <= cap, x >= -5]), [cap], "value"


@case
def diagonal_variable():
    X, cap = cp.Variable((3, 3), name="X", diag=True), cp.Parameter(3, name="cap", value=np.array([1.0, 2.0, 3.0]))
    return cp.Problem(cp.Maximize(cp.trace(X)), [cp.diag(X) <= cap, cp.diag(X) >= -1]), [cap], "value"


@case
def sigma_max_constraint():
    X, cap = cp.Variable((2, 2), name="X"), cp.Parameter(name="cap", value=2.0)
    return cp.Problem(cp.Maximize(X[0, 0] + X[0, 1]), [cp.sigma_max(X) <= cap, X >= -3]), [cap], "value"


# Atoms in constraints.


@case
def norm2_constraint():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(C @ x), [cp.norm(x - d, 2) <= 3]), [d], "value"


@case
def norm1_constraint():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(C @ x), [cp.norm1(x - d) <= 3]), [d], "value"


@case
def norm_inf_and_abs_constraints():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(C @ x), [cp.norm_inf(x - d) <= 3, cp.abs(x[0]) <= 1.5]), [d], "value"


@case
def sum_squares_constraint():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(C @ x), [cp.sum_squares(x - d) <= 4]), [d], "value"


@case
def quad_form_constraint():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(C @ x), [cp.quad_form(x, np.diag([1.0, 2, 3])) <= 5, x >= d - 3]), [d], "value"


@case
def log_constraint():
    x, d = _variable(), _data(np.array([1.0]))
    return cp.Problem(cp.Minimize(C @ x), [cp.sum(cp.log(x)) >= d[0], x <= 20]), [d], "value"


@case
def exp_constraint():
    x, d = _variable(), _data()
    return cp.Problem(cp.Maximize(cp.sum(x)), [cp.exp(x) <= d + 1, x >= -5]), [d], "value"


@case
def log_sum_exp_constraint():
    x, d = _variable(), _data(2.0)
    return cp.Problem(cp.Maximize(C @ x), [cp.log_sum_exp(x) <= d, x >= -5]), [d], "value"


@case
def geo_mean_constraint():
    x, d = _variable(), _data(2.0)
    return cp.Problem(cp.Minimize(C @ x), [cp.geo_mean(x) >= d, x <= 20]), [d], "value"


@case
def entropy_constraint():
    x, d = _variable(), _data(0.5)
    return cp.Problem(cp.Minimize(C @ x), [cp.sum(cp.entr(x)) >= d, x <= 1]), [d], "value"


@case
def power_constraint():
    x, d = _variable(), _data(9.0)
    return cp.Problem(cp.Maximize(C @ x), [cp.sum(cp.power(x, 2)) <= d, cp.sqrt(x[0]) >= 0.2, x <= 5]), [d], "value"


@case
def max_min_constraints():
    x, d = _variable(), _data()
    return cp.Problem(cp.Maximize(C @ x), [cp.max(x - d) <= 2, cp.min(x) >= -4, cp.sum(cp.pos(x)) <= 6]), [d], "value"


@case
def sum_largest_constraint():
    x, d = _variable(), _data(5.0)
    return cp.Problem(cp.Maximize(C @ x), [cp.sum_largest(x, 2) <= d, x >= 0]), [d], "value"


@case
def kl_div_constraint():
    x, d = _variable(), _data(0.5)
    return cp.Problem(cp.Minimize(C @ x), [cp.sum(cp.kl_div(x, np.ones(3))) <= d, x <= 5]), [d], "value"


@case
def huber_constraint():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(C @ x), [cp.sum(cp.huber(x - d, 1.0)) <= 4, x >= -9]), [d], "value"


@case
def quad_over_lin_constraint():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(C @ x), [cp.quad_over_lin(x - d, x[2] + 3) <= 2, x <= 9, x >= -9]), [d], "value"


@case
def user_written_cones():
    x, d = _variable(), _data(2.0)
    t = cp.Variable(name="t")
    problem = cp.Problem(cp.Minimize(C @ x + t), [cp.SOC(t, x - 1), cp.sum(x) >= d, x <= 5, t <= 9])
    return problem, [d], cp.sum(x)


@case
def inequality_between_curved_sides():
    x, d = _variable(), _data(3.0)
    return cp.Problem(cp.Minimize(C @ x), [cp.norm(x) + cp.max(x) <= cp.sqrt(x[1] + 5) + d, x >= -4]), [d], "value"


@case
def shared_between_objective_and_constraint():
    x, d = _variable(), _data()
    return cp.Problem(cp.Minimize(cp.norm1(x - d) - x[0]), [cp.norm1(x - d) <= 2]), [d], x[0]


@case
def nested_atoms():
    x, d = _variable(), _data()
    problem = cp.Problem(
        cp.Minimize(cp.exp(0.2 * cp.norm(x - d)) + cp.max(cp.abs(x))), [cp.sum(x) >= 3, cp.square(cp.norm1(x)) <= 100]
    )
    return problem, [d], cp.sum(x)


@case
def signs_of_variables():
    up, down = cp.Variable(2, name="up", nonneg=True), cp.Variable(2, name="down", nonpos=True)
    d = _data(np.array([1.0, 2.0]))
    problem = cp.Problem(cp.Minimize(cp.sum(up) - 2 * cp.sum(down)), [up + down == d - 1, up <= 9, down >= -9])
    return problem, [d], up, {"adjacency": conveil.one_entry(0.05)}


@case
def users_own_epigraph():
    x, t, d = _variable(), cp.Variable(name="t"), _data()
    problem = cp.Problem(cp.Minimize(t), [C @ x <= t, x >= d, x <= 10])
    return problem, [d], "value", {"decisions": [x], "slope": C @ x}


@case
def running_sum_released():
    x, d = cp.Variable(4, name="x"), _data(np.array([1.0, 2.0, 3.0, 5.0]))
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [cp.cumsum(x) >= d, cp.diff(x) <= 3, x >= -1, x <= 9])
    return problem, [d], cp.cumsum(x)[1:3]


@case
def inventory_over_time():
    stock, order = cp.Variable(6, name="stock"), cp.Variable(5, name="order", nonneg=True)
    d = _data(np.array([2.0, 3.0, 1.0, 4.0, 2.0]))
    limits = [stock[0] == 3, stock[1:] == stock[:-1] + order - d, stock >= 0, stock <= 20, order <= 8]
    problem = cp.Problem(cp.Minimize(np.array([1.0, 2, 1, 3, 1]) @ order + 0.1 * cp.sum(stock)), limits)
    return problem, [d], "value", {"bounds": {d: (0, 6)}, "price": 20}


@case
def branch_flow():
    power, current, voltage = (
        cp.Variable(2, name="power"),
        cp.Variable(2, name="current"),
        cp.Variable(2, name="voltage"),
    )
    d = _data(np.array([0.5, 0.7]))
    limits = [
        power[0] == d[0] + power[1] + 0.05 * current[0],
        power[1] == d[1] + 0.05 * current[1],
        voltage[0] == 1 - 0.1 * power[0] + 0.01 * current[0],
        voltage[1] == voltage[0] - 0.1 * power[1] + 0.01 * current[1],
        voltage >= 0.5,
        voltage <= 1.2,
        current <= 9,
        cp.quad_over_lin(power[0], 1) <= current[0],
        cp.SOC(current[1] + voltage[0], cp.hstack([2 * power[1], current[1] - voltage[0]])),
    ]
    problem = cp.Problem(cp.Minimize(power[0] + 0.1 * cp.sum(current)), limits)
    return (
        problem,
        [d],
        "value",
        {"adjacency": conveil.one_entry(0.01), "sensitivity": conveil.declared(0.02, "for the test")},
    )


import bridge_cases_more  # noqa: E402, F401 registers the cases of the second file
