"""Which auxiliary variables follow the noise.

CVXPY replaces a curved atom by auxiliary variables and rows that define them. Where a constraint of the user depends on
such a variable, the rows that define it are part of that constraint: the variable is a witness, and its rows hold with
the noise. Where the objective alone depends on it, it prices the mean decision: it is decided before the noise, and its
rows hold at the mean.

What decides is whether a constraint can be reached, not where the atom was met first: CVXPY shares auxiliary variables
between the objective and the constraints, and a shared row that held at the mean alone would leave the user's constraint
without any claim.
"""

import numpy as np
import scipy.sparse as sp


def reach(form):
    """The form with the set of atoms that a constraint of the user depends on, directly or through other atoms."""
    if all(c.atom is None for c in form.columns):
        return form
    atom_of_block = np.array([-1 if c.atom is None else c.atom for c in form.columns], dtype=int)
    by_rows = _pattern(form)
    atom_of_row = np.array([-1 if r.atom is None else r.atom for r in form.rows], dtype=int)[form.row_block]
    is_constraint = form.rows_where(lambda r: r.kind != "auxiliary")

    def atoms_in(rows):
        found = np.zeros(len(form.columns), dtype=bool)
        found[form.column_block[by_rows[rows].indices]] = True
        return {int(a) for a in atom_of_block[found] if a >= 0}

    reached, open_ = set(), atoms_in(np.flatnonzero(is_constraint))
    order = np.argsort(atom_of_row, kind="stable")
    starts = np.searchsorted(atom_of_row[order], np.arange(atom_of_row.max(initial=-1) + 2))
    while open_:
        atom = open_.pop()
        reached.add(atom)
        rows = order[starts[atom] : starts[atom + 1]] if atom + 1 < len(starts) else order[:0]
        open_ |= atoms_in(rows) - reached
    return form.with_(reached=frozenset(reached))


def _pattern(form):
    """Where A has an entry, public or private."""
    if len(form.places.row) == 0:
        return form.A
    private = sp.csr_array((np.ones(len(form.places.row)), (form.places.row, form.places.column)), shape=form.A.shape)
    public = sp.csr_array((np.ones(form.A.nnz), form.A.indices, form.A.indptr), shape=form.A.shape)
    return sp.csr_array(public + private)


def stages(form, decisions, here_and_now, everything_follows, carries):
    """The stage of each block of columns.

    `decisions` and `here_and_now` are ids of variables of the user (`decisions` is None where all of them are);
    `everything_follows` is said where a cost is released through its epigraph, whose rows hold with the noise as a whole;
    `carries` where the decisions carry the noise, and not the answer alone.
    """
    tied = _tied_by_equalities(form)
    found = []
    for number, block in enumerate(form.columns):
        if block.kind == "user":
            identifier = block.variable.id
            if identifier in here_and_now:
                stage = "here-and-now"
            elif decisions is None or identifier in decisions:
                stage = "decision"
            else:
                stage = "witness"
        elif block.kind == "auxiliary":
            follows = everything_follows or block.atom is None or block.atom in form.reached or number in tied
            stage = "witness" if follows else "here-and-now"
        elif block.kind == "epigraph":
            stage = "epigraph" if carries else "witness"
        else:  # what holds a constant
            stage = "here-and-now" if carries else "witness"
        found.append(stage)
    return found


def holds(form, everything_follows):
    """How each block of rows holds: equalities whatever the noise, what the objective alone needs at the mean."""
    return [
        "at-the-mean"
        if r.kind == "auxiliary"
        and r.atom is not None
        and r.atom not in form.reached
        and r.cone != "zero"
        and not everything_follows
        else "with-noise"
        for r in form.rows
    ]


def _tied_by_equalities(form):
    """Blocks that stand in an equality that was not substituted: equalities hold whatever the noise, so they follow it."""
    is_equality = form.rows_where(lambda r: r.cone == "zero")
    if not np.any(is_equality):
        return set()
    found = np.zeros(len(form.columns), dtype=bool)
    found[form.column_block[_pattern(form)[np.flatnonzero(is_equality)].indices]] = True
    return set(np.flatnonzero(found).tolist())
