"""Private numbers anywhere in a CVXPY problem: `saddle` and `auto`."""

import conveil
import cvxpy as cp
import numpy as np
import pytest
from conveil._phrases import SPEC_WORDS

PROTEIN = np.array([8.3, 45.2, 33.1])
PRICES = np.array([210.0, 430.0, 300.0])
CAPS = np.array([80.0, 40.0, 30.0])
BOUNDS = ([6, 40, 30], [11, 50, 38])
ASK = {"epsilon": 1.0, "adjacency": conveil.one_entry(0.2)}


def recipe(objective=None, limits=True):
    """A mix of three ingredients with private contents: the problem, its parameter, its variable and the row of the contents."""
    content = cp.Parameter(3, name="protein of", value=PROTEIN)
    mix = cp.Variable(3, name="mix")
    need = content @ mix / 100 >= 18
    constraints = [need, cp.sum(mix) == 100]
    if limits:
        constraints += [mix >= 0, mix <= CAPS]
    cost = PRICES @ mix if objective is None else objective(mix)
    return cp.Problem(cp.Minimize(cost), constraints), content, mix, need


def planned(sensitivity, release="value", objective=None, limits=True, **more):
    problem, content, mix, need = recipe(objective, limits)
    ask = {"eta": 0.05, **ASK, **more}
    what = {"value": "value", "mix": mix}[release]
    given = sensitivity(need) if callable(sensitivity) else sensitivity
    return conveil.privatize(problem, [content], what, sensitivity=given, bounds={content: BOUNDS}, **ask), problem


def test_the_value_with_a_private_recipe_has_the_sensitivity_of_price_times_limit():
    plan, problem = planned(conveil.saddle(price=1000))
    assert "saddle value" in plan.check().text
    # One percent of the largest limit, at the price.
    assert plan.check().data["guarantee"]["sensitivity"] == pytest.approx(1000 * 80 * 0.2 / 100, rel=0.01)
    report = plan.solve()
    problem.solve()
    assert report.optimum == pytest.approx(problem.value, rel=1e-6)
    assert plan.release(not_recorded=True).decision is not None


def test_a_price_is_given_by_constraint_by_its_name_or_for_all():
    found = {
        planned(sensitivity)[0].check().data["guarantee"]["sensitivity"]
        for sensitivity in (
            lambda need: conveil.saddle(prices={need: 1000}),
            lambda need: conveil.saddle(prices={str(need): 1000}),
            lambda need: conveil.saddle(price=1, prices={need: 1000}),
            conveil.saddle(price=1000),
        )
    }
    assert len(found) == 1


def test_a_price_of_one_row_of_a_vector():
    need = cp.Parameter(2, name="need", value=np.array([3.0, 4.0]))
    x = cp.Variable(2, name="x")
    rows = x >= need
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [rows, x <= 9])
    for name in ("(need <= x)", rows):
        plan = conveil.privatize(
            problem, [need], "value", eta=0.05, sensitivity=conveil.saddle(prices={name: 7.0}), bounds={need: (0, 6)}, **ASK
        )
        assert "at 7 per unit" in plan.check().text
    prices = {"(need <= x)[0]": 3.0, "(need <= x)[1]": 7.0}
    plan = conveil.privatize(
        problem, [need], "value", eta=0.05, sensitivity=conveil.saddle(prices=prices), bounds={need: (0, 6)}, **ASK
    )
    assert "at 3 to 7 per unit" in plan.check().text


def test_variables_of_a_curved_problem_with_a_private_recipe():
    curved = lambda mix: PRICES @ mix + cp.sum_squares(mix)  # noqa: E731
    terms = conveil.saddle(price=1000, width=1e-4)
    plan, problem = planned(terms, "mix", curved, strategy="output", eta=None)
    assert "saddle point" in plan.check().text
    problem.solve()
    # The margin is width times price, 0.1 t of protein.
    assert plan.solve().answer == pytest.approx(problem.variables()[0].value, abs=2.0)
    with pytest.raises(conveil.Refused) as refused:
        planned(terms, "mix", strategy="output", eta=None)
    assert "no curvature" in refused.value.why and "curvature" in refused.value.instead


def test_a_private_coefficient_in_the_objective():
    c = cp.Parameter(2, name="c", value=np.array([1.0, -2.0]))
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(c @ x + 0.5 * cp.sum_squares(x)), [x <= 1, x >= -1])
    plan = conveil.privatize(problem, c, "value", sensitivity=conveil.saddle(), strategy="output", **ASK)
    # |x| is at most 1.
    assert plan.check().data["guarantee"]["sensitivity"] == pytest.approx(0.2, rel=0.01)
    assert plan.solve().answer == pytest.approx(-0.5 - 1.5, abs=1e-4)
    linear = cp.Problem(cp.Minimize(c @ x), [x <= 1, x >= -1])
    plan = conveil.privatize(linear, c, "value", sensitivity=conveil.auto(), strategy="output", **ASK)
    assert plan.solve().answer == pytest.approx(-3.0, abs=1e-4)


def test_auto_lists_what_it_considered():
    plan, _ = planned(conveil.auto(price=1000, width=1e-4))
    check = plan.check()
    considered = check.data["guarantee"]["basis"]["considered"]
    assert [c["by"] for c in considered if c["chosen"]] == ["saddle"]
    assert all(("sensitivity" in c) != ("why_not" in c) for c in considered)
    lines = check.text[check.text.index("considered by auto") :].splitlines()[1:]
    for one, line in zip(considered, lines):
        assert line.startswith(f"  {one['by']}")
    assert not SPEC_WORDS.search(check.text), SPEC_WORDS.search(check.text)
    assert not SPEC_WORDS.search(plan.check(details=True).text)


@pytest.mark.parametrize(
    ("sensitivity", "words"),
    [
        (conveil.saddle(), ["has no price", 'prices={"', "price=1000.0"]),
        (conveil.saddle(prices={"need of protein": 3}), ["`need of protein`", "no row with private numbers"]),
        (conveil.auto(), ["no certificate applies", "price=1000.0"]),
    ],
)
def test_refusals_are_in_the_words_of_privatize(sensitivity, words):
    with pytest.raises(conveil.InputError) as refused:
        planned(sensitivity, limits=False)
    said = str(refused.value)
    for word in words:
        assert word in said, said
    assert not SPEC_WORDS.search(said), (SPEC_WORDS.search(said), said)


def test_a_variable_without_limits_is_named():
    with pytest.raises(conveil.Refused) as refused:
        planned(conveil.saddle(price=1000), limits=False)
    assert "`mix[0]`" in refused.value.why and "public bounds on `mix[0]`" in refused.value.instead
    assert "A[" not in str(refused.value), refused.value


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: conveil.saddle(price=0),
        lambda: conveil.saddle(price=True),
        lambda: conveil.saddle(prices=[3.0]),
        lambda: conveil.saddle(prices={"need": -1.0}),
        lambda: conveil.saddle(price=1, width=np.inf),
        lambda: conveil.auto(curvature="much"),
        lambda: planned(conveil.saddle(prices={3: 1.0})),
        lambda: planned(conveil.saddle(prices={cp.Variable() >= 0: 1.0})),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(wrong):
    with pytest.raises(conveil.InputError):
        wrong()
