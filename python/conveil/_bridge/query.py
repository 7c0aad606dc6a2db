"""Affine expressions of the user as rows over the columns of a form."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._errors import InputError
from . import names
from .admit import refuse
from .chain import compile_problem
from .form import extract
from .substitute import substitute


@dataclass(frozen=True)
class Item:
    """One thing that the user asked to release."""

    source: object
    """The user's variable or expression, or `"value"`."""
    name: str
    first: int
    """Its first row among all released numbers."""
    count: int
    back: sp.csr_array = None
    """From its released numbers to all entries of its shape."""

    def entry_names(self):
        """A name for each released number: of an array, that of its entry."""
        shape = tuple(self.source.shape)
        if self.back is None or self.back.shape[0] == 1:
            return [self.name]
        columns = self.back.tocsc()
        return names.entries(self.name, shape, columns.indices[columns.indptr[:-1]])

    def shaped(self, numbers):
        """The released numbers of this item in the shape of the source."""
        own = np.asarray(numbers, dtype=float)[self.first : self.first + self.count]
        if self.back is None:
            return float(own[0])
        full = np.asarray(self.back @ own)
        shape = self.source.shape
        return float(full[0]) if shape == () else full.reshape(shape, order="F")


def affine_rows(expression, form, public, what):
    """The expression's entries, counted down its columns, as a matrix over the form's columns and constants."""
    import cvxpy as cp

    expression = public.in_place(expression)
    flat = cp.vec(expression, order="F") if expression.size > 1 else cp.reshape(expression, (1,), order="F")
    small = compile_problem(cp.Problem(cp.Minimize(0), [flat == 0]), has_quadratic_objective=False)
    # Some affine atoms, such as a running sum, come with auxiliary equalities.
    rows = substitute(extract(small, [], public.value, [flat == 0]))
    own = np.array([r.kind == "user" for r in rows.rows], dtype=bool)[rows.row_block]
    own = np.flatnonzero(own)
    matrix = sp.coo_array(rows.A[own])
    # CVXPY writes an equality as 0 = −(expression), and b − Ax is that side.
    constants = -rows.b[own]
    column = np.empty(rows.n, dtype=int)
    left = np.bincount(rows.column_block, minlength=len(rows.columns))
    for block, count in zip(rows.columns, left.tolist()):
        if count and block.kind != "user":
            refuse(what, "it is not affine in the variables", "an affine expression of the variables")
        if count:
            column[rows.columns_of(block.variable)] = form.columns_of(block.variable)
    return sp.csr_array(
        (matrix.data, (matrix.coords[0], column[matrix.coords[1]])), shape=(len(own), form.n)
    ), constants


def check_expression(expression, problem, private, what):
    """Raises unless the expression is affine, over the problem's variables, and free of private parameters."""
    if not expression.is_affine():
        refuse(
            f"{what} of `{names.of_expression(expression)}`",
            "it is not affine in the variables, and the noise is linear in them",
            'an affine expression; `release="value"` releases the optimal value of a curved objective',
        )
    ids = {p.id for p in private}
    for parameter in expression.parameters():
        if parameter.id in ids:
            refuse(
                f"{what} of `{names.of_expression(expression)}`",
                f"it contains the private parameter `{parameter.name()}`, so that what is asked would itself depend on the data",
                "an expression with public coefficients",
            )
    known = {v.id for v in problem.variables()}
    for variable in expression.variables():
        if variable.id not in known:
            raise InputError(f"`{variable.name()}` in {what} is not a variable of the problem")
    if not expression.variables():
        raise InputError(f"{what} of `{names.of_expression(expression)}` contains no variable: it is public already")


def items_of(release, form, problem, private, public):
    """Rows, constants and items of what is released, where that is not the optimal value."""
    import cvxpy as cp

    listed = list(release) if isinstance(release, (list, tuple)) else [release]
    if not listed:
        raise InputError("release= is empty: what is to be released?")
    rows, constants, items, first = [], [], [], 0
    unique = names.Unique()
    for source in listed:
        if isinstance(source, str):
            raise InputError(
                f'release={source!r}: the only word is "value", by itself; else a variable or an affine expression'
            )
        if not isinstance(source, cp.Expression):
            source = cp.Expression.cast_to_const(source)
        check_expression(source, problem, private, "a release")
        matrix, offsets = affine_rows(source, form, public, f"a release of `{names.of_expression(source)}`")
        kept, back = _each_once(matrix, offsets, source)
        name = names.clean(source.name() if isinstance(source, cp.Variable) else names.of_expression(source), "answer")
        still = np.flatnonzero(np.diff(matrix[kept].indptr) == 0)
        if len(still):
            refuse(
                f"entry {int(kept[still[0]])} of `{name}`",
                "it does not depend on the variables: no decision can carry noise in it",
                "the entries that do, such as `x[1:]`",
            )
        items.append(Item(source, unique.name(name), first, len(kept), back))
        rows.append(matrix[kept])
        constants.append(offsets[kept])
        first += len(kept)
    return sp.csr_array(sp.vstack(rows)), np.concatenate(constants), items


def _each_once(matrix, constants, source):
    """A symmetric variable has equal entries: each is released once."""
    import cvxpy as cp

    size = matrix.shape[0]
    if not isinstance(source, cp.Variable) or matrix.nnz == size == len(np.unique(matrix.indices)):
        return np.arange(size), sp.eye_array(size, format="csr")
    keys, kept, of = {}, [], []
    for i in range(size):
        at = slice(matrix.indptr[i], matrix.indptr[i + 1])
        key = (tuple(matrix.indices[at].tolist()), tuple(matrix.data[at].tolist()), float(constants[i]))
        if not key[0]:  # an entry that is zero by the variable's attributes
            of.append(-1)
            continue
        if key not in keys:
            keys[key] = len(kept)
            kept.append(i)
        of.append(keys[key])
    of = np.array(of)
    at = np.flatnonzero(of >= 0)
    back = sp.csr_array((np.ones(len(at)), (at, of[at])), shape=(size, len(kept)))
    return np.array(kept, dtype=int), back


def variable_maps(problem, form, public):
    """For the id of each variable of the user: its columns, and the matrix from them to all its entries."""
    found = {}
    for variable in problem.variables():
        try:
            columns = form.columns_of(variable)
        except InputError:
            continue  # a variable that no row and no price contains
        if len(columns) == variable.size and not any(
            variable.attributes.get(w) for w in ("symmetric", "PSD", "NSD", "diag", "sparsity")
        ):
            found[variable.id] = (columns, sp.eye_array(variable.size, format="csr"))
        else:
            matrix, _ = affine_rows(variable, form, public, variable.name())
            found[variable.id] = (columns, sp.csr_array(matrix[:, columns]))
    return found
