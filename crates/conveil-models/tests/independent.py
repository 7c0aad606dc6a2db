"""The cheapest dispatch of a MATPOWER case by SciPy: linear cost coefficients, thermal limits, DC power flow.

Prints one number for each file that is named. Shares no line with the Rust code: its own reader, its own matrices.
"""
import re
import sys

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import lil_matrix


def table(text, name):
    body = re.search(r"mpc\." + name + r"\s*=\s*\[(.*?)\]", text, re.S).group(1)
    lines = [line.split("%")[0].replace(";", " ").split() for line in body.splitlines()]
    return np.array([[float(v) for v in line] for line in lines if line])


def optimum(path):
    text = open(path).read()
    base = float(re.search(r"mpc\.baseMVA\s*=\s*([0-9.eE+-]+)", text).group(1))
    bus, gen, branch, cost = (table(text, n) for n in ("bus", "gen", "branch", "gencost"))
    cost = cost[: len(gen)]
    on = gen[:, 7] > 0
    gen, cost = gen[on], cost[on]
    branch = branch[branch[:, 10] > 0]
    place = {int(number): i for i, number in enumerate(bus[:, 0])}
    n, g, l = len(bus), len(gen), len(branch)
    # Columns: generation, angles, flows, all per unit.
    balance = lil_matrix((n, g + n + l))
    flow = lil_matrix((l, g + n + l))
    for u in range(g):
        balance[place[int(gen[u, 0])], u] = 1.0
    shift = np.zeros(l)
    limits = []
    for k in range(l):
        i, j = place[int(branch[k, 0])], place[int(branch[k, 1])]
        tap = branch[k, 8] or 1.0
        b = 1.0 / (branch[k, 3] * tap)
        balance[i, g + n + k] -= 1.0
        balance[j, g + n + k] += 1.0
        flow[k, g + i] += 1.0
        flow[k, g + j] -= 1.0
        flow[k, g + n + k] = -1.0 / b
        shift[k] = np.deg2rad(branch[k, 9])
        rate = branch[k, 5] / base
        limits.append((-rate, rate) if rate > 0 else (None, None))
    demand = (bus[:, 2] + bus[:, 4]) / base
    angles = [(0.0, 0.0) if kind == 3 else (None, None) for kind in bus[:, 1]]
    units = [(gen[u, 9] / base, gen[u, 8] / base) for u in range(g)]
    # Model 2, coefficients from the highest degree: the linear one stands before the last.
    linear = [cost[u, 4 + int(cost[u, 3]) - 2] * base for u in range(g)]
    from scipy.sparse import vstack

    found = linprog(
        np.concatenate([linear, np.zeros(n + l)]),
        A_eq=vstack([balance.tocsr(), flow.tocsr()]),
        b_eq=np.concatenate([demand, shift]),
        bounds=units + angles + limits,
        method="highs",
    )
    assert found.success, found.message
    return found.fun


for name in sys.argv[1:]:
    print(repr(float(optimum(name))))
