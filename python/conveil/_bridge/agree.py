"""The bridge against CVXPY's own data at a public point. What differs is never planned with."""

import warnings

import numpy as np
import scipy.sparse as sp

from .._errors import ConveilError
from .form import dot

TOLERANCE = 1e-9
ROUNDING = 1e-13
POINTS = 1
"""Matrices that differ agree at a random point with probability 0."""


class BridgeError(ConveilError):
    """What was made of a problem differs from CVXPY's own data at a public point: there is no plan.

    It is an error of this package or a version of CVXPY that it does not know, never of the problem.
    """

    def __init__(self, difference):
        import cvxpy as cp

        super().__init__(
            f"the bridge to CVXPY {cp.__version__} does not agree with CVXPY's own data: {difference}; nothing is planned "
            "with it. Please report the problem"
        )


def agree_with_cvxpy(twin, point, read, final, has_quadratic_objective):
    """Compares what was read, and what was made of it, with `twin.get_problem_data`.

    `twin` is the user's problem with the public numbers `point` in the place of the private ones.
    `read` is the form as it was extracted, `final` the one after substitution and the treatment of the objective. The
    first is compared entry by entry, the second at random points: objective, every row that is left, and every row that
    was substituted, which must hold.
    """
    import cvxpy as cp

    options = {} if has_quadratic_objective else {"solver_opts": {"use_quad_obj": False}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data, _, inverse = twin.get_problem_data(cp.CLARABEL, enforce_dpp=True, **options)
    theta = np.concatenate(point)
    theirs = _Data(data, _offset(inverse))
    P, q, A, b, d = read.at(theta)
    _same("the quadratic cost", P, theirs.P)
    _same("the linear cost", q, theirs.q, exact=True)
    _same("the matrix of the constraints", A, theirs.A)
    _same("the right-hand sides", b, theirs.b, exact=True)
    _same("the constant of the objective", np.array([d]), np.array([theirs.d]))
    _same_cones(read, data["dims"])
    _same_at_random_points(final, theirs, theta)


def _offset(inverse):
    """The constant of the objective, which CVXPY keeps for the way back."""
    try:
        return float(np.ravel(inverse[-1]["offset"])[0])
    except (KeyError, TypeError, IndexError):
        raise BridgeError("CVXPY does not say what constant the objective has") from None


class _Data:
    """What CVXPY would hand to the solver: minimise ½x'Px + q'x + d subject to b − Ax ∈ K."""

    def __init__(self, data, constant):
        n = len(data["c"])
        self.q, self.b, self.d = np.asarray(data["c"], dtype=float), np.asarray(data["b"], dtype=float), constant
        self.A = sp.csr_array(data["A"]) if data["A"] is not None else sp.csr_array((0, n))
        upper = data.get("P")
        self.P = sp.csr_array((n, n)) if upper is None else sp.csr_array(upper)
        for word in ("lower_bounds", "upper_bounds"):
            if data.get(word) is not None and np.any(np.isfinite(data[word])):
                raise BridgeError("CVXPY keeps bounds of variables beside the rows")
        if upper is not None and sp.tril(self.P, -1).nnz == 0:
            self.P = sp.csr_array(self.P + sp.triu(self.P, 1).T)


def _same(what, mine, theirs, exact=False):
    """Raises where they differ by more than rounding: of each entry if `exact`, else of a sum of entries of this size."""
    if mine.shape != theirs.shape:
        raise BridgeError(f"{what} is {mine.shape} here and {theirs.shape} in CVXPY")
    largest = np.abs(theirs.data if sp.issparse(theirs) else theirs).max(initial=0.0)
    if sp.issparse(mine):
        difference, allowed = abs(sp.csr_array(mine - theirs)), ROUNDING * largest
        beyond = difference.data.max(initial=0.0)
        if not beyond <= allowed:
            # Each entry has room for the rounding of its own size.
            beyond = (difference - TOLERANCE * abs(sp.csr_array(theirs))).data.max(initial=0.0)
    elif exact:
        beyond = (np.abs(mine - theirs) - TOLERANCE * np.abs(theirs)).max(initial=0.0)
        allowed = ROUNDING * largest
    else:
        beyond = np.abs(mine - theirs).max(initial=0.0)
        allowed = TOLERANCE * max(1.0, largest)
    if not beyond <= allowed:
        raise BridgeError(f"{what} differs from CVXPY's by {beyond:.3g}")


def _same_cones(form, dims):
    count = {}
    for rows, size in zip(form.rows, np.bincount(form.row_block, minlength=len(form.rows)).tolist()):
        count.setdefault(rows.cone, []).append(size)
    mine = (
        sum(count.get("zero", [])),
        sum(count.get("nonnegative", [])),
        count.get("second-order", []),
        count.get("semidefinite", []),
        len(count.get("exponential", [])),
        len(count.get("power", [])),
        len(count.get("generalised-power", [])),
    )
    theirs = (
        dims.zero,
        dims.nonneg,
        list(dims.soc),
        [k * (k + 1) // 2 for k in dims.psd],
        dims.exp,
        len(dims.p3d),
        len(getattr(dims, "pnd", [])),
    )
    if mine != theirs:
        raise BridgeError(f"the cones are {mine} here and {theirs} in CVXPY")


def _same_at_random_points(form, theirs, theta):
    rng = np.random.default_rng(7)
    P, q, A, b, d = form.at(theta)
    kept = form.row_origin >= 0
    gone = np.ones(len(theirs.b), dtype=bool)
    gone[form.row_origin[kept]] = False
    met, opposite, factor = (np.asarray(side, dtype=kind) for side, kind in zip(form.met, (int, int, float)))
    gone[opposite] = False
    for _ in range(POINTS):
        x = rng.normal(size=form.n)
        for number, block in enumerate(form.columns):
            if block.kind in ("constant", "one"):
                x[form.column_block == number] = _fixed_value(form, number, b)
        y = x if form.lift is None else form.lift.at(x, theta)
        cost = 0.5 * dot(y, theirs.P @ y) + dot(theirs.q, y) + theirs.d
        slack, own_slack = theirs.b - theirs.A @ y, b - A @ x
        _same("the rows after substitution", own_slack[kept], slack[form.row_origin[kept]])
        if len(met):
            _same("the limits that meet", slack[opposite], -factor * slack[met])
        _same("the substituted rows", slack[gone], np.zeros(np.count_nonzero(gone)))
        mine = 0.5 * dot(x, P @ x) + dot(q, x) + d
        for number, block in enumerate(form.columns):
            if block.kind == "epigraph":
                at = form.column_block == number
                row = (form.row_origin < 0) & form.rows_where(lambda r: r.cone == "nonnegative")
                mine = mine - own_slack[row].sum()
                if np.count_nonzero(at) != 1 or np.count_nonzero(row) > 1:
                    raise BridgeError("the epigraph of the cost is not one column")
        _same("the objective after substitution", np.array([mine]), np.array([cost]))


def _fixed_value(form, number, b):
    """What the row of an added column fixes it at."""
    column = np.flatnonzero(form.column_block == number)[0]
    rows = form.A.tocsc()[:, [column]]
    (row,) = rows.indices[:1]
    return b[row] / rows.data[0]
