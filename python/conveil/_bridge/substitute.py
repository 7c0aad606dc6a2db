"""Auxiliary variables that can be replaced by what defines them, with public coefficients.

Two rules, both exact under a linear decision rule:

- An auxiliary equality t = Fx + g(θ), as CVXPY makes it for a sum of squares, defines t: then d moves from b to q, and
  a quadratic cost stands on the user's own variables, as in the direct formulation.
- An auxiliary variable that one linear row of the user alone holds back, while more of it relaxes every other row, may
  as well lie on that row: t ≤ g(θ) − a'x becomes t = g(θ) − a'x, so that `norm(x) <= 3` is one cone, not a cone and a
  row that share the promised probability.
"""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from .form import Lift, Places, dot

ROUNDS = 30
FILL = 4_000_000
DUST = 1e-15


def substitute(form):
    """The form without the auxiliary variables that can go."""
    for _ in range(ROUNDS):
        rows, columns = _defined_by_equalities(form)
        if len(rows) == 0:
            break
        form = _replace(form, rows, columns)
    return tighten(form)


def tighten(form, everything_follows=False):
    """The form without the auxiliary variables that one row alone holds back; see the head of this file.

    `everything_follows` says that all auxiliary variables follow the noise, not only those that constraints reach.
    """
    rows, columns = _held_by_one_row(form, everything_follows)
    return _replace(form, rows, columns) if len(rows) else form


def _defined_by_equalities(form):
    """Pairs of an equality and a column of its own, such that no chosen column stands in another chosen equality."""
    kind = form.rows_where(lambda r: r.cone == "zero" and r.kind == "auxiliary")
    kind[form.places.row] = False
    rows = np.flatnonzero(kind)
    if len(rows) == 0:
        return rows, rows
    free = form.is_kind("auxiliary")
    free[form.places.column] = False
    free[np.diff(form.C.indptr) > 0] = False
    entries = sp.coo_array(form.A[rows])
    row, column = rows[entries.coords[0]], entries.coords[1]
    uses = np.bincount(column, minlength=form.n)
    usable = free[column] & (entries.data != 0.0)
    curved = form.P.diagonal() > 0.0
    alone = usable & (uses[column] == 1)
    chosen_rows, chosen = _first_of_each(row[alone], column[alone], curved)
    if len(chosen_rows) == 0 and np.any(usable):
        chosen_rows, chosen = _one_by_one(row[usable], column[usable], form.A)
    return _within_fill(form, chosen_rows, chosen, curved)


def _first_of_each(row, column, curved):
    """For each row one column: one with curvature first, then the first."""
    order = np.lexsort((column, ~curved[column], row))
    row, column = row[order], column[order]
    first = np.ones(len(row), dtype=bool)
    first[1:] = row[1:] != row[:-1]
    return row[first], column[first]


def _one_by_one(row, column, A):
    """The same where columns are shared: a column is taken while no chosen row holds it, nor its row a chosen column."""
    rows, columns, blocked, taken = [], [], set(), set()
    for i, j in zip(row.tolist(), column.tolist()):
        if j in blocked or (rows and rows[-1] == i):
            continue
        inside = A.indices[A.indptr[i] : A.indptr[i + 1]].tolist()
        if taken.isdisjoint(inside):
            rows.append(i)
            columns.append(j)
            blocked.update(inside)
            taken.add(j)
    return np.array(rows, dtype=int), np.array(columns, dtype=int)


def _within_fill(form, rows, columns, curved):
    """Leaves out the pairs whose substitution would fill the matrices: a risk of a hundred thousand assets stays factored."""
    if len(rows) == 0:
        return rows, columns
    width = np.diff(form.A.indptr)[rows].astype(float)
    elsewhere = np.bincount(form.A.indices, minlength=form.n)[columns] - 1.0
    cost = np.where(curved[columns], width**2, 0.0) + elsewhere * width
    touched = len(np.unique(form.A[rows].indices))
    limit = max(FILL, 20 * (form.A.nnz + form.P.nnz))
    if touched**2 + form.m * 1.0 <= limit:
        return rows, columns
    order = np.argsort(cost, kind="stable")
    kept = np.sort(order[np.cumsum(cost[order]) <= limit])
    return rows[kept], columns[kept]


def _held_by_one_row(form, everything_follows):
    """Pairs of a linear row of the user, or of the cost, and the auxiliary column that it alone holds back."""
    none = np.zeros(0, dtype=int)
    auxiliary = form.is_kind("auxiliary")
    free = auxiliary.copy()
    if not everything_follows:
        free &= np.array([c.atom in form.reached for c in form.columns], dtype=bool)[form.column_block]
    free[form.places.column] = False
    free[form.q != 0.0] = False
    free[np.diff(form.C.indptr) > 0] = False
    free[np.diff(form.P.indptr) > 0] = False
    if not np.any(free):
        return none, none
    in_row = np.repeat(np.arange(form.m), np.diff(form.A.indptr))
    entries = free[form.A.indices] & (form.A.data != 0.0)
    row, column, value = in_row[entries], form.A.indices[entries], form.A.data[entries]
    # A row of the user can define the column if the column is the only auxiliary one in it.
    auxiliaries = np.bincount(in_row[auxiliary[form.A.indices]], minlength=form.m)
    defines = form.rows_where(lambda r: r.kind in ("user", "added") and r.cone == "nonnegative")
    defines &= auxiliaries == 1
    defines[form.places.row] = False
    pairs, found = [], np.zeros(form.n, dtype=bool)
    for sign in (1.0, -1.0):
        left = ~found[column]
        row, column, value = row[left], column[left], value[left]
        part, of_column, is_relaxed = _relaxed(form, row, column, -sign * value)
        held = np.bincount(of_column[~is_relaxed], minlength=form.n)
        parts = np.bincount(of_column, minlength=form.n)
        last = ~is_relaxed & (held[of_column] == 1) & (parts[of_column] > 1) & (part < form.m)
        last &= defines[np.minimum(part, max(form.m - 1, 0))]
        pairs.append((part[last], of_column[last]))
        found[of_column[last]] = True
    rows, columns = (np.concatenate(side) for side in zip(*pairs))
    return rows, columns


def _relaxed(form, row, column, change):
    """For each linear row or cone and each column in it: whether the slack's change per unit lies in the cone."""
    block, entry = form.row_block[row], form.row_entry[row]

    def of(*cones):
        return np.array([r.cone in cones for r in form.rows], dtype=bool)[block]

    # A part is a linear row by itself, numbered as such, or a whole cone, numbered after the rows.
    is_linear = of("zero", "nonnegative")
    part = np.where(is_linear, row, form.m + block)
    width = np.int64(form.m + len(form.rows))
    key, group = _groups(column * width + part)
    leaves = of("zero") | (is_linear & (change < 0))
    if not np.all(is_linear):
        leaves |= of("exponential") & ((entry == 1) | ((entry == 0) & (change > 0)) | ((entry == 2) & (change < 0)))
        is_last = np.append(form.row_block[1:] != form.row_block[:-1], True)[row]
        leaves |= of("power", "generalised-power") & (is_last | (change < 0))
        matrix_column = ((np.sqrt(8.0 * entry + 1.0) - 1.0) / 2.0).astype(int)
        is_diagonal = entry == matrix_column * (matrix_column + 3) // 2
        leaves |= of("semidefinite") & (~is_diagonal | (change < 0))
    outside = np.bincount(group[leaves], minlength=len(key)) > 0
    is_round = of("second-order")
    if np.any(is_round):
        head, tail = is_round & (entry == 0), is_round & (entry > 0)
        first = np.bincount(group[head], weights=change[head], minlength=len(key))
        length = np.sqrt(np.bincount(group[tail], weights=change[tail] ** 2, minlength=len(key)))
        outside |= first < length
    return (key % width).astype(int), (key // width).astype(int), ~outside


def _groups(keys):
    """The different keys, and which of them each one is."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.ones(len(keys), dtype=bool)
    starts[1:] = ordered[1:] != ordered[:-1]
    group = np.empty(len(keys), dtype=int)
    group[order] = np.cumsum(starts) - 1
    return ordered[starts], group


def _replace(form, rows, columns):
    """Removes these columns and rows: row i gives A[i, j]·x_j = b_i + B_i θ − (the rest of the row)."""
    rest, kept = _others(form.n, columns), _others(form.m, rows)
    numbers = form.B.shape[1]
    defining = form.A[rows]
    pivot = defining[:, columns].diagonal()
    scale = sp.diags_array(1.0 / pivot, format="csr")
    away = sp.coo_array(scale @ defining[:, rest])
    there = sp.csr_array(
        (
            np.concatenate([np.ones(len(rest)), -away.data]),
            (np.concatenate([rest, columns[away.coords[0]]]), np.concatenate([np.arange(len(rest)), away.coords[1]])),
        ),
        shape=(form.n, len(rest)),
    )
    constant = np.zeros(form.n)
    constant[columns] = form.b[rows] / pivot
    moved = sp.coo_array(scale @ form.B[rows])
    private = sp.csr_array((moved.data, (columns[moved.coords[0]], moved.coords[1])), shape=(form.n, numbers))

    curved = _curved_part(form, there, constant, private)
    new_column = np.full(form.n, -1)
    new_column[rest] = np.arange(len(rest))
    new_row = np.full(form.m, -1)
    new_row[kept] = np.arange(len(kept))
    places = form.places
    named = _name_after_the_row(form, rows, columns)
    return form.with_(
        **curved,
        A=sp.csr_array(_dusted((form.A @ there)[kept])),
        b=(form.b - form.A @ constant)[kept],
        B=sp.csr_array(_dusted((form.B - form.A @ private)[kept])),
        places=Places(new_row[places.row], new_column[places.column], places.number, places.coefficient),
        column_block=form.column_block[rest],
        rows=named,
        row_block=form.row_block[kept],
        row_entry=form.row_entry[kept],
        row_origin=form.row_origin[kept],
        lift=Lift(there, constant, private).then(form.lift),
    )


def _curved_part(form, there, constant, private):
    """The objective in the columns that are left, x ↦ there·x + constant + private·θ put into it."""
    if form.P.nnz == 0 and form.C.nnz == 0:
        empty = sp.csr_array((there.shape[1], form.C.shape[1]))
        return {
            "P": sp.csc_array((there.shape[1], there.shape[1])),
            "q": there.T @ form.q,
            "C": empty,
            "d": form.d + dot(form.q, constant),
            "e": form.e + private.T @ form.q,
        }
    P_constant, P_private = form.P @ constant, form.P @ private
    return {
        "P": sp.csc_array(_dusted(there.T @ form.P @ there)),
        "q": there.T @ (form.q + P_constant),
        "C": sp.csr_array(_dusted(there.T @ (form.C + P_private))),
        "d": form.d + dot(form.q, constant) + 0.5 * dot(constant, P_constant),
        "e": form.e + private.T @ (form.q + P_constant) + form.C.T @ constant,
        "H": sp.csr_array(form.H + 0.5 * (private.T @ P_private) + form.C.T @ private),
    }


def _others(count, removed):
    """All positions but the removed ones."""
    left = np.ones(count, dtype=bool)
    left[removed] = False
    return np.flatnonzero(left)


def _dusted(matrix):
    """Without what rounding left where terms of a row cancel."""
    matrix = sp.csr_array(matrix)
    if matrix.nnz:
        size, row = np.abs(matrix.data), np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        largest = np.zeros(matrix.shape[0])
        np.maximum.at(largest, row, size)
        matrix.data[size <= DUST * largest[row]] = 0.0
        matrix.eliminate_zeros()
    return matrix


def _name_after_the_row(form, rows, columns):
    """A cone whose variable now lies on a row of the user is that constraint: it takes the name."""
    renamed = list(form.rows)
    gone = set(rows.tolist())
    by_columns = form.A.tocsc()
    count = np.bincount(form.row_block, minlength=len(form.rows))
    alone = count[form.row_block[rows]] == 1
    for i, j in zip(rows[alone].tolist(), columns[alone].tolist()):
        source = form.rows[form.row_block[i]]
        if source.kind not in ("user", "added"):
            continue
        inside = [
            r for r in by_columns.indices[by_columns.indptr[j] : by_columns.indptr[j + 1]].tolist() if r not in gone
        ]
        blocks = set(form.row_block[inside].tolist())
        if len(blocks) == 1:
            (block,) = blocks
            renamed[block] = replace(renamed[block], name=source.name, kind=source.kind, atom=None, said=source.said)
    return renamed
