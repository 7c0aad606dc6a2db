"""Writes the problems: data, programs and specs, from fixed seeds. Run as a child, so that the harness itself stays small.

    python make.py FAMILY SIZE FOLDER [CASE]

Every folder has spec.toml, and most have plain.toml, the same program under strategy `output`: its map is the optimum without
noise. program.npz is the program for the peers.
"""

import json
import sys
from pathlib import Path

import networks
import numpy as np
import scipy.sparse as sp

SEED = 20

PRIVACY = """
[privacy]
mechanism = "laplace"
epsilon = 1.0
sensitivity = {sensitivity}
[feasibility]
eta = 0.01
{strategy}"""
DECLARED = '{{ by = "declared", per_alpha = {}, reason = "a number of the benchmark: nothing is released" }}'
OUTPUT = 'strategy = "output"\n'

# 500 pairs of neighbours, which are 1 000 solves: (1 − γ)^500 = β.
PAIRS, BETA = 500, 0.01
SAMPLED = f'{{ by = "sampled", gamma = {1.0 - BETA ** (1.0 / PAIRS)!r}, beta = {BETA}, seed = 1 }}'


def write(folder, head, sensitivity, **others):
    """spec.toml; plain.toml under strategy output; others, name = (sensitivity, strategy)."""
    files = {"spec": (sensitivity, ""), "plain": (sensitivity, OUTPUT), **others}
    for name, (sensitivity, strategy) in files.items():
        text = "version = 1\n" + head + PRIVACY.format(sensitivity=sensitivity, strategy=strategy)
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")


def save(folder, P, q, A, b, cones):
    """A problem in Clarabel's JSON for Conveil, and in SciPy's arrays for the peers: min ½x'Px + q'x subject to b − Ax ∈ K."""
    P, A = sp.triu(sp.csc_array(P)).tocsc(), sp.csc_array(A)
    A.sort_indices()
    columns = lambda M: {
        "m": M.shape[0],
        "n": M.shape[1],
        "colptr": M.indptr.tolist(),
        "rowval": M.indices.tolist(),
        "nzval": M.data.tolist(),
    }
    problem = {"P": columns(P), "q": list(map(float, q)), "A": columns(A), "b": list(map(float, b)), "cones": cones}
    (folder / "problem.json").write_text(json.dumps(problem), encoding="utf-8")
    part = lambda M, name: {f"{name}_data": M.data, f"{name}_indices": M.indices, f"{name}_indptr": M.indptr}
    kinds = json.dumps(cones)
    np.savez(folder / "program.npz", q=q, b=b, cones=kinds, shape=A.shape, **part(P, "P"), **part(A, "A"))


def conic(variables, constraints, parameters, alpha, query, universe=""):
    """The head of a spec of model conic. parameters: name, vector, place, coef, nominal."""
    lines = ['[problem]\nmodel = "conic"\nfile = "problem.json"\n']
    lines += [f'[[problem.variable]]\nname = "{name}"\nsize = {size}\nstage = "decision"\n' for name, size in variables]
    lines += [f'[[problem.constraint]]\nname = "{name}"\n' for name in constraints]
    lines.append(f'[private]\nadjacency = {{ kind = "one-entry", alpha = {alpha} }}\n')
    for name, vector, place, coef, nominal in parameters:
        where = "row" if vector == "b" else "column"
        at = f'{{ in = "{vector}", {where} = {place}, coef = {coef} }}'
        lines.append(f'[[private.parameter]]\nname = "{name}"\nat = [{at}]\nnominal = {nominal!r}\n')
    return "".join(lines) + universe + f"[query]\n{query}\n"


def box(center, half_width):
    return f'[private.universe]\nkind = "box"\ncenter = {[float(c) for c in center]}\nhalf_width = {[float(w) for w in half_width]}\n'


def grid(size, folder, case, envelope=False):
    """A DC power flow with the network's own demands as the private ones."""
    case = Path(case).resolve()
    network = networks.read(case)
    demands = "".join(f"{bus},{float(mw)!r}\n" for bus, mw in zip(network.numbers, network.demand) if mw != 0.0)
    (folder / "demand.csv").write_text("bus,demand\n" + demands, encoding="utf-8")
    if case.suffix == ".m":
        (folder / "case.m").write_bytes(case.read_bytes())
        where = 'file = "case.m"'
    else:
        (folder / "case.txt").write_bytes(case.read_bytes())
        where = f'network = "{case.stem}"'
    head = f'[problem]\nmodel = "opf"\n{where}\n[private]\ndemand = "demand.csv"\nbounds = {{ relative = 0.3 }}\n'
    head += f'adjacency = {{ kind = "one-entry", alpha = {1.0 if envelope else 10.0} }}\n[query]\nrelease = "cost"\n'
    sensitivity = '{ by = "envelope", price = 500.0 }' if envelope else '{ by = "declared", per_alpha = "largest-cost" }'
    write(folder, head, sensitivity)


def staircase(size, folder, case=None):
    """Dispatch with storage over time: 9 sparse rows for each period, each coupled to the one before."""
    periods = size // 9
    random = np.random.default_rng(SEED)
    demand = np.round(60.0 + 25.0 * np.sin(np.arange(periods) * 2 * np.pi / 24) + random.uniform(-5.0, 5.0, periods), 3)
    cheap, dear, store = (3 * np.arange(periods) + k for k in range(3))
    cost = np.zeros(3 * periods)
    cost[cheap], cost[dear] = np.round(random.uniform(10.0, 20.0, periods), 3), np.round(random.uniform(40.0, 60.0, periods), 3)
    every, n = np.arange(periods), 3 * periods

    def rows(*terms):
        """Terms (columns, coefficients, rows) of a block with one row for each period."""
        parts = [np.broadcast_arrays(row, column, value) for column, value, row in terms]
        row, column, value = (np.concatenate([part[k] for part in parts]) for k in range(3))
        return sp.csc_array((value.astype(float), (row, column)), (periods, n))

    after = every[1:]
    balance = rows((cheap, 1, every), (dear, 1, every), (store, -1, every), (store[:-1], 1, after))
    ramp = rows((cheap, 1, every), (cheap[:-1], -1, after))
    lower = [-rows((column, 1, every)) for column in (cheap, dear, store)]
    upper = [rows((column, 1, every)) for column in (cheap, dear, store)]
    A = sp.vstack([balance, *lower, *upper, ramp, -ramp])
    # The ramp of the first period is its whole output: what it starts from is no limit.
    ramps = np.full(periods, 20.0)
    ramps[0] = 100.0
    zero, one = np.zeros(periods), np.ones(periods)
    b = np.r_[demand, zero, zero, zero, 70.0 * one, 80.0 * one, 50.0 * one, ramps, ramps]
    save(folder, sp.csc_array((n, n)), cost, A, b, [{"ZeroConeT": periods}, {"NonnegativeConeT": 8 * periods}])
    parameters = [(f"demand {t}", "b", t, 1.0, float(demand[t])) for t in range(periods)]
    head = conic([("x", n)], ["balance", "limits"], parameters, 0.5, 'release = "cost"')
    write(folder, head, declared(60.0))


def dense(size, folder, case=None):
    """Dispatch of `size` units under a fifth as many limits, each of which all units enter."""
    n, limits = size, size // 5
    random = np.random.default_rng(SEED)
    cost, factors = np.round(random.uniform(10.0, 60.0, n), 3), np.round(random.uniform(-0.5, 0.5, (limits, n)), 4)
    middle = np.full(n, 5.0)
    room = np.round(np.abs(factors @ middle) + 0.3 * np.sqrt(n), 3)
    A = sp.csc_array(np.vstack([np.ones(n), -np.eye(n), np.eye(n), factors]))
    b = np.r_[5.0 * n, np.zeros(n), np.full(n, 10.0), room]
    cones = [{"ZeroConeT": 1}, {"NonnegativeConeT": 2 * n}, {"NonnegativeConeT": limits}]
    save(folder, sp.csc_array((n, n)), cost, A, b, cones)
    parameters = [("demand", "b", 0, 1.0, 5.0 * n)]
    parameters += [(f"limit {k}", "b", 1 + 2 * n + k, 1.0, float(room[k])) for k in range(limits)]
    head = conic([("x", n)], ["balance", "units", "limits"], parameters, 0.1, 'release = "cost"')
    write(folder, head, declared(60.0))


def declared(per_alpha):
    return DECLARED.format(per_alpha)


def resolve(size, folder, case=None):
    """A small dispatch with quadratic costs, `size` variables, a private demand and private limits: what is solved 1 000 times."""
    n, limits = size, max(1, size // 5)
    random = np.random.default_rng(SEED)
    linear, curvature = np.round(random.uniform(10.0, 60.0, n), 3), np.round(random.uniform(0.5, 2.0, n), 3)
    factors = np.round(random.uniform(-0.5, 0.5, (limits, n)), 4)
    room = np.round(np.abs(factors @ np.full(n, 5.0)) + np.sqrt(n), 3)
    A = sp.csc_array(np.vstack([np.ones(n), -np.eye(n), np.eye(n), factors]))
    b = np.r_[5.0 * n, np.zeros(n), np.full(n, 10.0), room]
    cones = [{"ZeroConeT": 1}, {"NonnegativeConeT": 2 * n}, {"NonnegativeConeT": limits}]
    save(folder, sp.diags_array(curvature), linear, A, b, cones)
    places = np.r_[0, 1 + 2 * n + np.arange(limits)]
    np.savez(folder / "private.npz", places=places, center=b[places], half_width=0.02 * b[places])
    parameters = [("demand", "b", 0, 1.0, 5.0 * n)]
    parameters += [(f"limit {k}", "b", 1 + 2 * n + k, 1.0, float(room[k])) for k in range(limits)]
    some = ", ".join(f'"x[{i}]"' for i in range((n + 1) // 2))
    query = f'release = "sum"\nvariables = [{some}]'
    head = conic([("x", n)], ["balance", "units", "limits"], parameters, 0.1, query, box(b[places], 0.02 * b[places]))
    known = declared(2.0)
    write(folder, head, known, sampled=(SAMPLED, ""), resolves=(SAMPLED, OUTPUT))


def classifier(size, folder, case=None):
    """N records of 10 features in [−1, 1]; the classes overlap."""
    random, features = np.random.default_rng(SEED), 10
    labels = np.where(random.random(size) < 0.5, 1.0, -1.0)
    direction = np.linspace(0.4, 0.05, features)
    values = np.round(np.clip(random.normal(0.0, 0.4, (size, features)) + 0.5 * labels[:, None] * direction, -1.0, 1.0), 4)
    names = [f"x{j}" for j in range(features)]
    with (folder / "records.csv").open("w", encoding="utf-8") as file:
        file.write(",".join(names) + ",label\n")
        np.savetxt(file, np.c_[values, labels], fmt=["%.4f"] * features + ["%d"], delimiter=",")
    head = f'[problem]\nmodel = "svm"\nrecords = {size}\nlambda = 0.001\nlabel = {{ column = "label" }}\n[problem.features]\n'
    head += "".join(f"{name} = [-1.0, 1.0]\n" for name in names)
    head += '[private]\ndata = "records.csv"\nadjacency = { kind = "one-record" }\n[query]\nrelease = "weights"\n'
    # The rows' promise is of each record by itself, as in the guide to classifiers.
    write(folder, head, '{ by = "erm" }')
    spec = folder / "spec.toml"
    spec.write_text(spec.read_text(encoding="utf-8") + 'rows = "each"\n', encoding="utf-8")


def regression(size, folder, case=None):
    """N records of 6 regressors and a private response, fitted by 7 functions with a ridge."""
    random, features = np.random.default_rng(SEED), 6
    values = np.round(random.uniform(-1.0, 1.0, (size, features)), 4)
    truth = np.linspace(2.0, -1.0, features)
    response = np.round(np.clip(5.0 + values @ truth + random.normal(0.0, 1.0, size), 0.0, 10.0), 4)
    names = [f"x{j}" for j in range(features)]
    with (folder / "records.csv").open("w", encoding="utf-8") as file:
        file.write(",".join(names) + ",y\n")
        np.savetxt(file, np.c_[values, response], fmt="%.4f", delimiter=",")
    head = '[problem]\nmodel = "regression"\nregressors = "records.csv"\nresponse = "y"\nridge = 1.0\n'
    head += f'[[problem.basis]]\nkind = "constant"\n[[problem.basis]]\nkind = "linear"\nfeatures = {json.dumps(names)}\n'
    head += '[private]\nadjacency = { kind = "one-record" }\nbounds = [0.0, 10.0]\n[query]\nrelease = "weights"\n'
    write(folder, head, '{ by = "strong-convexity" }')


def socp(size, folder, case=None):
    """A fund of `size` assets with private forecasts: five cones, each an own risk and one factor; as portfolio.toml, larger."""
    n, cones = size, 5
    random = np.random.default_rng(SEED)
    forecast = np.round(random.uniform(1.0, 8.0, n), 3)
    blocks, right, kinds = [np.ones((1, n)), -np.eye(n)], [100.0, *np.zeros(n)], [{"ZeroConeT": 1}, {"NonnegativeConeT": n}]
    for part in np.array_split(np.arange(n), cones):
        risk = np.zeros((len(part) + 2, n))
        risk[1 + np.arange(len(part)), part] = -np.round(random.uniform(0.1, 0.4, len(part)), 3)
        risk[-1] = -np.round(random.uniform(0.0, 0.1, n), 3)
        blocks.append(risk)
        right += [9.0, *np.zeros(len(part) + 1)]
        kinds.append({"SecondOrderConeT": len(part) + 2})
    save(folder, sp.diags_array(np.full(n, 0.04)), -forecast, sp.csc_array(np.vstack(blocks)), right, kinds)
    parameters = [(f"forecast {i}", "q", i, -1.0, float(forecast[i])) for i in range(n)]
    names = ["budget", "long only", *(f"risk {k}" for k in range(cones))]
    some = ", ".join(f'"x[{i}]"' for i in range(n // 2))
    head = conic([("x", n)], names, parameters, 0.001, f'release = "sum"\nvariables = [{some}]')
    write(folder, head, declared(36.0))


def sdp(size, folder, case=None):
    """The positive semidefinite k×k matrix nearest to a private one, its trace limited: small-sdp.toml, larger."""
    k = size
    random = np.random.default_rng(SEED)
    wanted = np.round(random.normal(0.0, 1.0, (k, k)), 3)
    wanted = np.round((wanted + wanted.T) / 2 + np.eye(k), 4)
    pairs = [(i, j) for j in range(k) for i in range(j + 1)]
    diagonal = np.array([i == j for i, j in pairs])
    weight = np.where(diagonal, 1.0, 2.0)
    entries = np.array([wanted[i, j] for i, j in pairs])
    cone = -sp.diags_array(np.where(diagonal, 1.0, np.sqrt(2.0)))
    A = sp.vstack([cone, sp.csc_array(diagonal.astype(float)[None, :])])
    n = len(pairs)
    kinds = [{"PSDTriangleConeT": k}, {"NonnegativeConeT": 1}]
    save(folder, sp.diags_array(weight), -weight * entries, A, np.r_[np.zeros(n), 1.2 * k], kinds)
    parameters = [(f"s {i} {j}", "q", at, -float(weight[at]), float(entries[at])) for at, (i, j) in enumerate(pairs)]
    some = ", ".join(f'"y[{at}]"' for at in np.flatnonzero(diagonal))
    head = conic([("y", n)], ["semidefinite", "trace"], parameters, 0.01, f'release = "sum"\nvariables = [{some}]')
    write(folder, head, declared(float(np.round(np.sqrt(2.0 * k), 3))))


def envelope(size, folder, case):
    grid(size, folder, case, envelope=True)


FAMILIES = {
    made.__name__: made for made in (grid, envelope, staircase, dense, resolve, classifier, regression, socp, sdp)
}

if __name__ == "__main__":
    family, size, folder, *case = sys.argv[1:]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    FAMILIES[family](int(size), folder, *case)
    (folder / "complete").write_text("", encoding="utf-8")
