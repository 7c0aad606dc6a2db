"""The bridge against conic forms that were written by hand: the same noise, mean, objective and answer."""

import json

import conveil
import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from conveil import _core

ASK = {"epsilon": 1.0, "adjacency": conveil.one_entry(0.05), "eta": 0.05}
DECLARED = 'sensitivity = { by = "declared", value = 0.05, reason = "a number for the test" }'
OWN = conveil.declared(0.05, "a number for the test")


def columns(matrix):
    matrix = sp.csc_array(matrix)
    matrix.sort_indices()
    m, n = matrix.shape
    return {
        "m": m,
        "n": n,
        "colptr": matrix.indptr.tolist(),
        "rowval": matrix.indices.tolist(),
        "nzval": matrix.data.tolist(),
    }


def by_hand(P, q, A, b, cones, variables, parameters, query, sensitivity, theta, extra=""):
    """Solves a conic form that was written by hand."""
    n = len(q)
    problem = json.dumps(
        {
            "P": columns(sp.triu(sp.csc_array(P if P is not None else (n, n)))),
            "q": list(map(float, q)),
            "A": columns(np.asarray(A, float)),
            "b": list(map(float, b)),
            "cones": cones,
        }
    )
    lines = ["[problem]", 'model = "conic"', 'file = "hand.json"']
    for name, size, stage in variables:
        lines += ["[[problem.variable]]", f'name = "{name}"', f"size = {size}", f'stage = "{stage}"']
    lines += [extra, "[private]", 'adjacency = { kind = "one-entry", alpha = 0.05 }', 'data = "theta.csv"']
    for name, at, more in parameters:
        lines += ["[[private.parameter]]", f'name = "{name}"', f"at = {at}", more]
    lines += [
        "[query]",
        query,
        "[privacy]",
        'mechanism = "laplace"',
        "epsilon = 1.0",
        sensitivity,
        "[feasibility]",
        "eta = 0.05",
        "",
    ]
    bench = _core.Bench("\n".join(lines), {"hand.json": problem}, "by hand")
    values = "parameter,value\n" + "".join(
        f"{name},{value!r}\n" for (name, _, _), value in zip(parameters, map(float, theta))
    )
    document, _ = bench.solve({"theta.csv": values})
    return json.loads(document)


def assert_same(report, hand, mean, tolerance=1e-6):
    assert report["scale"] == pytest.approx(hand["scale"], rel=1e-12)
    assert report["loss"] == pytest.approx(hand["loss"], abs=tolerance)
    assert [v for _, v in report["answer"]] == pytest.approx([v for _, v in hand["answer"]], abs=tolerance)
    if mean:
        assert [v for _, v in report["mean"]] == pytest.approx([v for _, v in hand["mean"]], abs=1e-5)


def test_a_linear_program_with_an_envelope():
    c, theta = np.array([1.0, 2.0]), np.array([1.0, 2.0])
    x, d = cp.Variable(2, name="x"), cp.Parameter(2, name="d", value=theta)
    plan = conveil.privatize(
        cp.Problem(cp.Minimize(c @ x), [x >= d, x <= 10]), [d], "value", bounds={d: (0, 6)}, price=10, **ASK
    )
    hand = by_hand(
        None,
        c,
        np.vstack([-np.eye(2), np.eye(2)]),
        [0, 0, 10, 10],
        [{"NonnegativeConeT": 2}, {"NonnegativeConeT": 2}],
        [("x", 2, "decision")],
        [(f"d{i}", f'[{{ in = "b", row = {i}, coef = -1.0 }}]', "bounds = [0.0, 6.0]") for i in range(2)],
        'release = "cost"',
        'sensitivity = { by = "envelope", price = 10.0 }',
        theta,
    )
    assert_same(plan.solve().data, hand, mean=False)


def test_a_second_order_cone():
    c, theta = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
    x, d = cp.Variable(3, name="x"), cp.Parameter(3, name="d", value=theta)
    plan = conveil.privatize(
        cp.Problem(cp.Minimize(c @ x), [cp.norm(x - d) <= 3]), [d], "value", sensitivity=OWN, **ASK
    )
    hand = by_hand(
        None,
        c,
        np.vstack([np.zeros((1, 3)), -np.eye(3)]),
        [3, 0, 0, 0],
        [{"SecondOrderConeT": 4}],
        [("x", 3, "decision")],
        [(f"d{i}", f'[{{ in = "b", row = {i + 1}, coef = -1.0 }}]', "") for i in range(3)],
        'release = "cost"',
        DECLARED,
        theta,
    )
    assert_same(plan.solve().data, hand, mean=True)


def test_least_squares_by_strong_convexity():
    regressors, theta = np.array([[1.0, 0], [1, 1], [1, 2], [1, 3]]), np.array([1.0, 2.0, 2.5, 4.0])
    w, y = cp.Variable(2, name="w"), cp.Parameter(4, name="y", value=theta)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(regressors @ w - y)), [w[1] >= 0])
    plan = conveil.privatize(problem, [y], w, sensitivity=conveil.strong_convexity(), **ASK)
    places = [
        ", ".join(
            f'{{ in = "q", column = {j}, coef = {float(-2 * regressors[i, j])!r} }}'
            for j in range(2)
            if regressors[i, j]
        )
        for i in range(4)
    ]
    hand = by_hand(
        2 * regressors.T @ regressors,
        np.zeros(2),
        [[0.0, -1.0]],
        [0.0],
        [{"NonnegativeConeT": 1}],
        [("w", 2, "decision")],
        [(f"y{i}", f"[{places[i]}]", "") for i in range(4)],
        'release = "identity"\nshape = "curvature"',
        'sensitivity = { by = "strong-convexity" }',
        theta,
    )
    assert_same(plan.solve().data, hand, mean=True)


def test_the_epigraph_of_a_norm():
    theta = np.array([1.0, 2.0])
    x, d = cp.Variable(2, name="x"), cp.Parameter(2, name="d", value=theta)
    problem = cp.Problem(cp.Minimize(cp.norm(x - d)), [cp.sum(x) <= 1, x >= -10])
    plan = conveil.privatize(problem, [d], "value", slope=-cp.sum(x), sensitivity=OWN, **ASK)
    A = np.array([[1.0, 1, 0], [-1, 0, 0], [0, -1, 0], [0, 0, -1], [-1, 0, 0], [0, -1, 0]])
    hand = by_hand(
        None,
        [0, 0, 1],
        A,
        [1, 10, 10, 0, 0, 0],
        [{"NonnegativeConeT": 1}, {"NonnegativeConeT": 2}, {"SecondOrderConeT": 3}],
        [("x", 2, "decision"), ("t", 1, "epigraph")],
        [(f"d{i}", f'[{{ in = "b", row = {i + 4}, coef = -1.0 }}]', "") for i in range(2)],
        'release = "at-most"\nepigraph = "t"\nslope = { "x[0]" = -1.0, "x[1]" = -1.0 }',
        DECLARED,
        theta,
    )
    assert_same(plan.solve().data, hand, mean=True)


def test_a_norm_in_the_objective_is_priced_at_the_mean():
    theta = np.array([1.0, 2.0])
    x, d = cp.Variable(2, name="x"), cp.Parameter(2, name="d", value=theta)
    problem = cp.Problem(cp.Minimize(cp.norm(x - d)), [cp.sum(x) <= 1, x >= -10])
    plan = conveil.privatize(problem, [d], cp.sum(x), sensitivity=OWN, **ASK)
    A = np.array([[1.0, 1, 0], [-1, 0, 0], [0, -1, 0], [0, 0, -1], [-1, 0, 0], [0, -1, 0]])
    names = '[[problem.constraint]]\nname = "sum"\n[[problem.constraint]]\nname = "low"\n[[problem.constraint]]\nname = "norm"\nholds = "at-the-mean"'
    hand = by_hand(
        None,
        [0, 0, 1],
        A,
        [1, 10, 10, 0, 0, 0],
        [{"NonnegativeConeT": 1}, {"NonnegativeConeT": 2}, {"SecondOrderConeT": 3}],
        [("x", 2, "decision"), ("t", 1, "here-and-now")],
        [(f"d{i}", f'[{{ in = "b", row = {i + 4}, coef = -1.0 }}]', "") for i in range(2)],
        'release = "weighted"\nweights = { "x[0]" = 1.0, "x[1]" = 1.0 }',
        DECLARED,
        theta,
        names,
    )
    report = plan.solve(draws=10)
    assert report.value(x) == pytest.approx([v for _, v in hand["mean"]][:2], abs=1e-5)
    assert_same(report.data, hand, mean=False)


def test_maximising_is_minimising_the_negative():
    theta = np.array([1.0, 2.0])
    x, d = cp.Variable(2, name="x"), cp.Parameter(2, name="d", value=theta)
    most = conveil.privatize(
        cp.Problem(cp.Maximize(x[0] + 2 * x[1] + 4), [x <= d, x >= 0]), [d], "value", sensitivity=OWN, **ASK
    )
    least = conveil.privatize(
        cp.Problem(cp.Minimize(-x[0] - 2 * x[1] - 4), [x <= d, x >= 0]), [d], "value", sensitivity=OWN, **ASK
    )
    first, second = most.solve(), least.solve()
    assert first.optimum == pytest.approx(-second.optimum, rel=1e-9) == pytest.approx(9.0, rel=1e-7)
    assert first.answer == pytest.approx(-second.answer, rel=1e-7)
    assert first.answer < first.optimum


OUTPUT = {"epsilon": 1.0, "adjacency": conveil.one_entry(0.05), "strategy": "output"}


@pytest.mark.parametrize("capacity", [[1.0, 0.5], [4.0, 3.0]])
def test_the_value_of_a_quadratic_objective_stays_quadratic(capacity):
    x, d = cp.Variable(2, name="x"), cp.Parameter(2, name="d", value=np.array(capacity))
    profit = 6 * x[0] + 4 * x[1] - cp.quad_form(x, np.diag([1.0, 2.0])) + 7
    problem = cp.Problem(cp.Maximize(profit), [x <= d, x >= 0])
    plan = conveil.privatize(problem, d, "value", price=20.0, bounds={d: (0, 6)}, **OUTPUT)
    assert plan.model.form.P.nnz and plan.model.query.kind == "value"
    report = plan.solve()
    # Each product by itself: the limit, or where its price meets its slope.
    a, b = min(capacity[0], 3.0), min(capacity[1], 1.0)
    expected = 6 * a + 4 * b - a**2 - 2 * b**2 + 7
    assert report.answer == pytest.approx(expected, abs=1e-4)
    assert report.optimum == pytest.approx(expected, abs=1e-6)


def test_the_value_with_private_prices_beside_a_square():
    x, c = cp.Variable(2, name="x"), cp.Parameter(2, name="c", value=np.array([1.0, -2.0]))
    problem = cp.Problem(cp.Minimize(c @ x + 0.5 * cp.sum_squares(x)), [x <= 1, x >= -1])
    plan = conveil.privatize(problem, c, "value", sensitivity=conveil.radius(), **OUTPUT)
    assert plan.solve().answer == pytest.approx(-0.5 - 1.5, abs=1e-4)
    assert "radius" in plan.check().text


def test_squares_of_private_numbers_are_part_of_the_value():
    x, d = cp.Variable(2, name="x"), cp.Parameter(2, name="d", value=np.array([3.0, 0.5]))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - d)), [x <= 1, x >= -1])
    plan = conveil.privatize(problem, d, "value", sensitivity=OWN, **OUTPUT)
    assert plan.solve().answer == pytest.approx(4.0, abs=1e-4)
