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
    with pytest.raises(conveil.InputError, match='"auto", "program", .* or "truncated"; found'):
        portfolio(strategy="linear")


def supply(strategy, **more):
    d = cp.Parameter(2, name="d", value=[3.0, 4.0])
    x = cp.Variable(2, name="x", nonneg=True)
    problem = cp.Problem(cp.Minimize(2 * cp.sum(x)), [x >= d, x <= 50])
    asked = {"private": [d], "release": "value", "adjacency": conveil.one_entry(1), "strategy": strategy}
    return problem, d, conveil.privatize(problem, **({"epsilon": 1.0} | asked | more))


def test_noise_on_the_data_is_the_problem_at_noisy_data():
    problem, d, plan = supply("input")
    assert not [word for word in plan.warnings if "unique" in word]
    for _ in range(20):
        release = plan.release(not_recorded=True)
        noisy = [entry["value"] for entry in release.card.data["before_projection"]]
        kept, d.value = d.value, np.array(noisy)
        problem.solve()
        d.value = kept
        assert release.answer == pytest.approx(problem.value, abs=1e-5)
        assert release.decision is None
    # Noise far beyond the limit of 50: a problem without an answer is an answer, and not an error.
    _, _, far = supply("input", epsilon=1e-3)
    answers = [far.release(not_recorded=True) for _ in range(12)]
    assert any(one.answer is None and "no answer" in str(one.card) for one in answers)
    rows = {row["strategy"]: row["status"] for row in plan.compare().data["rows"]}
    assert rows["input"] == "ok"


def test_a_shifted_value_has_a_public_room():
    with pytest.raises(conveil.InputError, match="eta= is missing"):
        supply("shifted", price=3)
    d = cp.Parameter(2, name="d", value=[3.0, 4.0])
    x = cp.Variable(2, name="x", nonneg=True)
    problem = cp.Problem(cp.Minimize(2 * cp.sum(x)), [x >= d, x <= 50])
    plan = conveil.privatize(
        problem,
        private=[d],
        release="value",
        adjacency=conveil.one_entry(1),
        epsilon=1e6,
        bounds={d: (0, 10)},
        price=3,
        eta=0.01,
        strategy="shifted",
    )
    # Scale 3e-6: the room of about 4.6 scales is all that the answer differs by, and the solver's tolerance.
    assert plan.release(not_recorded=True).answer == pytest.approx(14.0, abs=0.02)
    assert "a feasible decision has the released value" in str(plan.guarantee)


def test_truncated_perturbation_never_breaks_a_limit():
    capacity = cp.Parameter(2, name="capacity", value=[30.0, 40.0])
    x = cp.Variable(2, name="x", nonneg=True)
    problem = cp.Problem(cp.Maximize(3 * x[0] + x[1]), [x[0] + x[1] <= capacity[0], x[0] <= capacity[1], x <= 35])
    asked = {
        "private": [capacity],
        "release": x,
        "adjacency": conveil.one_entry(1),
        "epsilon": 1.0,
        "bounds": {capacity: (0, 50)},
        "strategy": "truncated",
    }
    with pytest.raises(conveil.InputError, match="needs delta="):
        conveil.privatize(problem, **asked)
    plan = conveil.privatize(problem, delta=1e-3, **asked)
    assert "all constraints of the data, always" in str(plan.guarantee)
    for _ in range(30):
        found = plan.release(not_recorded=True).answer
        assert found.sum() <= 30 + 1e-6 and found[0] <= 35 + 1e-6 and found.min() >= -1e-6
    rows = {row["strategy"]: row for row in plan.compare().data["rows"]}
    assert rows["truncated"]["status"] == "ok" and rows["truncated"]["sampled_infeasible_percent"] == 0
