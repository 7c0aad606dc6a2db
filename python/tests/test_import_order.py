"""The engine's BLAS stays inside: numpy and scipy work beside it, whichever is imported first."""

import ctypes
import subprocess
import sys

import pytest

from conveil import _core

ORDERS = {
    "numpy and scipy first": "import numpy, scipy.linalg, conveil",
    "conveil first": "import conveil, numpy, scipy.linalg",
}

# Linear algebra of every kind, a semidefinite program by the engine, and linear algebra again.
WORK = """
import json
import numpy as np, scipy.linalg as sl
from conveil import _core

def algebra(seed):
    a = np.random.default_rng(seed).normal(size=(120, 120))
    s = a @ a.T + np.eye(120)
    w, v = np.linalg.eigh(s)
    assert np.allclose(v * w @ v.T, s)
    w, v = sl.eigh(s, driver="evr")
    assert np.allclose(v * w @ v.T, s)
    l = sl.cholesky(s, lower=True)
    assert np.allclose(l @ l.T, s)
    assert np.allclose(a @ np.linalg.solve(a, s), s)
    u, d, vt = sl.svd(a)
    assert np.allclose(u * d @ vt, a)
    assert np.isclose(np.linalg.eigvals(a).sum().real, np.trace(a))
    assert np.allclose(sl.blas.dgemm(1.0, a, a), a @ a)

# The largest eigenvalue of M: min x such that xI - M is positive semidefinite, and x >= l, which is private.
n = 8
m = np.random.default_rng(1).normal(size=(n, n))
m = m + m.T
upper = [(i, j) for j in range(n) for i in range(j + 1)]
scale = [1.0 if i == j else np.sqrt(2.0) for i, j in upper]
diagonal = [k for k, (i, j) in enumerate(upper) if i == j]
problem = {
    "P": {"m": 1, "n": 1, "colptr": [0, 0], "rowval": [], "nzval": []},
    "q": [1.0],
    "A": {"m": 1 + len(upper), "n": 1, "colptr": [0, 1 + n], "rowval": [0] + [1 + k for k in diagonal],
          "nzval": [-1.0] * (1 + n)},
    "b": [100.0] + [-c * m[i, j] for c, (i, j) in zip(scale, upper)],
    "cones": [{"NonnegativeConeT": 1}, {"PSDTriangleConeT": n}],
}
spec = '''
version = 1
query = { release = "cost" }
feasibility = { eta = 0.01 }
[problem]
model = "conic"
file = "problem.json"
variable = [{ name = "x", stage = "decision" }]
[private]
adjacency = { kind = "one-entry", alpha = 1.0 }
parameter = [{ name = "l", at = [{ in = "b", row = 0, coef = -1.0 }] }]
[privacy]
mechanism = "laplace"
epsilon = 1.0
sensitivity = { by = "declared", per_alpha = 1.0, reason = "x is the larger of l and the eigenvalue" }
'''
algebra(1)
bench = _core.Bench(spec, {"problem.json": json.dumps(problem)})
report = json.loads(bench.solve({})[0])
assert np.isclose(report["optimum"], np.linalg.eigvalsh(m).max(), atol=1e-6), report
algebra(2)
"""


@pytest.mark.parametrize("imports", ORDERS.values(), ids=ORDERS)
def test_a_semidefinite_program_and_numpy_work_in_both_import_orders(imports):
    done = subprocess.run([sys.executable, "-c", imports + WORK], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("symbol", ["dgemm_", "dsyevr_", "dpotrf_", "dgesdd_", "sgemm_"])
def test_no_blas_symbol_leaves_the_shared_object(symbol):
    # Before numpy's own is loaded into the whole process: dlsym of a handle looks into that library alone.
    library = ctypes.CDLL(_core.__file__)
    assert not hasattr(library, symbol)
    assert hasattr(library, "PyInit__core")


def test_importing_the_package_imports_no_modelling_library():
    code = "import sys, conveil; print([m for m in ('cvxpy', 'pandas', 'sklearn') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
