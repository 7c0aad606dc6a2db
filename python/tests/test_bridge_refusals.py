"""What the bridge refuses, and what it says; and the rules for limits, units and released variables, one test each."""

import conveil
import cvxpy as cp
import numpy as np
import pytest
from bridge_cases import D, DECLARED

ASK = {"epsilon": 1.0, "adjacency": conveil.one_entry(0.05), "eta": 0.05, "sensitivity": DECLARED}

def refusals():
    """By name: a problem, what is to be released, and a word that the message must have; and the private parameter."""
    x, d = cp.Variable(3, name="x"), cp.Parameter(3, name="d", value=D)
    limits = [x >= d, x <= 9]
    cost = cp.sum(x)
    integer, boolean = cp.Variable(name="n", integer=True), cp.Variable(name="on", boolean=True)
    whole, scale = cp.Variable(2, name="y", pos=True), cp.Variable(name="s", nonneg=True)
    return {
        "integer": (cp.Problem(cp.Minimize(cost + integer), limits), "value", "it is integer"),
        "boolean": (cp.Problem(cp.Minimize(cost + boolean), limits), "value", "it is boolean"),
        "complex": (cp.Problem(cp.Minimize(cost + cp.abs(cp.Variable(complex=True))), limits), "value", "it is complex"),
        "quasiconvex": (cp.Problem(cp.Minimize(cp.ceil(x[0])), limits), "value", "it is not DCP"),
        "geometric": (cp.Problem(cp.Minimize(whole[0] / whole[1] + cost), limits), "value", "it is not DCP"),
        "product of parameters": (cp.Problem(cp.Minimize(cost), [x >= cp.multiply(d, d)]), "value", "it is not DPP"),
        "maximised norm": (cp.Problem(cp.Maximize(cp.norm(x)), limits), "value", "wrong curvature"),
        "indicator": (cp.Problem(cp.Minimize(cost + cp.transforms.indicator([x <= 5])), limits), "value", "an indicator"),
        "fraction of a matrix": (cp.Problem(cp.Minimize(cp.matrix_frac(x - d, np.eye(3))), limits), cost, "it is not DPP"),
        "perspective": (
            cp.Problem(cp.Minimize(cp.perspective(cp.square(x[0]), s=scale) + cost), limits),
            "value",
            "the same function by other atoms",
        ),
        "no limit": (cp.Problem(cp.Minimize(cost), [x >= d, x <= 1e20]), "value", "`(x <= 1e+20)`"),
        "infinite": (cp.Problem(cp.Minimize(cost), [x >= d, x <= np.inf]), "value", "`(x <= inf)`"),
        "not a problem": (cp.Minimize(cost), "value", "a cvxpy.Problem; found Minimize"),
        "private expression": (cp.Problem(cp.Minimize(cost), limits), x + d, "the private parameter `d`"),
        "curved expression": (cp.Problem(cp.Minimize(cost), limits), cp.sum_squares(x), "not affine"),
        "repeated": (cp.Problem(cp.Minimize(cost), limits), [x, x[0]], "it repeats another row"),
        "only in the objective": (cp.Problem(cp.Minimize(cp.norm1(x - d))), x, "in no constraint that holds with noise"),
    }, d


@pytest.mark.parametrize("name", refusals()[0])
def test_what_is_refused_says_why(name):
    found, d = refusals()
    problem, release, word = found[name]
    with pytest.raises(conveil.InputError) as refused:
        conveil.privatize(problem, [d], release, **ASK)
    assert word in str(refused.value)


def test_a_limit_as_wide_as_you_like_lets_a_variable_of_the_objective_alone_be_released():
    x, d = cp.Variable(3, name="x"), cp.Parameter(3, name="d", value=D)
    problem = cp.Problem(cp.Minimize(cp.norm1(x - d)), [x >= -1e4, x <= 1e4])
    released = conveil.privatize(problem, [d], x, **ASK).release(not_recorded=True)
    np.testing.assert_allclose(released.answer, released.decision[x], rtol=1e-7)


def test_an_unbounded_problem_is_said_in_the_users_names_under_an_envelope():
    x, d = cp.Variable(3, name="x"), cp.Parameter(3, name="d", value=D)
    with pytest.raises(conveil.Unbounded) as failed:
        ask = {key: value for key, value in ASK.items() if key != "sensitivity"}
        conveil.privatize(cp.Problem(cp.Minimize(cp.sum(x)), [x <= d]), [d], price=10, bounds={d: (0, 6)}, **ask)
    assert "`x[0]` down" in str(failed.value)


def test_variables_that_cvxpy_introduces_are_bounded_by_those_of_the_user():
    x, d = cp.Variable(3, name="x"), cp.Parameter(3, name="d", value=D)
    limits = [cp.geo_mean(x) >= 1, x >= d]
    ask = {key: value for key, value in ASK.items() if key != "sensitivity"} | {"price": 10, "bounds": {d: (0, 6)}}
    with pytest.raises(conveil.Refused) as refused:
        conveil.privatize(cp.Problem(cp.Minimize(cp.sum(x)), limits), [d], **ask)
    assert "`x[0]` has no public bounds" in refused.value.why
    conveil.privatize(cp.Problem(cp.Minimize(cp.sum(x)), [*limits, x <= 10]), [d], **ask)


@pytest.mark.parametrize("units", [1e3, 1.0, 1e-3, 1e-6])
def test_the_optimum_is_as_close_in_small_units_as_in_large_ones(units):
    x, d = cp.Variable(3, name="x", nonneg=True), cp.Parameter(3, name="d", value=100 * units * D)
    problem = cp.Problem(cp.Minimize(np.array([20.0, 35.0, 60.0]) @ x), [cp.sum(x) >= cp.sum(d), x <= 400 * units])
    plan = conveil.privatize(
        problem, [d], epsilon=1.0, eta=0.05, adjacency=conveil.one_entry(units), price=100, bounds={d: (0, 400 * units)}
    )
    assert plan.solve().optimum == pytest.approx((400 * 20 + 200 * 35) * units, rel=1e-7, abs=0)


def test_limits_that_meet_are_an_equality_and_those_that_leave_room_are_not():
    x, d = cp.Variable(3, name="x"), cp.Parameter(3, name="d", value=D)
    y = cp.Variable(2, name="y")
    limits = [x >= d, x <= 9, 2 * y >= 4, y <= np.array([2.0, 2.0 + 1e-6])]
    form = conveil.privatize(cp.Problem(cp.Minimize(cp.sum(x) + cp.sum(y)), limits), [d], **ASK).model.form
    equalities = form.rows_where(lambda r: r.cone == "zero")
    assert np.count_nonzero(equalities) == 1 and form.m == 9


def test_an_error_of_a_release_without_a_ledger_is_not_recorded():
    x, d = cp.Variable(3, name="x"), cp.Parameter(3, name="d", value=20 * D)
    plan = conveil.privatize(cp.Problem(cp.Minimize(cp.sum(x)), [x >= d, x <= 9]), [d], **ASK)
    with pytest.raises(conveil.Infeasible) as failed:
        plan.release(not_recorded=True)
    assert not failed.value.recorded


def test_the_rule_of_many_released_numbers_is_the_decided_one():
    x, d = cp.Variable(30, name="x"), cp.Parameter(30, name="d", value=np.linspace(0, 1, 30))
    problem = cp.Problem(cp.Minimize(cp.norm1(x - d)), [x >= -9, x <= 9])
    plan = conveil.privatize(problem, [d], x, **{**ASK, "adjacency": conveil.one_entry(0.001)})
    rule = plan.rule()
    at = plan.model.form.columns_of(x)
    np.testing.assert_allclose(rule.recourse[at], np.eye(30))
    assert plan.solve(draws=20).expected_objective > 0
