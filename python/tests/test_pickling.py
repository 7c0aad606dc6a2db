"""Plans and their results travel to another process and back, unchanged."""

import pickle
import struct
import subprocess
import sys

import conveil
import cvxpy as cp
import numpy as np
import pytest

VERBS = {
    "plan": lambda plan: plan,
    "guarantee": lambda plan: plan.guarantee,
    "check": lambda plan: plan.check(),
    "solve": lambda plan: plan.solve(),
    "compare": lambda plan: plan.compare(draws=20),
    "explain": lambda plan: plan.explain(),
    "frontier": lambda plan: plan.frontier("epsilon"),
    "release": lambda plan: plan.release(not_recorded=True),
}

# CVXPY numbers its objects from zero in every process: those of the child have the numbers of the parent's.
CHILD = """
import pickle, sys
import cvxpy as cp, numpy as np
mine = [cp.Variable(3, name=f"v{i}") for i in range(40)]
limits = [cp.Parameter(3, value=np.full(3, 7.0)) for _ in mine]
problem = cp.Problem(cp.Minimize(cp.sum(cp.hstack(mine))), [v >= p for v, p in zip(mine, limits)])
problem.solve(solver=cp.CLARABEL)
plan = pickle.load(sys.stdin.buffer)
assert plan.private[0].value is None
plan.private[0].value = np.array([210.0, 340.0, 120.0])
study = plan.release(not_private=True, seed=3)
sys.stdout.buffer.write(pickle.dumps((plan.solve().optimum, float(study.answer), problem.value)))
"""


@pytest.fixture(scope="module")
def plan():
    d = cp.Parameter(3, name="demand", nonneg=True, value=np.array([210.0, 340.0, 120.0]))
    made, shed = cp.Variable(3, name="made", nonneg=True), cp.Variable(name="shed", nonneg=True)
    cost = np.array([20.0, 35.0, 60.0]) @ made + 900 * shed
    problem = cp.Problem(cp.Minimize(cost), [cp.sum(made) + shed == cp.sum(d), made <= 400, shed <= 2400])
    return conveil.privatize(
        problem, [d], epsilon=1.0, adjacency=conveil.one_entry(10), bounds={d: (0, 800)}, price=1000, eta=0.01
    )


@pytest.mark.parametrize("verb", VERBS)
def test_a_result_is_the_same_after_pickling(plan, verb):
    result = VERBS[verb](plan)
    again = pickle.loads(pickle.dumps(result))
    assert type(again) is type(result) and str(again) == str(result)


def test_a_plan_gives_the_same_answers_in_a_process_with_other_problems(plan):
    child = subprocess.run([sys.executable, "-c", CHILD], input=pickle.dumps(plan), capture_output=True, timeout=300)
    assert child.returncode == 0, child.stderr.decode()
    optimum, answer, others = pickle.loads(child.stdout)
    assert optimum == plan.solve().optimum == pytest.approx(20 * 400 + 35 * 270)
    assert answer == float(plan.release(not_private=True, seed=3).answer)
    assert others == pytest.approx(40 * 3 * 7.0)


def test_a_pickled_plan_holds_no_private_value(plan):
    secret = 123.456789
    d = cp.Parameter(name="d", value=secret)
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [x >= d, x <= 1000])
    problem.solve(solver=cp.CLARABEL)
    ask = {"epsilon": 1.0, "eta": 0.05, "adjacency": conveil.one_entry(0.05)}
    plan = conveil.privatize(problem, d, sensitivity=conveil.declared(0.1, "two variables"), **ask)
    plan.solve()
    for number in (secret, float(x.value[0]), float(problem.value)):
        assert struct.pack("<d", number) not in pickle.dumps(plan)
    again = pickle.loads(pickle.dumps(plan))
    with pytest.raises(conveil.InputError, match="`d` has no value"):
        again.solve()
    again.private[0].value = 200.0
    assert again.solve().optimum == pytest.approx(400.0)
    assert d.value == secret and x.value is not None
