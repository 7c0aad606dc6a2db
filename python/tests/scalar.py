"""The smallest plan: min 1.5 x subject to l ≤ x ≤ 160, where l is private and its cost is released."""

import json

from conveil import _core

PROBLEM = json.dumps(
    {
        "P": {"m": 1, "n": 1, "colptr": [0, 0], "rowval": [], "nzval": []},
        "q": [1.5],
        "A": {"m": 2, "n": 1, "colptr": [0, 2], "rowval": [0, 1], "nzval": [-1.0, 1.0]},
        "b": [-100.0, 160.0],
        "cones": [{"NonnegativeConeT": 2}],
    }
)

SPEC = """
version = 1
[problem]
model = "conic"
file = "problem.json"
[[problem.variable]]
name = "x"
stage = "decision"
[private]
adjacency = { kind = "one-entry", alpha = 1.0 }
[[private.parameter]]
name = "l"
at = [{ in = "b", row = 0, coef = -1.0 }]
bounds = [50.0, 150.0]
nominal = 90.0
[query]
release = "cost"
[privacy]
mechanism = "laplace"
epsilon = 1.0
sensitivity = { by = "declared", per_alpha = 1.5, reason = "x follows l one to one, and the cost is 1.5 x" }
[feasibility]
eta = 0.01
"""


def bench(spec: str = SPEC, problem: str = PROBLEM) -> _core.Bench:
    return _core.Bench(spec, {"problem.json": problem})


def released(card: str) -> float:
    """The number on a card."""
    return json.loads(card)["answer"][0]["value"]
