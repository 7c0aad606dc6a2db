"""Two limits that meet are one equality: `x >= 3, x <= 3`, or `x >= d, x <= d` with a private d.

Both say the same of every decision that is promised. As limits they leave no room between them, which no noise fits and
where no solve can be proven; as an equality they hold whatever the noise.
"""

from dataclasses import replace

import numpy as np

from . import names

CLOSE = 1e-12
"""Right-hand sides that differ by less, relative to their size, are the same."""

ALIKE = 1e-10
"""Sums that differ by less, relative to their size, may be of opposite rows."""


def meet(form):
    """The form with such pairs of linear rows of the user as equalities."""
    pairs = _opposite_rows(form)
    if not pairs:
        return form
    kept, gone, factor = (np.array(side) for side in zip(*pairs))
    blocks, row_block, unique = list(form.rows), form.row_block.copy(), names.Unique()
    for rows in blocks:
        unique.name(rows.name)
    for number in sorted(set(form.row_block[kept].tolist())):
        source = form.rows[number]
        said = f"{source.said or source.name}, limits that meet"
        row_block[kept[form.row_block[kept] == number]] = len(blocks)
        blocks.append(replace(source, name=unique.name(names.clean(said, "limits that meet")), cone="zero", said=said))
    left = np.ones(form.m, dtype=bool)
    left[gone] = False
    order = np.flatnonzero(left)
    order = order[np.argsort(row_block[order], kind="stable")]
    position = np.full(form.m, -1)
    position[order] = np.arange(len(order))
    return form.with_(
        A=form.A[order],
        b=form.b[order],
        B=form.B[order],
        places=replace(form.places, row=position[form.places.row]),
        rows=blocks,
        row_block=row_block[order],
        row_entry=form.row_entry[order],
        row_origin=form.row_origin[order],
        met=(form.row_origin[kept], form.row_origin[gone], factor),
    )


def _opposite_rows(form):
    """(row, its opposite, factor) where A and b of the opposite are −factor times those of the row."""
    is_limit = form.rows_where(lambda r: r.cone == "nonnegative" and r.kind in ("user", "attribute"))
    is_limit[form.places.row] = False
    is_limit &= np.diff(form.A.indptr) > 0
    limits = np.flatnonzero(is_limit)
    if len(limits) < 2:
        return []
    A, B = form.A, form.B
    first = _first_of_each(A)[limits]
    size = np.abs(first)
    if np.any(size == 0.0):
        return []
    # Rows that say the opposite have opposite sums of random multiples: a few candidates are left to compare.
    rng = np.random.default_rng(11)
    b = form.b[limits] / size
    sums = A @ rng.uniform(1.0, 2.0, A.shape[1]) + B @ rng.uniform(1.0, 2.0, B.shape[1])
    sums = np.abs(sums[limits] / size + np.pi * b)
    order = np.argsort(sums, kind="stable")
    sums = sums[order]
    near = np.diff(sums) <= ALIKE * sums[1:]
    if not np.any(near):
        return []
    # Runs of sums that are near each other; of two opposite rows one has a positive first coefficient.
    A, B = A.sorted_indices(), B.sorted_indices()
    edges = np.flatnonzero(np.diff(np.concatenate([[False], near, [False]]).astype(int)))
    is_up, pairs = first > 0.0, []
    for start, end in zip(edges[::2].tolist(), edges[1::2].tolist()):
        run = order[start : end + 1]
        for i, j in zip(run[is_up[run]].tolist(), run[~is_up[run]].tolist()):
            rows = [(A, limits[i], limits[j]), (B, limits[i], limits[j])]
            if abs(b[i] + b[j]) <= CLOSE * max(abs(b[i]), abs(b[j]), CLOSE) and all(
                _is_opposite(*row, size[i], size[j]) for row in rows
            ):
                pairs.append((limits[i], limits[j], size[j] / size[i]))
    return pairs


def _first_of_each(matrix):
    """The entry of each row in its first column, 0 in rows without entries: sorting all of them takes longer."""
    counts = np.diff(matrix.indptr)
    filled = np.flatnonzero(counts)
    first = np.zeros(matrix.shape[0])
    lowest = np.minimum.reduceat(matrix.indices, matrix.indptr[:-1][filled])
    is_first = matrix.indices == np.repeat(lowest, counts[filled])
    first[np.repeat(filled, counts[filled])[is_first]] = matrix.data[is_first]
    return first


def _is_opposite(matrix, i, j, size_i, size_j):
    """Whether row j is the opposite of row i, each in its own units."""
    one, other = (slice(matrix.indptr[k], matrix.indptr[k + 1]) for k in (i, j))
    return np.array_equal(matrix.indices[one], matrix.indices[other]) and np.array_equal(
        matrix.data[one] / size_i, -matrix.data[other] / size_j
    )
