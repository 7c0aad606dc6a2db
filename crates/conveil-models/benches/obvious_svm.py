"""A sensitivity estimate of a noise-aware classifier the obvious way: CVXPY with Clarabel, one problem for each dataset.

    python obvious_svm.py RECORDS FEATURES SOLVES     # prints the seconds it takes

The problem is built once with parameters' worth of numpy arrays and solved anew for every dataset, as a script would.
It is the doubled hinge, the cheapest form that CVXPY can be given; the cone program takes it several times longer.
"""
import sys
import time

import cvxpy as cp
import numpy as np

records, features, solves = (int(v) for v in sys.argv[1:4])
random = np.random.default_rng(1)
labels = np.where(np.arange(records) % 2 == 0, 1.0, -1.0)
start = time.time()
for _ in range(solves):
    x = 0.15 * labels[:, None] + random.uniform(-1.0, 1.0, (records, features))
    a = labels[:, None] * np.hstack([x / 2.0, -np.ones((records, 1))])
    room = 0.1 * np.linalg.norm(a, axis=1)
    w = cp.Variable(features + 1)
    margin = a @ w
    loss = cp.sum(cp.pos(1.0 + room - margin) + cp.pos(1.0 - room - margin)) / (2.0 * records)
    cp.Problem(cp.Minimize(1e-3 * cp.sum_squares(w) + loss)).solve(solver=cp.CLARABEL)
print(time.time() - start)
