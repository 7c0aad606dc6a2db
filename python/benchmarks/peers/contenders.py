"""One contender on one problem, as a child process: prints a line of JSON with its objective and its CPU seconds.

    python contenders.py NAME FOLDER [--private SCALE]

`cpu` is what the contender itself takes: no import of packages, and no reading of files, which stands under `read`.
"""

import json
import sys
from pathlib import Path
from time import process_time

# The gap of Clarabel's own default; LinearSVC at this tolerance agrees with the cone program to 1e-6.
SVC_TOLERANCE, SVC_ITERATIONS = 1e-6, 1_000_000
SOLVES = 1000
ETA = 0.01


def program(folder):
    """P, q, A, b, cones of a conic problem."""
    import numpy as np
    import scipy.sparse as sp

    held = np.load(folder / "program.npz")
    rows, columns = held["shape"]
    part = lambda name, shape: sp.csc_array((held[f"{name}_data"], held[f"{name}_indices"], held[f"{name}_indptr"]), shape)
    return part("P", (columns, columns)), held["q"], part("A", (rows, columns)), held["b"], json.loads(str(held["cones"]))


def linear(folder):
    """c, A, b, low, high and the number of equalities in front of rows Ax ≤ b, of a grid or of a conic problem that is an LP."""
    import numpy as np
    import networks

    found = [path for path in (folder / "case.m", folder / "case.txt") if path.exists()]
    if found:
        lp = networks.read(found[0]).program()
        return lp["c"], lp["A"], lp["b"], lp["low"], lp["high"], len(lp["b"])
    _, q, A, b, cones = program(folder)
    free = np.full(len(q), np.inf)
    return q, A, b, -free, free, cones[0]["ZeroConeT"]


def records(folder, label):
    import pandas as pd

    table = pd.read_csv(folder / "records.csv")
    return table.drop(columns=label).to_numpy(), table[label].to_numpy(dtype=float)


def highs(algorithm):
    def load(folder):
        import highspy  # noqa: F401 (imported before the clock starts)

        return linear(folder)

    def solve(given):
        import highspy
        import numpy as np

        c, A, b, low, high, equalities = given
        solver = highspy.Highs()
        for option, value in {"output_flag": False, "threads": 1, "solver": algorithm}.items():
            solver.setOptionValue(option, value)
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = A.shape[1], A.shape[0]
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = c, low, high
        lp.row_lower_, lp.row_upper_ = np.r_[b[:equalities], np.full(len(b) - equalities, -np.inf)], b
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = A.indptr, A.indices, A.data
        solver.passModel(lp)
        solver.run()
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise SystemExit(f"HiGHS: {solver.getModelStatus()}")
        return solver.getInfo().objective_function_value

    return load, solve


def modelled(given, parameter=None):
    """A CVXPY problem of min ½x'Px + q'x subject to b − Ax ∈ K; `parameter` stands for b."""
    import cvxpy as cp
    import numpy as np
    import scipy.sparse as sp

    P, q, A, b, cones = given
    x = cp.Variable(len(q))
    objective = q @ x
    if P.nnz:
        whole = P + sp.triu(P, 1).T
        objective = 0.5 * cp.quad_form(x, cp.psd_wrap(whole)) + objective
    right, constraints, at = (b if parameter is None else parameter), [], 0
    for cone in cones:
        ((kind, size),) = cone.items()
        rows = size * (size + 1) // 2 if kind == "PSDTriangleConeT" else size
        slack = right[at : at + rows] - A[at : at + rows] @ x
        if kind == "ZeroConeT":
            constraints.append(slack == 0)
        elif kind == "NonnegativeConeT":
            constraints.append(slack >= 0)
        elif kind == "SecondOrderConeT":
            constraints.append(cp.SOC(slack[0], slack[1:]))
        else:
            pairs = [(i, j) for j in range(size) for i in range(j + 1)]
            spread = np.zeros((size * size, rows))
            for k, (i, j) in enumerate(pairs):
                spread[i + size * j, k] = spread[j + size * i, k] = 1.0 if i == j else np.sqrt(0.5)
            constraints.append(cp.reshape(sp.csr_array(spread) @ slack, (size, size), order="F") >> 0)
        at += rows
    return cp.Problem(cp.Minimize(objective), constraints)


def cvxpy_load(folder):
    import cvxpy  # noqa: F401

    return program(folder) if (folder / "program.npz").exists() else linear(folder)


def cvxpy_solve(given):
    import cvxpy as cp
    import numpy as np

    if len(given) == 5:
        problem = modelled(given)
    else:
        c, A, b, low, high, _ = given
        x = cp.Variable(len(c))
        below, above, fixed = np.isfinite(low) & (low < high), np.isfinite(high) & (low < high), low == high
        limits = [x[below] >= low[below], x[above] <= high[above], x[fixed] == low[fixed]]
        problem = cp.Problem(cp.Minimize(c @ x), [A @ x == b, *limits])
    return solved(problem)


def solved(problem):
    import cvxpy as cp

    value = problem.solve(solver=cp.CLARABEL)
    if problem.status != cp.OPTIMAL:
        raise SystemExit(f"CVXPY: {problem.status}")
    return float(value)


def svm_load(folder):
    import cvxpy  # noqa: F401
    import sklearn.svm  # noqa: F401

    return records(folder, "label")


# λ of the specs.
LAMBDA = 0.001


def svm_cvxpy(given):
    """The plain machine: λ‖(w, b)‖² + the mean hinge."""
    import cvxpy as cp
    import numpy as np

    values, labels = given
    w = cp.Variable(values.shape[1] + 1)
    signed = labels[:, None] * np.c_[values, -np.ones(len(labels))]
    return solved(cp.Problem(cp.Minimize(LAMBDA * cp.sum_squares(w) + cp.sum(cp.pos(1 - signed @ w)) / len(labels))))


def svm_sklearn(given):
    """LinearSVC, with its intercept regularised: ½‖(w, b)‖² + C·Σ hinge, C = 1/(2λN)."""
    import numpy as np
    from sklearn.svm import LinearSVC

    values, labels = given
    machine = LinearSVC(
        loss="hinge", C=1.0 / (2.0 * LAMBDA * len(labels)), tol=SVC_TOLERANCE, max_iter=SVC_ITERATIONS, random_state=0
    )
    machine.fit(values, labels)
    w, b = machine.coef_[0], machine.intercept_[0]
    hinge = np.maximum(0.0, 1.0 - labels * (values @ w + b)).mean()
    return float(LAMBDA * (w @ w + b * b) + hinge)


def regression_load(folder):
    return records(folder, "y")


def design(values):
    import numpy as np

    return np.c_[np.ones(len(values)), values]


def fitted(values, response, w):
    return float(0.5 * ((response - design(values) @ w) ** 2).sum() + 0.5 * (w @ w))


def lstsq(given):
    """Ridge 1 as seven more records, by numpy.linalg.lstsq."""
    import numpy as np

    values, response = given
    n = values.shape[1] + 1
    w = np.linalg.lstsq(np.r_[design(values), np.eye(n)], np.r_[response, np.zeros(n)], rcond=None)[0]
    return fitted(values, response, w)


def normal_equations(given):
    import numpy as np

    values, response = given
    phi = design(values)
    return fitted(values, response, np.linalg.solve(phi.T @ phi + np.eye(phi.shape[1]), phi.T @ response))


def datasets(folder):
    import numpy as np

    held = np.load(folder / "private.npz")
    random = np.random.default_rng(1)
    drawn = held["center"] + held["half_width"] * random.uniform(-1.0, 1.0, (SOLVES, len(held["places"])))
    # The first is the data themselves: its optimum is compared with the other contenders'.
    drawn[0] = held["center"]
    return held["places"], drawn


def loop_load(folder):
    import clarabel  # noqa: F401
    import cvxpy  # noqa: F401

    return program(folder), datasets(folder)


def loop_cvxpy(given):
    """One problem with a parameter, which CVXPY canonicalises once."""
    import cvxpy as cp

    (P, q, A, b, cones), (places, drawn) = given
    parameter = cp.Parameter(len(b))
    problem = modelled((P, q, A, b, cones), parameter)
    values = []
    for theta in drawn:
        right = b.copy()
        right[places] = theta
        parameter.value = right
        values.append(solved(problem))
    return values[0], sum(values)


def loop_clarabel(given):
    """Clarabel alone, whose data are updated."""
    import clarabel

    (P, q, A, b, cones), (places, drawn) = given
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.presolve_enable = False, False
    kinds = [getattr(clarabel, kind)(size) for cone in cones for kind, size in cone.items()]
    solver = clarabel.DefaultSolver(P, q, A, b, kinds, settings)
    values = []
    for theta in drawn:
        right = b.copy()
        right[places] = theta
        solver.update(b=right)
        found = solver.solve()
        if str(found.status) != "Solved":
            raise SystemExit(f"Clarabel: {found.status}")
        values.append(found.obj_val)
    return values[0], sum(values)


def rsome_load(folder):
    import rsome  # noqa: F401
    from rsome import ro  # noqa: F401

    return program(folder)


def rsome_solve(given):
    """x(ζ) = x̄ + ζX, with which the cost moves as ζ does; every row holds for all ζ in the box of mass 1 − η."""
    import math

    from rsome import ro

    _, q, A, b, cones = given
    scale = float(sys.argv[4])
    half = scale * math.log(1.0 / ETA)
    equalities = cones[0]["ZeroConeT"]
    model = ro.Model()
    zeta, x, cost = model.rvar(1), model.ldr(len(q)), model.dvar(1)
    x.adapt(zeta)
    A = A.tocsr()
    model.minmax(cost[0], abs(zeta) <= half)
    model.st(q @ x == cost[0] + zeta[0])
    model.st(A[:equalities] @ x == b[:equalities], A[equalities:] @ x <= b[equalities:])
    model.solve(display=False)
    return float(model.get())


def read_pandas(folder):
    import pandas  # noqa: F401

    return folder


def pandas_reads(folder):
    import pandas as pd

    pd.read_csv(folder / "records.csv")


def json_reads(folder):
    with (folder / "problem.json").open() as file:
        json.load(file)


CONTENDERS = {
    "highs-simplex": highs("simplex"),
    "highs-ipm": highs("ipm"),
    "cvxpy": (cvxpy_load, cvxpy_solve),
    "svm-cvxpy": (svm_load, svm_cvxpy),
    "linear-svc": (svm_load, svm_sklearn),
    "lstsq": (regression_load, lstsq),
    "normal-equations": (regression_load, normal_equations),
    "cvxpy-loop": (loop_load, loop_cvxpy),
    "clarabel-loop": (loop_load, loop_clarabel),
    "rsome": (rsome_load, rsome_solve),
    "pandas-read": (read_pandas, pandas_reads),
    "json-read": (lambda folder: folder, json_reads),
}


def main():
    load, solve = CONTENDERS[sys.argv[1]]
    started = process_time()
    given = load(Path(sys.argv[2]))
    loaded = process_time()
    found = solve(given)
    said = {"read": loaded - started, "cpu": process_time() - loaded}
    if isinstance(found, tuple):
        found, said["sum"] = found
    print(json.dumps({**said, "objective": found}))


if __name__ == "__main__":
    main()
