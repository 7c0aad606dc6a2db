"""What the numbers of a certificate cost and bring, and functions whose variables are CVXPY's own."""

import conveil
import cvxpy as cp
import numpy as np
import pytest
from test_plan import dispatch, plan_of


def test_costs_are_separated_by_cause_and_add_up():
    problem, _, _, d = dispatch()
    report = plan_of(problem, d).solve()
    costs = report.costs
    problem.solve(solver=cp.CLARABEL)
    assert costs["optimum"] == pytest.approx(problem.value, rel=1e-7)
    terms = costs["bounds"] + costs["curvature"] + costs["corrections"]
    assert costs["optimum"] + terms == pytest.approx(costs["without_noise"], rel=1e-9)
    assert costs["without_noise"] + costs["noise"] == pytest.approx(report.objective, rel=1e-9)
    assert "what it costs" in str(report)


def test_costs_of_an_objective_that_is_maximised_have_its_sign():
    x, d = cp.Variable(2, name="x"), cp.Parameter(name="d", value=4.0)
    problem = cp.Problem(cp.Maximize(3 * x[0] + 2 * x[1] + 7), [cp.sum(x) <= d, x >= 0, x <= 5])
    plan = conveil.privatize(
        problem, d, "value", epsilon=1.0, adjacency=conveil.one_entry(0.1), bounds={d: (1, 6)}, price=10, eta=0.1
    )
    report = plan.solve()
    assert report.costs["optimum"] == pytest.approx(19.0, abs=1e-5)
    assert report.costs["noise"] > 0
    assert report.costs["without_noise"] - report.costs["noise"] == pytest.approx(report.objective, abs=1e-6)


def group(**more):
    problem, generation, _, d = dispatch()
    ask = {
        "price": None,
        "sensitivity": conveil.moreau(10.0, curvature=0.1),
        "bounds": {d: (100, 400)},
        "adjacency": conveil.one_entry(1),
    }
    return conveil.privatize(
        problem, private=[d], release=generation[0] + generation[1], epsilon=1.0, eta=0.01, nominal={d: 200.0}, **{**ask, **more}
    )


def test_the_numbers_that_make_noise_smaller_are_named_and_swept():
    plan = group()
    explained = plan.explain(at="nominal")
    levers = {lever["what"]: lever for lever in explained.levers}
    assert levers["width"]["noise"] == pytest.approx(np.sqrt(0.5), rel=1e-3)
    assert levers["width"]["instead"] == 20.0 and "for less noise" in str(explained)
    assert "for less noise" in explained._repr_html_()
    frontier = plan.frontier("width", [5.0, 20.0], at="nominal")
    scales = [row["scale"] for row in frontier["rows"]]
    assert scales[0] == pytest.approx(2 * scales[1], rel=0.1)
    assert "width" in frontier.plot().svg and {"correction"} <= set(frontier.to_frame().columns)
    assert len(plan.frontier("curvature", at="nominal")["rows"]) == 7


def test_numbers_that_a_sensitivity_has_not_are_refused():
    problem, _, _, d = dispatch()
    envelope = plan_of(problem, d)
    with pytest.raises(conveil.InputError, match="stated with a `width`"):
        envelope.frontier("width", [1.0], at="nominal")
    with pytest.raises(conveil.InputError, match='"price"; found'):
        envelope.frontier("lambda", at="nominal")
    assert envelope.explain(at="nominal").levers[0]["what"] == "price"


def test_curvature_around_the_nominal_optimum_costs_nothing_there():
    zero = group().solve(at="nominal").costs["curvature"]
    around = group(sensitivity=conveil.moreau(10.0, curvature=0.1, around="nominal")).solve(at="nominal").costs["curvature"]
    assert zero > 1.0 and abs(around) < 1e-3
    with pytest.raises(conveil.InputError, match="around="):
        conveil.moreau(1.0, around="nominal")


UTILITIES = {
    "log": lambda x: cp.sum(cp.log(x)),
    "entr": lambda x: cp.sum(cp.entr(x)),
    "geo_mean": lambda x: cp.geo_mean(x),
    "log_det": lambda x: cp.log_det(cp.diag(x)),
    "power": lambda x: cp.sum(cp.power(x, 0.3)),
    "log_sum_exp": lambda x: -cp.log_sum_exp(x),
    "exp": lambda x: -cp.sum(cp.exp(-x)),
    "quad_over_lin": lambda x: -cp.quad_over_lin(x, 2.0),
}


@pytest.mark.parametrize("name", UTILITIES)
def test_functions_with_variables_of_cvxpy_need_bounds_on_yours_alone(name):
    x, d = cp.Variable(3, name="x"), cp.Parameter(name="d", value=4.0)
    problem = cp.Problem(cp.Maximize(UTILITIES[name](x)), [cp.sum(x) <= d, x >= 0.2, x <= 5])
    plan = conveil.privatize(
        problem,
        d,
        "value",
        epsilon=1.0,
        adjacency=conveil.one_entry(0.1),
        bounds={d: (1, 6)},
        price=20,
        strategy="output",
    )
    problem.solve(solver=cp.CLARABEL)
    assert plan.solve().optimum == pytest.approx(problem.value, abs=1e-4)
    assert plan.guarantee.basis == "envelope"
