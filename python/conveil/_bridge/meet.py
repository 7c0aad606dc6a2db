"""Two limits that meet are one equality: `x >= 3, x <= 3`, or `x >= d, x <= d` with a private d.

Both say the same of every decision that is promised. As limits they leave no room between them, which no noise fits and
where no solve can be proven; as an equality they hold whatever the noise.
"""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from . import names

CLOSE = 1e-12
"""Right-hand sides that differ by less, relative to their size, are the same."""


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
    A, B = sp.csr_array(form.A), sp.csr_array(form.B)
    A.sort_indices()
    B.sort_indices()
    waiting, pairs = {}, []
    for i in np.flatnonzero(is_limit).tolist():
        at, of = slice(A.indptr[i], A.indptr[i + 1]), slice(B.indptr[i], B.indptr[i + 1])
        values = A.data[at]
        if len(values) == 0 or values[0] == 0.0:
            continue
        size = abs(values[0])
        columns, numbers = A.indices[at].tobytes(), B.indices[of].tobytes()
        scaled, private, b = values / size, B.data[of] / size, form.b[i] / size
        key = (columns, numbers, np.round(np.abs(scaled), 9).tobytes())
        for other in waiting.get(key, []):
            j, scaled_j, private_j, b_j, size_j = other
            is_opposite = np.array_equal(scaled, -scaled_j) and np.array_equal(private, -private_j)
            if is_opposite and abs(b + b_j) <= CLOSE * max(abs(b), abs(b_j), CLOSE):
                pairs.append((j, i, size / size_j))
                waiting[key].remove(other)
                break
        else:
            waiting.setdefault(key, []).append((i, scaled, private, b, size))
    return pairs
