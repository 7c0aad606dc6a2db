"""A plan is public: no private value is read, and nothing of the user's is touched."""

import threading

import conveil
import cvxpy as cp
import numpy as np
import pytest
from bridge_cases import CASES, DECLARED, make

ASK = {"epsilon": 1.0, "adjacency": conveil.one_entry(0.05), "eta": 0.05, "sensitivity": DECLARED}


class Guarded(cp.Parameter):
    """A parameter whose value nobody may read or write."""

    @property
    def value(self):
        raise AssertionError("a private value was read")

    @value.setter
    def value(self, _):
        raise AssertionError("a private value was written")

    def save_value(self, *_args, **_more):
        raise AssertionError("a private value was written")


def guarded(shape, **attributes):
    parameter = Guarded.__new__(Guarded)
    # The constructor of a leaf stores an empty value; that is the last time that it is touched.
    Guarded.value, kept = cp.Parameter.value, Guarded.value
    Guarded.save_value, saved = cp.Parameter.save_value, Guarded.save_value
    try:
        cp.Parameter.__init__(parameter, shape, **attributes)
    finally:
        Guarded.value, Guarded.save_value = kept, saved
    return parameter


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_a_plan_needs_no_private_values(function):
    case = make(function)
    for parameter in case.private:
        parameter.value = None
    plan = case.plan()
    assert plan.guarantee.epsilon == 1.0 and plan.check().private is False
    assert all(parameter.value is None for parameter in case.private)
    assert all(variable.value is None for variable in case.problem.variables())


@pytest.mark.parametrize("release", ["value", "x"])
def test_a_plan_reads_no_value_of_a_guarded_parameter(release):
    x = cp.Variable(3, name="x")
    d = guarded(3, name="d")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - d) + cp.sum(x)), [x >= d, cp.norm(x) <= 50])
    more = {"slope": cp.sum(x)} if release == "value" else {}
    plan = conveil.privatize(
        problem, [d], x if release == "x" else "value", bounds={d: (0, 5)}, nominal={d: 2.0}, **more, **ASK
    )
    assert str(plan.guarantee) and plan.check().text and isinstance(plan.warnings, list)
    report = plan.solve(at="nominal", draws=10)
    assert report.private is False


def test_the_gradient_at_the_nominal_values_touches_nothing():
    x, d = cp.Variable(3, name="x"), guarded(3, name="d")
    x.value = np.array([7.0, 8.0, 9.0])
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - d)), [cp.sum(x) <= 4])
    conveil.privatize(problem, [d], "value", nominal={d: 2.0}, **ASK)
    np.testing.assert_array_equal(x.value, [7.0, 8.0, 9.0])


def test_a_failed_plan_leaves_values_as_they_were(monkeypatch):
    x, d = cp.Variable(3, name="x"), cp.Parameter(3, name="d", value=np.array([1.0, 2.0, 3.0]))
    from conveil._bridge import agree

    monkeypatch.setattr(agree, "_same", lambda *_: (_ for _ in ()).throw(agree.BridgeError("for the test")))
    with pytest.raises(agree.BridgeError):
        conveil.privatize(cp.Problem(cp.Minimize(cp.sum(x)), [x >= d]), [d], "value", **ASK)
    np.testing.assert_array_equal(d.value, [1.0, 2.0, 3.0])
    assert x.value is None


def test_another_thread_never_sees_another_value_while_plans_are_made():
    x, d = cp.Variable(3, name="x"), cp.Parameter(3, name="d", value=np.array([1.0, 2.0, 3.0]))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - d)), [x >= d, x <= 9])
    seen, stop = set(), threading.Event()

    def watch():
        while not stop.is_set():
            seen.add(tuple(d.value))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for _ in range(5):
            conveil.privatize(problem, [d], x, nominal={d: 2.0}, bounds={d: (0, 9)}, **ASK).solve(at="nominal")
    finally:
        stop.set()
        watcher.join()
    assert seen == {(1.0, 2.0, 3.0)}


def test_public_parameters_need_values_and_keep_them():
    x, d, p = cp.Variable(2, name="x"), cp.Parameter(2, name="d", value=[1.0, 2.0]), cp.Parameter(name="price")
    problem = cp.Problem(cp.Minimize(p * cp.sum(x)), [x >= d, x <= 9])
    with pytest.raises(conveil.InputError, match="`price` has no value: it is public"):
        conveil.privatize(problem, [d], "value", **ASK)
    p.value = 3.0
    plan = conveil.privatize(problem, [d], "value", **ASK)
    assert plan.solve().optimum == pytest.approx(9.0, rel=1e-7)
    p.value = 4.0
    with pytest.raises(conveil.InputError, match="`price` has another value"):
        plan.solve()


def test_a_private_parameter_without_value_is_named_when_it_is_needed():
    x, d = cp.Variable(2, name="x"), cp.Parameter(2, name="demand")
    plan = conveil.privatize(cp.Problem(cp.Minimize(cp.sum(x)), [x >= d, x <= 9]), [d], "value", **ASK)
    with pytest.raises(conveil.InputError, match="`demand` has no value"):
        plan.solve()
    with pytest.raises(conveil.InputError, match="nominal"):
        plan.solve(at="nominal")


def test_cvxpy_is_imported_only_for_a_problem():
    import subprocess
    import sys

    code = "import conveil, sys; assert 'cvxpy' not in sys.modules and 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
