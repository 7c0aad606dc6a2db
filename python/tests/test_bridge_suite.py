"""Every case against CVXPY's own optimum, the user's own constraints under noise, and the user's own expression."""

import cvxpy as cp
import numpy as np
import pytest
from bridge_cases import CASES, make
from scipy.stats import binom

FALSE_ALARM = 1e-6
DRAWS = 1000
TIGHT = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


def cvxpy_optimum(problem):
    problem.solve(solver=cp.CLARABEL, **TIGHT)
    return problem.value


def violation(problem):
    """By how much the values of the variables break the user's own constraints and attributes."""
    worst = max((float(np.max(c.violation())) for c in problem.constraints), default=0.0)
    for variable in problem.variables():
        value, attributes = np.asarray(variable.value), variable.attributes
        if attributes["nonneg"]:
            worst = max(worst, float(-np.min(value)))
        if attributes["nonpos"]:
            worst = max(worst, float(np.max(value)))
        if attributes.get("bounds") is not None:
            low, high = attributes["bounds"]
            worst = max(worst, float(np.max(np.asarray(low) - value)), float(np.max(value - np.asarray(high))))
        if attributes["PSD"]:
            worst = max(worst, float(-np.linalg.eigvalsh(value)[0]))
    return worst


def set_values(plan, columns):
    for variable in plan.model.problem.variables():
        variable.save_value(np.asarray(plan.model.value_of(variable, columns)))


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_the_suite_agrees_with_cvxpy_under_noise_and_at_the_decision(function):
    case = make(function)
    optimum = cvxpy_optimum(case.problem)
    plan = case.plan()
    report = plan.solve(draws=50)
    assert report.optimum == pytest.approx(optimum, rel=1e-7, abs=1e-7)
    if plan.ask.strategy != "program":
        released = plan.release(not_recorded=True)
        assert released.decision is None and np.isfinite(released.answer)
        return
    noise_violates_at_most_eta(case, plan)
    released_number_is_the_users_expression(case, plan)


def noise_violates_at_most_eta(case, plan):
    """x(ζ) = x̄ + Xζ through the user's own variables: a binomial test with a false alarm in 10⁶ runs."""
    rule = plan.rule()
    eta = 0.0 if rule.bound is not None else plan.ask.eta
    epigraph = [k for k, kind in enumerate(plan.model.form.kinds()) if kind == "epigraph"]
    sign = plan.model.sign
    bad = 0
    for noise in rule.draw(DRAWS):
        columns = rule.at(noise)
        set_values(plan, columns)
        scale = max(1.0, float(np.abs(columns).max()))
        broken = violation(case.problem) > 1e-6 * scale
        if epigraph:
            cost = sign * case.problem.objective.value
            broken = broken or cost > columns[epigraph[0]] + plan.model.form.d + 1e-6 * scale
        bad += broken
    allowed = int(binom.isf(FALSE_ALARM, DRAWS, eta)) if eta else 0
    assert bad <= allowed, f"{bad} of {DRAWS} draws violate the constraints; η = {eta} allows {allowed}"


def released_number_is_the_users_expression(case, plan):
    released = plan.release(not_recorded=True)
    released.assign()
    if plan.model.query.kind == "at-most":
        # A bound: the epigraph at the decision, in the user's own direction.
        (at,) = [k for k, kind in enumerate(plan.model.form.kinds()) if kind == "epigraph"]
        bound = released.decision._columns[at]
        assert released.answer == pytest.approx(plan.model.sign * (bound + plan.model.form.d), rel=1e-7, abs=1e-7)
        return
    if isinstance(case.release, str):
        assert released.answer == pytest.approx(case.problem.objective.value, rel=1e-7, abs=1e-7)
    elif isinstance(case.release, list):
        for item, expression in zip(plan.model.query.items, case.release):
            np.testing.assert_allclose(released.answer[item.name], expression.value, rtol=1e-7, atol=1e-7)
    else:
        np.testing.assert_allclose(released.answer, case.release.value, rtol=1e-7, atol=1e-7)


def test_the_suite_has_at_least_a_hundred_problems():
    assert len(CASES) >= 100
