"""The lines that a user writes, and what they return."""

import json

import conveil
import cvxpy as cp
import numpy as np
import pytest

DEMAND = np.array([210.0, 340.0, 120.0])


def dispatch():
    generation, shed = cp.Variable(3, name="generation", nonneg=True), cp.Variable(name="shed", nonneg=True)
    d = cp.Parameter(3, name="demand", nonneg=True, value=DEMAND)
    cost = np.array([20.0, 35.0, 60.0]) @ generation + 900 * shed
    problem = cp.Problem(cp.Minimize(cost), [cp.sum(generation) + shed == cp.sum(d), generation <= 400, shed <= 2400])
    return problem, generation, shed, d


def plan_of(problem, d, **more):
    ask = {
        "epsilon": 1.0,
        "adjacency": conveil.one_entry(10),
        "bounds": {d: (0, 800)},
        "price": 1000,
        "eta": 0.01,
        "nominal": {d: 200.0},
    }
    return conveil.privatize(problem, private=[d], release="value", **{**ask, **more})


def test_the_lines_of_the_readme(tmp_path):
    problem, generation, shed, d = dispatch()
    plan = plan_of(problem, d)
    assert "ε = 1" in str(plan.guarantee) and plan.guarantee.basis == "envelope" and plan.guarantee.epsilon == 1.0
    assert isinstance(plan.warnings, list) and not plan.check().private
    report = plan.solve()
    problem.solve(solver=cp.CLARABEL)
    assert report.optimum == pytest.approx(problem.value, rel=1e-7) and report.private
    frame = plan.compare(draws=100).to_frame()
    assert set(frame["strategy"]) >= {"input", "output", "program"}
    assert set(plan.explain().to_frame()["what"]) >= {"ε", "η"}
    figure = plan.frontier("epsilon").plot()
    assert figure._repr_svg_().startswith("<svg") and "private" in figure.svg

    ledger = tmp_path / "budget.sqlite"
    plan.create_budget(ledger, "loads-2026", epsilon=2.0)
    r = plan.release(ledger=ledger, dataset="loads-2026")
    assert r.card["differentially_private"] is True and r.card["ledger"]["dataset"] == "loads-2026"
    assert json.loads(r.card.to_json())["epsilon"] == 1.0
    before = generation.value.copy()
    np.testing.assert_array_equal(generation.value, before)
    r.assign()
    assert generation.value == pytest.approx(r.decision[generation]) and float(shed.value) == pytest.approx(
        r.decision[shed]
    )
    np.testing.assert_array_equal(d.value, DEMAND)
    assert np.sum(generation.value) + float(shed.value) == pytest.approx(DEMAND.sum(), abs=1e-5)

    plan.release(ledger=ledger, dataset="loads-2026")
    with pytest.raises(conveil.OverBudget):
        plan.release(ledger=ledger, dataset="loads-2026")


def test_a_release_needs_a_ledger_or_the_word_that_there_is_none():
    problem, _, _, d = dispatch()
    plan = plan_of(problem, d)
    with pytest.raises(conveil.InputError, match="not_recorded=True"):
        plan.release()
    assert plan.release(not_recorded=True).card["ledger"] is None


def test_nominal_values_are_public():
    problem, generation, _, d = dispatch()
    plan = plan_of(problem, d)
    d.value = None
    report = plan.solve(at="nominal")
    assert report.private is False and report.optimum == pytest.approx(400 * 20 + 200 * 35, rel=1e-7)
    assert plan.frontier("eta", [0.01, 0.1], at="nominal").private is False
    assert "private" not in plan.frontier("eta", [0.01, 0.1], at="nominal").plot().svg


def test_a_plan_reports_the_time_of_the_bridge_and_of_public_solves_apart():
    problem, _, _, d = dispatch()
    seconds = plan_of(problem, d).seconds
    assert set(seconds) == {"bridge", "agreement", "public solves"} and all(s >= 0 for s in seconds.values())


def test_values_that_lie_outside_the_bounds_are_clipped_and_said():
    problem, _, _, d = dispatch()
    plan = plan_of(problem, d, bounds={d: (0, 300)})
    report = plan.solve()
    assert report.data["clipped"] and "demand[1]" in str(report.data["clipped"])


def test_the_answer_of_a_maximum_is_the_users_own_number():
    x, d = cp.Variable(2, name="x"), cp.Parameter(2, name="d", value=np.array([1.0, 2.0]))
    problem = cp.Problem(cp.Maximize(3 * x[0] + x[1] + 7), [x <= d, x >= 0])
    plan = conveil.privatize(
        problem, [d], "value", epsilon=1.0, adjacency=conveil.one_entry(0.01), bounds={d: (0, 5)}, price=5, eta=0.05
    )
    r = plan.release(not_recorded=True)
    r.assign()
    assert r.answer == pytest.approx(problem.objective.value, abs=1e-6)
    assert r.card["answer"][0]["value"] == r.answer
    assert plan.solve().answer < 12.0 == pytest.approx(plan.solve().optimum, rel=1e-7)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"private": []}, "private="),
        ({"private": ["d"]}, "cvxpy.Parameter"),
        ({"release": "cost"}, "value"),
        ({"release": []}, "empty"),
        ({"release": 5}, "no variable"),
        ({"adjacency": 10}, "one_entry"),
        ({"price": None}, "price="),
        ({"sensitivity": 3.0}, "not both"),
        ({"price": None, "sensitivity": 3.0}, "declared"),
        ({"eta": None}, "eta="),
        ({"epsilon": -1}, "epsilon="),
        ({"epsilon": "a"}, "epsilon="),
        ({"mechanism": "geometric"}, "mechanism="),
        ({"delta": 1e-5, "mechanism": "laplace"}, "delta="),
        ({"mechanism": "gaussian"}, "delta="),
        ({"strategy": "inputs"}, "strategy="),
        ({"bounds": [0, 1]}, "dictionary"),
        ({"bounds": {"d": (0, 1)}}, "private parameters"),
        ({"nominal": {"d": 1}}, "private parameters"),
        ({"slope": 3}, "slope="),
        ({"decisions": ["x"]}, "decisions="),
    ],
)
def test_a_request_that_makes_no_sense_names_its_argument(change, word):
    problem, _, _, d = dispatch()
    ask = {
        "private": [d],
        "release": "value",
        "epsilon": 1.0,
        "adjacency": conveil.one_entry(10),
        "bounds": {d: (0, 800)},
        "price": 1000,
        "eta": 0.01,
    }
    with pytest.raises(conveil.InputError, match=word):
        conveil.privatize(problem, **{**ask, **change})


@pytest.mark.parametrize(
    ("bounds", "word"),
    [
        ((5, 1), "below"),
        ((0,), "pair"),
        (3, "pair"),
        ((0, np.inf), "finite"),
        ((np.zeros(2), 1), "shape"),
        ((-5, 800), "nonnegative"),
    ],
)
def test_bounds_that_make_no_sense_are_named(bounds, word):
    problem, _, _, d = dispatch()
    with pytest.raises(conveil.InputError, match=word):
        plan_of(problem, d, bounds={d: bounds}, nominal=None)


def test_a_nominal_value_outside_the_bounds_is_named():
    problem, _, _, d = dispatch()
    with pytest.raises(conveil.InputError, match="outside its bounds"):
        plan_of(problem, d, nominal={d: 900.0})


def test_adjacencies_and_sensitivities_state_themselves():
    assert conveil.l1(2).alpha == 2.0 and conveil.l2(3, unit="MW").unit == "MW" and conveil.one_record(4).record == 4
    with pytest.raises(conveil.InputError, match="above 0"):
        conveil.one_entry(0)
    with pytest.raises(conveil.InputError, match="reason="):
        conveil.declared(1.0)
    with pytest.raises(conveil.InputError, match="per_alpha"):
        conveil.declared(reason="none")
    assert conveil.declared(per_alpha=2.0, reason="why").by == "declared"


def test_terms_that_no_decision_changes_are_part_of_every_number():
    x, d = cp.Variable(2, name="x"), cp.Parameter(2, name="d", value=np.array([3.0, 4.0]))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - d)), [cp.sum(x) <= 5, x >= 0])
    plan = conveil.privatize(
        problem,
        [d],
        x,
        epsilon=1.0,
        adjacency=conveil.one_entry(0.05),
        eta=0.05,
        sensitivity=conveil.strong_convexity(),
    )
    problem.solve(solver=cp.CLARABEL)
    report, compared, frontier = plan.solve(), plan.compare(draws=50), plan.frontier("eta", [0.05])
    assert report.optimum == pytest.approx(problem.value, rel=1e-6) == pytest.approx(2.0, rel=1e-6)
    assert compared["optimum"] == pytest.approx(2.0, rel=1e-6) and frontier["optimum"] == pytest.approx(2.0, rel=1e-6)
    (row,) = frontier["rows"]
    assert row["objective"] == pytest.approx(report.objective, rel=1e-6)
    assert row["loss_percent"] == pytest.approx(report.loss_percent, rel=1e-4)
    assert "no decision changes" in str(report) and "no decision changes" in str(compared)


def test_warnings_about_the_data_reach_the_curator_and_no_card():
    problem, _, _, d = dispatch()
    d.value = np.array([210.0, 900.0, 120.0])
    plan = plan_of(problem, d)
    assert plan.warnings == [] or not any("outside" in w for w in plan.warnings)
    r = plan.release(not_recorded=True)
    for heard in (plan.solve(), plan.compare(draws=10), plan.explain(), plan.frontier(values=[1.0]), r):
        (warning,) = [w for w in heard.warnings if "outside" in w]
        assert "demand[1]" in warning and "outside its public bounds" in warning and "800" in warning
    assert str(plan.solve()).endswith(f"warning: {plan.solve().warnings[0]}")
    assert "outside its public bounds" not in str(r.card) and "outside its public bounds" not in r.card.to_json()
    # Public values have nothing to warn of.
    assert plan.solve(at="nominal").warnings == []


def test_noise_from_a_seed_is_for_studies_alone():
    problem, _, _, d = dispatch()
    with pytest.raises(conveil.InputError, match="not_private=True"):
        plan_of(problem, d).release(not_recorded=True, seed=3)
