"""Strategies that a public rule chooses, and noise on linear costs, from CVXPY."""

import cvxpy as cp
import numpy as np
import pytest

import conveil


def portfolio(**more):
    """min ½γx'Σx − μ'x over the simplex, with the forecasts μ private."""
    n = 4
    root = np.random.default_rng(5).normal(size=(n, n))
    mu = cp.Parameter(n, name="mu", value=[0.3, 0.1, 0.5, 0.2])
    x = cp.Variable(n, name="x", nonneg=True)
    objective = cp.Minimize(cp.quad_form(x, root @ root.T + np.eye(n)) - mu @ x)
    problem = cp.Problem(objective, [cp.sum(x) <= 1])
    asked = {"private": [mu], "release": x, "epsilon": 0.5, "adjacency": conveil.one_entry(0.1)}
    asked |= {"sensitivity": conveil.strong_convexity()} | more
    return problem, x, conveil.privatize(problem, **asked)


@pytest.mark.parametrize("strategy", ["auto", "linear-term"])
def test_noise_on_linear_costs_keeps_every_constraint(strategy):
    _, x, plan = portfolio(strategy=strategy)
    assert plan.check()["strategy"] == "linear-term"
    assert ("chosen by the public rule" in str(plan.guarantee)) == (strategy == "auto")
    for _ in range(20):
        released = np.array(list(plan.release(not_recorded=True).answer))
        assert released.min() >= -1e-7 and released.sum() <= 1 + 1e-7


def test_with_next_to_no_noise_it_is_the_optimum():
    problem, x, plan = portfolio(strategy="linear-term", epsilon=1e6)
    released = np.array(list(plan.release(not_recorded=True).answer))
    problem.solve()
    assert np.allclose(released, x.value, atol=1e-4)


def test_the_rule_gives_private_demands_room_for_the_noise():
    d = cp.Parameter(2, name="d", value=[3.0, 4.0])
    x = cp.Variable(2, name="x", nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [x >= d, x <= 50])
    asked = {"private": [d], "release": "value", "epsilon": 1.0, "adjacency": conveil.one_entry(1)}
    asked |= {"bounds": {d: (0, 10)}, "price": 1, "strategy": "auto"}
    assert conveil.privatize(problem, eta=0.01, **asked).check()["strategy"] == "program"
    with pytest.raises(conveil.InputError, match="needs `?eta"):
        conveil.privatize(problem, **asked)


def test_a_strategy_that_there_is_not_is_refused_by_name():
    with pytest.raises(conveil.InputError, match='"auto", "program", "output", "projected" or "linear-term"'):
        portfolio(strategy="linear")
