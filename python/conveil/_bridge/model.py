"""The whole road: from a problem of the user to a conic program with names, stages and a query."""

from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
import scipy.sparse as sp

from .._errors import InputError
from . import names, objective, query, reach
from .admit import admit, admit_curvature, refuse
from .agree import agree_with_cvxpy
from .chain import compile_problem
from .form import dot, extract
from .meet import meet
from .stand_in import Public, entries_of, like_the_user, public_numbers, stand_in, variables_like
from .substitute import substitute, tighten


NO_LIMIT = 1e20
"""Solvers take a number of this size for no limit at all."""


@dataclass(frozen=True)
class Query:
    """What is released, over the columns of the form."""

    kind: str
    """`cost`, `value`, `at-most`, `identity` or `rows`."""
    items: list
    rows: sp.csr_array = None
    slope: np.ndarray = None


@dataclass(frozen=True)
class Model:
    """A problem of the user as the engine sees it. Public."""

    problem: object
    public: object
    """The public parameters, with their values when the plan was made."""
    entries: list
    bounds: list
    """For each private parameter, low and high of each number, or None."""
    nominal: list
    form: object
    query: Query
    stages: list
    holds: list
    variables: dict
    """For the id of each variable: its columns, and the matrix from them to its entries."""
    numbers: np.ndarray
    """The private numbers that enter the program, among all entries of the private parameters."""
    at_the_mean: bool
    """Whether the objective has parts that are priced at the mean decision."""
    seconds: dict = field(default_factory=dict)

    @property
    def sign(self):
        """−1 where the user maximises: the form minimises."""
        return -1.0 if self.form.is_flipped else 1.0

    def number_names(self):
        every = [name for entry in self.entries for name in entry.names]
        return [every[k] for k in self.numbers]

    def theta(self, values, what="the value"):
        """All private numbers from a value for each private parameter."""
        return np.concatenate([e.take(v, f"{what} of `{e.parameter.name()}`") for e, v in zip(self.entries, values)])

    def constant(self, theta):
        """What the objective of the form leaves out at these numbers."""
        return self.form.d + dot(self.form.e, theta) + dot(theta, self.form.H @ theta)

    def clipped(self, theta):
        """The numbers within their public bounds, as the engine uses them."""
        low, high = self.limits()
        return np.clip(theta, low, high)

    def limits(self):
        low = [np.full(e.count, -np.inf) if b is None else b[0] for e, b in zip(self.entries, self.bounds)]
        high = [np.full(e.count, np.inf) if b is None else b[1] for e, b in zip(self.entries, self.bounds)]
        return np.concatenate(low), np.concatenate(high)

    def value_of(self, variable, x):
        """The value of a variable of the user from the columns, in its own shape."""
        if variable.id not in self.variables:
            return np.zeros(variable.shape)
        columns, matrix = self.variables[variable.id]
        full = np.asarray(matrix @ np.asarray(x, dtype=float)[columns])
        return float(full[0]) if variable.shape == () else full.reshape(variable.shape, order="F")

    def user_objective(self, theta):
        """A function from the columns to the user's own objective at these numbers; the user's objects stay untouched."""
        split = np.split(theta, np.cumsum([e.count for e in self.entries])[:-1])
        fresh = variables_like(self.problem)
        copy = like_the_user(self.problem, self.entries, split, self.public, fresh)

        def at(x):
            for variable in self.problem.variables():
                fresh[variable.id].save_value(np.asarray(self.value_of(variable, x)))
            return float(np.ravel(copy.objective.expr.value)[0])

        return at


def read(
    problem,
    private,
    release,
    *,
    bounds,
    nominal,
    slope=None,
    strategy="program",
    decisions=None,
    here_and_now=(),
    keeps_private_prices=False,
):
    """Makes the model, and raises where it cannot be made or does not agree with CVXPY.

    `keeps_private_prices` is said for a sensitivity by radius, the one certificate of a value with private prices. Else
    such a value is released through an epigraph, so that what is asked does not depend on the data.
    """
    started = perf_counter()
    admit(problem, private)
    is_value = _is_value(release, problem)
    if strategy == "program" and not is_value:
        problem = _within_its_domain(problem)
    entries = [entries_of(parameter) for parameter in private]
    bounds = [_bounds(entry, bounds) for entry in entries]
    nominal = [_nominal(entry, nominal, limits) for entry, limits in zip(entries, bounds)]
    point = public_numbers(entries, nominal, bounds)
    public = Public(problem, private)
    stood = stand_in(problem, entries, public)
    admit_curvature(stood.problem, problem)

    is_curved = not stood.problem.objective.expr.is_affine()
    # With noise on the answer the value of a quadratic program is a number like any other; decisions carry a linear one.
    in_cones = is_value and is_curved and strategy != "output"
    quadratic = not in_cones
    compiled = compile_problem(stood.problem, quadratic)
    first = extract(compiled, stood.parameters, public.value, problem.constraints)
    if first.private_in_P:
        # A private weight on a square becomes a private price of its epigraph.
        quadratic = False
        compiled = compile_problem(stood.problem, quadratic)
        first = extract(compiled, stood.parameters, public.value, problem.constraints)
    form = meet(substitute(reach.reach(first)))
    if is_value and form.H.nnz:
        # Squares of private numbers, such as d'd in `sum_squares(x - d)`, are part of the value: cones keep them.
        quadratic = False
        compiled = compile_problem(stood.problem, quadratic)
        first = extract(compiled, stood.parameters, public.value, problem.constraints)
        form = meet(substitute(reach.reach(first)))

    # With noise on the answer alone no decision moves, so that no part of the objective is priced at the mean.
    everything_follows = strategy != "program"
    slope_row = None
    has_private_prices = form.C.nnz > 0 and not keeps_private_prices
    known = {v.id for v in problem.variables()}
    chosen = None if decisions is None else _ids(decisions, known, "decisions")
    fixed = _ids(here_and_now, known, "here_and_now")
    if chosen is not None and chosen & fixed:
        raise InputError("a variable is in both decisions= and here_and_now=")
    # A variable of the objective that nobody carries out bounds a cost: the value is released through it.
    prices_no_decision = chosen is not None and not {v.id for v in problem.objective.variables()} <= chosen | fixed
    if is_value and (in_cones or has_private_prices or prices_no_decision) and strategy == "program":
        slope_row = _slope(slope, problem, entries, private, nominal, form, public)
        everything_follows = True
        wide = objective.with_epigraph(form)
        weights = np.append(slope_row, 0.0)
        form = tighten(wide, everything_follows)
        # The slope is over the user's own columns, which stay.
        slope_row = np.zeros(form.n)
        for block in form.columns:
            if block.kind == "user":
                slope_row[form.columns_of(block.variable)] = weights[wide.columns_of(block.variable)]
    elif slope is not None:
        raise InputError(
            "slope= is for the value of a curved objective under program perturbation; leave it out"
            + ("" if is_curved else ": this objective is linear")
        )
    elif is_value and has_private_prices and not form.P.nnz:
        form = objective.with_epigraph(form)
    if is_value and np.any(form.e):
        form = objective.with_private_constant(form)
    if is_value:
        kind = "at-most" if slope_row is not None else "value" if form.P.nnz else "cost"
        found = Query(kind, [query.Item("value", "value", 0, 1)], slope=slope_row)
    else:
        rows, constants, items = query.items_of(release, form, problem, private, public)
        if np.any(constants):
            form = objective.with_one(form)
            rows = sp.csr_array(sp.hstack([rows, sp.csr_array(constants[:, None])]))
        found = Query(_kind_of_rows(rows, form), items, rows)
    _finite(form)
    bridged = perf_counter()
    twin = stood.with_numbers(point) if stood.is_like_the_user else like_the_user(problem, entries, point, public)
    agree_with_cvxpy(twin, point, first, form, quadratic)
    agreed = perf_counter()

    held = reach.holds(form, everything_follows)
    in_use = set(np.unique(form.row_block).tolist())
    return Model(
        problem,
        public,
        entries,
        bounds,
        nominal,
        form,
        found,
        reach.stages(form, chosen, fixed, everything_follows, strategy == "program"),
        held,
        query.variable_maps(problem, form, public),
        _numbers_in(form),
        any(how == "at-the-mean" for number, how in enumerate(held) if number in in_use),
        {"bridge": agreed - started, "agreement": agreed - bridged},
    )


def _within_its_domain(problem):
    """The problem with the domain of its objective as constraints: x ≥ 0 for log(x).

    Where the value is not what is released, the objective prices the mean decision alone, and its own rows hold at the
    mean. Whether it has a value at the decision that is carried out is for constraints to say, which hold with noise.
    """
    import cvxpy as cp

    domain = [c for c in problem.objective.expr.domain if not _always_holds(c)]
    return cp.Problem(problem.objective, problem.constraints + domain) if domain else problem


def _always_holds(constraint):
    """Whether an inequality is known from the signs alone, such as that of a nonnegative variable."""
    import cvxpy as cp
    from cvxpy.constraints.nonpos import Inequality

    return isinstance(constraint, Inequality) and isinstance(constraint.expr, cp.Expression) and constraint.expr.is_nonpos()


def _is_value(release, problem):
    if isinstance(release, str):
        if release != "value":
            raise InputError(f'release={release!r}: the only word is "value"; else a variable or an affine expression')
        return True
    return release is problem.objective or release is problem.objective.expr


def _kind_of_rows(rows, form):
    """`identity` where the rows are whole blocks of columns in order, which gives the answers their names."""
    if rows.nnz == rows.shape[0] and np.all(rows.data == 1.0) and np.all(np.diff(rows.indptr) == 1):
        blocks = form.column_block[rows.indices]
        runs = blocks[np.append(True, blocks[1:] != blocks[:-1])] if len(blocks) else blocks
        expected = [np.flatnonzero(form.column_block == b) for b in runs]
        if len(set(runs.tolist())) == len(runs) and np.array_equal(np.concatenate(expected), rows.indices):
            return "identity"
    return "rows"


def _finite(form):
    """Raises where a public number is not finite, or stands for no limit, with the name of its row."""
    parts = (form.b, np.add.reduceat(np.append(form.A.data, 0.0), form.A.indptr[:-1]) if form.A.nnz else form.b)
    for values in parts:
        for i in np.flatnonzero(~(np.abs(values) < NO_LIMIT)):
            rows = form.rows[form.row_block[i]]
            raise InputError(
                f"the constraint `{rows.said or rows.name}` has a number that is not finite, or so large that it stands for "
                "no limit: leave out what does not bind"
            )
    if not (np.all(np.isfinite(form.q)) and np.isfinite(form.d) and np.all(np.isfinite(form.P.data))):
        raise InputError("the objective has a number that is not finite")


def _numbers_in(form):
    """Numbers that enter the program: others are no data of it."""
    enters = np.zeros(form.B.shape[1], dtype=bool)
    for numbers in (form.B.indices, form.C.indices, form.places.number):
        enters[numbers] = True
    return np.flatnonzero(enters)


def _ids(variables, known, argument):
    listed = list(variables) if isinstance(variables, (list, tuple, set)) else [variables]
    for variable in listed:
        if getattr(variable, "id", None) not in known:
            raise InputError(
                f"{argument}= holds {names.of_expression(variable)}, which is not a variable of the problem"
            )
    return {variable.id for variable in listed}


def _given(mapping, parameter):
    """What a dictionary by parameter holds for this one; None if nothing."""
    for key, value in (mapping or {}).items():
        if getattr(key, "id", None) == parameter.id:
            return value
    return None


def _bounds(entry, given):
    parameter = entry.parameter
    found = _given(given, parameter)
    if found is None:
        return None
    try:
        low, high = found
    except (TypeError, ValueError):
        raise InputError(f"bounds of `{parameter.name()}` are a pair (low, high); found {found!r}") from None
    low = entry.take(low, f"the lower bound of `{parameter.name()}`")
    high = entry.take(high, f"the upper bound of `{parameter.name()}`")
    for k in np.flatnonzero(~(low < high)):
        raise InputError(
            f"the bounds of `{entry.names[k]}` are [{low[k]:g}, {high[k]:g}]: the lower one must be below the upper one"
        )
    _within_sign(entry, low, high, "bounds=")
    return low, high


def _nominal(entry, given, limits):
    parameter = entry.parameter
    found = _given(given, parameter)
    if found is None:
        return None
    values = entry.take(found, f"the nominal value of `{parameter.name()}`")
    _within_sign(entry, values, values, "nominal=")
    if limits is not None:
        for k in np.flatnonzero((values < limits[0]) | (values > limits[1])):
            raise InputError(
                f"the nominal value {values[k]:g} of `{entry.names[k]}` is outside its bounds [{limits[0][k]:g}, {limits[1][k]:g}]"
            )
    return values


def _within_sign(entry, low, high, argument):
    """Convexity may rest on the declared sign of a parameter, so that public bounds must keep it."""
    attributes = entry.parameter.attributes
    if (attributes.get("nonneg") or attributes.get("pos")) and low.min() < 0:
        word, wrong = "nonnegative", low.min()
    elif (attributes.get("nonpos") or attributes.get("neg")) and high.max() > 0:
        word, wrong = "nonpositive", high.max()
    else:
        return
    raise InputError(f"{argument} has {wrong:g} for `{entry.parameter.name()}`, which is declared {word}")


def _slope(slope, problem, entries, private, nominal, form, public):
    """The public slope of an at-most release, over the columns, for the form's direction."""
    import cvxpy as cp

    sign = -1.0 if form.is_flipped else 1.0
    if slope is None or (isinstance(slope, str) and slope == "nominal"):
        if any(n is None for n in nominal):
            refuse(
                "a release of the optimal value",
                "the objective is curved, has private prices or contains variables that nobody carries out: its value is "
                "released as a bound, through an epigraph, and a public slope must tie the decisions to the noise",
                "slope= with an affine expression, such as the linear part of the objective; nominal= with a public value "
                'of every private parameter, at which the gradient is taken; or strategy="output", which releases the '
                "number alone",
            )
        return sign * _gradient(problem, entries, nominal, form, public)
    if isinstance(slope, str):
        raise InputError(f'slope={slope!r}: the only word is "nominal"; else an affine expression')
    if not isinstance(slope, cp.Expression):
        raise InputError(f"slope= is an affine expression of the variables; found {type(slope).__name__}")
    if slope.size != 1:
        raise InputError(f"slope= is one number, found an expression of shape {tuple(slope.shape)}")
    query.check_expression(slope, problem, private, "a slope")
    rows, _ = query.affine_rows(slope, form, public, "a slope")
    return sign * np.asarray(rows.toarray()).ravel()


def _gradient(problem, entries, nominal, form, public):
    """The gradient of the user's objective at the optimum for the nominal numbers, on copies of the user's objects."""
    import cvxpy as cp

    fresh = variables_like(problem)
    copy = like_the_user(problem, entries, nominal, public, fresh)
    copy.solve(solver=cp.CLARABEL)
    if copy.status not in ("optimal", "optimal_inaccurate"):
        raise InputError(
            f"the problem is {copy.status} at the nominal values, so that no slope can be taken there: give slope="
        )
    gradient = copy.objective.expr.grad
    row = np.zeros(form.n)
    maps = query.variable_maps(problem, form, public)
    for variable in problem.variables():
        found = gradient.get(fresh[variable.id])
        if fresh[variable.id] not in gradient or variable.id not in maps:
            continue
        if found is None:
            refuse(
                'slope="nominal"',
                f"the objective has no gradient in `{variable.name()}` at the nominal optimum",
                "slope= with an affine expression",
            )
        full = np.asarray(found.toarray() if sp.issparse(found) else found, dtype=float).ravel()
        columns, matrix = maps[variable.id]
        row[columns] = matrix.T @ full
    scale = np.abs(row).max(initial=0.0)
    row[np.abs(row) <= 1e-6 * scale] = 0.0
    if scale <= 1e-6:
        refuse(
            "the slope at the nominal values",
            "the gradient of the objective vanishes at the nominal optimum: no direction carries the noise",
            "slope= with an affine expression of the decisions",
        )
    return row
