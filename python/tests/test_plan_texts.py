"""Texts speak Python: no section, key or flag of a spec reaches whoever calls `privatize`."""

import re
from pathlib import Path

import conveil
import cvxpy as cp
import numpy as np
import pytest
from bridge_cases import C, CASES, D, DECLARED, make
from conveil._phrases import SPEC_WORDS, in_python

ASK = {"epsilon": 1.0, "adjacency": conveil.one_entry(0.05), "eta": 0.05, "sensitivity": DECLARED}


def assert_python(text):
    found = SPEC_WORDS.search(text)
    assert found is None, f"{found.group(0)!r} in: {text}"


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_no_text_of_a_plan_has_words_of_a_spec(function):
    case = make(function)
    plan = case.plan()
    assert_python(str(plan.guarantee))
    assert_python(str(plan.check()))
    assert_python(repr(plan))
    for warning in plan.warnings:
        assert_python(warning)
    assert_python(str(plan.solve(draws=5)))


def test_no_text_of_any_verb_has_words_of_a_spec():
    x, d = cp.Variable((2, 2), name="x"), cp.Parameter((2, 2), name="d", value=np.ones((2, 2)))
    plan = conveil.privatize(cp.Problem(cp.Minimize(cp.sum(x)), [x >= d, x <= 10]), [d], "value", **ASK)
    compared = plan.compare(draws=50)
    for text in (
        compared,
        *compared.advice,
        *compared.to_frame()["status"],
        plan.explain(),
        plan.frontier("epsilon", [0.5, 1.0]),
    ):
        assert_python(str(text))
    released = plan.release(not_recorded=True)
    assert_python(str(released.card))
    assert_python(released.report)
    assert "x[0,1]" in str(plan.solve())


def linear(**more):
    x, d = cp.Variable(3, name="x"), cp.Parameter(3, name="d", value=D)
    problem = cp.Problem(cp.Minimize(C @ x), [x >= d, x <= 10, cp.sum(x) <= 40])
    return problem, x, d, {**ASK, **more}


def fixed_sum():
    _, x, d, ask = linear()
    problem = cp.Problem(cp.Minimize(C @ x), [cp.sum(x) == cp.sum(d), x >= 0])
    return conveil.privatize(problem, [d], cp.sum(x), **ask)


def users_epigraph_as_witness():
    _, x, d, ask = linear()
    t = cp.Variable(name="t")
    return conveil.privatize(cp.Problem(cp.Minimize(t), [C @ x <= t, x >= d, x <= 10]), [d], t, decisions=[x], **ask)


def nothing_can_move():
    _, x, d, ask = linear()
    return conveil.privatize(cp.Problem(cp.Minimize(C @ x), [x >= d, x <= 10]), [d], "value", here_and_now=[x], **ask)


def too_much_noise():
    problem, _, d, ask = linear(sensitivity=conveil.declared(500, "large"))
    return conveil.privatize(problem, [d], "value", **ask).solve()


def infeasible_data():
    problem, _, d, ask = linear()
    plan = conveil.privatize(problem, [d], "value", **ask)
    d.value = 20 * D
    return plan.solve()


def with_(**more):
    def ask_for():
        problem, x, d, ask = linear(**{k: v for k, v in more.items() if k != "release"})
        bounds = ask.pop("bounded", None)
        given = {"bounds": {d: (0, 6)}} if bounds else {}
        if ask.get("price"):
            ask.pop("sensitivity")
        return conveil.privatize(problem, [d], more.get("release", "value"), **given, **ask)

    return ask_for


def without_a_ledger():
    problem, _, d, ask = linear()
    return conveil.privatize(problem, [d], "value", **ask).release()


def a_ledger_that_is_not_there():
    problem, _, d, ask = linear()
    return conveil.privatize(problem, [d], "value", **ask).release(ledger="no-such-ledger.sqlite", dataset="loads")


def nothing_limits_the_released_variable():
    _, x, d, ask = linear()
    return conveil.privatize(cp.Problem(cp.Minimize(cp.norm1(x - d))), [d], x, **ask)


def limits_that_leave_no_room():
    _, x, d, ask = linear(price=10)
    y = cp.Variable(2, name="y")
    problem = cp.Problem(cp.Minimize(C @ x), [x >= d, x <= 10, y >= 1, cp.sum(y) <= 2, x[0] + y[0] <= 20])
    ask.pop("sensitivity")
    return conveil.privatize(problem, [d], "value", bounds={d: (0, 6)}, **ask)


FAILING = [
    fixed_sum,
    users_epigraph_as_witness,
    nothing_can_move,
    too_much_noise,
    infeasible_data,
    without_a_ledger,
    a_ledger_that_is_not_there,
    with_(price=10),
    with_(price=1e-9, bounded=True),
    with_(sensitivity=conveil.radius()),
    with_(sensitivity=conveil.strong_convexity()),
    with_(sensitivity=conveil.sampled()),
    with_(eta=0.7),
    with_(epsilon=1e-320),
    with_(delta=2.0, mechanism="gaussian"),
    with_(delta=0.9, mechanism="truncated-laplace"),
    with_(method="ball"),
    with_(method="bounded"),
    with_(method="nonsense"),
    with_(rows="each", method="mass-box"),
    with_(split=2.0),
    with_(split="optimise"),
    with_(factor="gaussian"),
    with_(strategy="projected"),
    with_(tolerance=5.0),
    with_(threads=0),
    with_(adjacency=conveil.one_record(2)),
    with_(shape="curvature"),
    with_(shape=[[0.0]]),
    nothing_limits_the_released_variable,
    limits_that_leave_no_room,
]


@pytest.mark.parametrize("number", range(len(FAILING)))
def test_no_failure_has_words_of_a_spec(number):
    with pytest.raises(conveil.ConveilError) as failed:
        FAILING[number]()
    error = failed.value
    print(type(error).__name__, error)
    assert_python(str(error))
    for word in ("what", "why", "instead"):
        assert_python(getattr(error, word, ""))


GOLDEN = Path(__file__).parents[2] / "crates/conveil-cli/tests/golden"
"""What the command line says: the engine's texts, case by case."""
NOT_OF_THE_ENGINE = ("help", "studies", "said-study", "refused-networks", "refused-problems", "said-manners", "said-init")


def texts_of_the_engine():
    """The output of each golden case; a spec is called `plan`, as it is in Python, and its syntax is not Python's."""
    for path in sorted(GOLDEN.glob("*.golden")):
        if path.name.startswith(NOT_OF_THE_ENGINE):
            continue
        for case in re.split(r"^===", path.read_text(), flags=re.M)[1:]:
            title, *lines = case.splitlines()
            said = "\n".join(line[2:] for line in lines if line[:2] in ("! ", "| "))
            if "Usage: " in said or "not valid TOML" in said or "--help" in said:
                continue
            said = re.sub(r"(?<![\w/])[\w./-]+\.toml", "plan", said).replace('\\"', '"')
            # The command line's own head: which of its verbs comes next.
            said = re.sub(r"^next: .*(?:\n  .*)*", "", said, flags=re.M)
            yield f"{path.name}: {title.strip()}", said


def test_no_text_of_the_engine_has_words_of_a_spec():
    texts = list(texts_of_the_engine())
    assert len(texts) > 700
    for title, said in texts:
        found = SPEC_WORDS.search(in_python(said))
        assert found is None, f"{found.group(0)!r} in {title}: {in_python(said)}"


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ('strategy = "projected" in [feasibility] releases that', '`strategy="projected"` releases that'),
        (
            "add `[private.universe]`, or `bounds` to every [[private.parameter]]",
            "give bounds= for every private parameter",
        ),
        (
            'declare it a decision (`stage = "decision"` in a spec, `Builder::variable` in Rust)',
            "name it in decisions=",
        ),
        ("problem: problem.json: 3 variables", "problem: 3 variables"),
        (
            "or state `--no-ledger`, and the card will say that nothing keeps count",
            "or say not_recorded=True, and the card will say that nothing keeps count",
        ),
    ],
)
def test_phrases_are_said_in_the_words_of_privatize(said, wanted):
    assert in_python(said) == wanted


def test_places_of_the_conic_form_are_said_by_the_users_names():
    x, d = cp.Variable(2, name="b"), cp.Parameter(name="d", value=1.0)
    plan = conveil.privatize(cp.Problem(cp.Minimize(cp.sum(x)), [x >= d, x <= 9]), [d], "value", **ASK)
    said = str(plan.check())
    assert "enters `(d <= b)[0]`, `(d <= b)[1]`\n    coefficient -1 in `(d <= b)[0]`: b[0] ≥ `d`\n" in said
