"""Shows that an installed package works, where there is no Rust: the argument is the folder that it must come from."""

import json
import shutil
import sys
import tempfile
from pathlib import Path

import conveil
from conveil import _core

PROBLEM = {
    "P": {"m": 1, "n": 1, "colptr": [0, 0], "rowval": [], "nzval": []},
    "q": [1.5],
    "A": {"m": 2, "n": 1, "colptr": [0, 2], "rowval": [0, 1], "nzval": [-1.0, 1.0]},
    "b": [-100.0, 160.0],
    "cones": [{"NonnegativeConeT": 2}],
}

SPEC = """
version = 1
problem = { model = "conic", file = "problem.json", variable = [{ name = "x", stage = "decision" }] }
query = { release = "cost" }
feasibility = { eta = 0.01 }
[private]
adjacency = { kind = "one-entry", alpha = 1.0 }
parameter = [{ name = "l", at = [{ in = "b", row = 0, coef = -1.0 }] }]
[privacy]
mechanism = "laplace"
epsilon = 1.0
sensitivity = { by = "declared", per_alpha = 1.5, reason = "x follows l one to one, and the cost is 1.5 x" }
"""

for package in (conveil, _core):
    assert Path(sys.argv[1]) in Path(package.__file__).parents, package.__file__
assert shutil.which("cargo") is None and shutil.which("rustc") is None

bench = _core.Bench(SPEC, {"problem.json": json.dumps(PROBLEM)})
with tempfile.TemporaryDirectory() as folder:
    ledger = Path(folder) / "budget.sqlite"
    _core.ledger_init(ledger, "trial", 1.0, bench=bench)
    [(card, text, *_)] = bench.release({}, ledger=ledger, dataset="trial")
    try:
        bench.release({}, ledger=ledger, dataset="trial")
    except conveil.OverBudget:
        pass
    else:
        raise AssertionError("a second release went over the budget")
print(text)
