"""Table 1 the obvious way: one linear program for each draw, in CVXPY. Prints the seconds it takes.

    python obvious_script.py DIRECTORY [DRAWS]     # DIRECTORY of MATPOWER cases; 1000 draws

For every network and α: the optimum, DRAWS perturbed demands solved again (input), and for each of DRAWS noisy costs a
linear program that asks whether a dispatch of that cost exists (output). The chance-constrained program is not in it.
Compare with `conveil study opf --draws DRAWS` on the same machine, in the same run.
"""
import re
import sys
import time

import cvxpy as cp
import numpy as np

NETWORKS = ["5_pjm", "14_ieee", "24_ieee_rts", "57_ieee", "89_pegase"]


def table(text, name):
    body = re.search(r"mpc\." + name + r"\s*=\s*\[(.*?)\]", text, re.S).group(1)
    lines = [line.split("%")[0].replace(";", " ").split() for line in body.splitlines()]
    return np.array([[float(v) for v in line] for line in lines if line])


def model(path):
    text = open(path).read()
    base = float(re.search(r"mpc\.baseMVA\s*=\s*([0-9.eE+-]+)", text).group(1))
    bus, gen, branch, cost = (table(text, n) for n in ("bus", "gen", "branch", "gencost"))
    on = gen[:, 7] > 0
    gen, cost = gen[on], cost[: len(on)][on]
    branch = branch[branch[:, 10] > 0]
    place = {int(number): i for i, number in enumerate(bus[:, 0])}
    n, g, l = len(bus), len(gen), len(branch)
    p, angle = cp.Variable(g), cp.Variable(n)
    at = np.zeros((n, g))
    for u in range(g):
        at[place[int(gen[u, 0])], u] = 1.0
    ends = np.zeros((l, n))
    for k in range(l):
        ends[k, place[int(branch[k, 0])]] = 1.0
        ends[k, place[int(branch[k, 1])]] = -1.0
    tap = np.where(branch[:, 8] == 0, 1.0, branch[:, 8])
    b = base / (branch[:, 3] * tap)
    flow = cp.multiply(b, ends @ angle - np.deg2rad(branch[:, 9]))
    demand = cp.Parameter(n)
    rows = [
        at @ p - ends.T @ flow == demand + bus[:, 4],
        cp.abs(flow) <= branch[:, 5],
        p <= gen[:, 8],
        p >= gen[:, 9],
        angle[int(np.argmax(bus[:, 1] == 3))] == 0,
    ]
    linear = np.array([cost[u, 4 + int(cost[u, 3]) - 2] for u in range(g)])
    return p, demand, rows, linear, bus[:, 2]


def solve(problem):
    """Solvers give up on some draws; the script goes on, as a script would."""
    try:
        problem.solve()
    except cp.error.SolverError:
        pass


def main(directory, draws):
    noise = np.random.default_rng(1)
    start = time.time()
    for name in NETWORKS:
        p, demand, rows, linear, nominal = model(f"{directory}/pglib_opf_case{name}.m")
        cheapest = cp.Problem(cp.Minimize(linear @ p), rows)
        demand.value = nominal
        cheapest.solve()
        best = cheapest.value
        target = cp.Parameter()
        exists = cp.Problem(cp.Minimize(0), rows + [linear @ p == target])
        for alpha in (1.0, 3.0, 10.0):
            for _ in range(draws):
                change = np.where(nominal != 0, noise.laplace(scale=alpha, size=len(nominal)), 0.0)
                demand.value = nominal + change
                solve(cheapest)
            demand.value = nominal
            for _ in range(draws):
                target.value = best + noise.laplace(scale=alpha * linear.max())
                solve(exists)
    print(f"{time.time() - start:.1f}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000)
