"""The optimal value as something that can be released."""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from . import names
from .form import Columns, Lift, Places, Rows


def with_epigraph(form):
    """A curved cost: minimise s subject to (q + Cθ)'x + e'θ ≤ s.

    The public constant stays outside. The form has no quadratic part: the cost was compiled to cones.
    """
    if form.P.nnz or form.H.nnz:
        raise AssertionError("an epigraph needs a linear objective")
    n, m = form.n, form.m
    in_cost = sp.coo_array(form.C)
    wide = _with_column(form, Columns("cost", "epigraph"))
    row = np.append(form.q, -1.0)[None, :]
    places = Places(
        np.concatenate([form.places.row, np.full(in_cost.nnz, m)]),
        np.concatenate([form.places.column, in_cost.coords[0]]),
        np.concatenate([form.places.number, in_cost.coords[1]]),
        np.concatenate([form.places.coefficient, in_cost.data]),
    )
    tall = _with_row(wide, Rows("cost at most", "nonnegative", "added"), row, -form.e)
    return tall.with_(
        q=np.append(np.zeros(n), 1.0),
        C=sp.csr_array((n + 1, form.C.shape[1])),
        e=np.zeros_like(form.e),
        places=places,
    )


def with_private_constant(form):
    """A linear cost with a private constant e'θ: a column decided before the noise holds it.

    Where the prices are private and the rows are not, the constant is a private price on a column that is 1, so that
    the feasible set stays public; else it is a row of its own.
    """
    wide = _with_column(form, Columns("private constant", "constant"))
    unit = np.append(np.zeros(form.n), 1.0)[None, :]
    rows = Rows("private constant", "zero", "added")
    if form.C.nnz and not form.B.nnz and not len(form.places.row):
        one = _with_row(wide, rows, unit, np.zeros_like(form.e), constant=1.0)
        prices = sp.csr_array(np.atleast_2d(form.e))
        return one.with_(C=sp.csr_array(sp.vstack([form.C, prices])), e=np.zeros_like(form.e))
    tall = _with_row(wide, rows, unit, form.e)
    return tall.with_(q=np.append(form.q, 1.0), e=np.zeros_like(form.e))


def with_one(form):
    """A column that is 1, decided before the noise, for the constant part of a released expression."""
    wide = _with_column(form, Columns("one", "one"))
    unit = np.append(np.zeros(form.n), 1.0)[None, :]
    return _with_row(wide, Rows("one", "zero", "added"), unit, np.zeros_like(form.e), constant=1.0)


def _with_column(form, block):
    numbers = form.C.shape[1]
    # The new column is none of CVXPY's.
    without = Lift(sp.eye_array(form.n, form.n + 1, format="csr"), np.zeros(form.n), sp.csr_array((form.n, numbers)))
    return form.with_(
        P=sp.csc_array(sp.block_diag([form.P, sp.csc_array((1, 1))])),
        q=np.append(form.q, 0.0),
        C=sp.csr_array(sp.vstack([form.C, sp.csr_array((1, numbers))])),
        A=sp.csr_array(sp.hstack([form.A, sp.csr_array((form.m, 1))])),
        columns=[*form.columns, replace(block, name=_unused(block.name, form.columns))],
        column_block=np.append(form.column_block, len(form.columns)),
        lift=without.then(form.lift),
    )


def _with_row(form, block, row, private, constant=0.0):
    return form.with_(
        A=sp.csr_array(sp.vstack([form.A, sp.csr_array(row)])),
        b=np.append(form.b, constant),
        B=sp.csr_array(sp.vstack([form.B, sp.csr_array(np.atleast_2d(private))])),
        rows=[*form.rows, replace(block, name=_unused(block.name, form.rows))],
        row_block=np.append(form.row_block, len(form.rows)),
        row_entry=np.append(form.row_entry, 0),
        row_origin=np.append(form.row_origin, -1),
    )


def _unused(name, blocks):
    """The name, with a number where the user has one like it."""
    unique = names.Unique()
    for block in blocks:
        unique.name(block.name)
    return unique.name(name)
