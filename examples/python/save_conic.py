"""Save a conic problem from Python, in the JSON that `model = "conic"` reads.

    minimise  1/2 x'Px + q'x   subject to   b - Ax in a product of cones

`save_conic` takes P and A as `scipy.sparse` matrices (of any format) or as anything with the attributes of one in
compressed columns: `data`, `indices`, `indptr`, `shape`. It needs nothing but Python itself.

Run as a program it writes the problem of `examples/specs/two-generators.toml`:

    python3 save_conic.py two-generators.json
"""

import json
import math
import os
import sys


def zero(rows):
    """s = 0."""
    return {"ZeroConeT": int(rows)}


def nonnegative(rows):
    """s >= 0."""
    return {"NonnegativeConeT": int(rows)}


def second_order(rows):
    """norm(s[1:]) <= s[0]."""
    return {"SecondOrderConeT": int(rows)}


def exponential():
    """s[1] exp(s[0] / s[1]) <= s[2], s[1] > 0: three rows."""
    return {"ExponentialConeT": []}


def power(exponent):
    """s[0]**a s[1]**(1 - a) >= abs(s[2]) with 0 < a < 1: three rows."""
    return {"PowerConeT": float(exponent)}


def generalised_power(exponents, rows):
    """prod(u[i]**a[i]) >= norm(w) for s = (u, w), w of this many rows."""
    return {"GenPowerConeT": [[float(a) for a in exponents], int(rows)]}


def semidefinite(order):
    """The upper triangle of a positive semidefinite matrix, column by column, off-diagonal entries times sqrt(2)."""
    return {"PSDTriangleConeT": int(order)}


def rows_of(cone):
    """How many rows of A a cone covers."""
    (name, size), = cone.items()
    if name in ("ExponentialConeT", "PowerConeT"):
        return 3
    if name == "GenPowerConeT":
        return len(size[0]) + size[1]
    if name == "PSDTriangleConeT":
        return size * (size + 1) // 2
    return size


def save_conic(path, P, q, A, b, cones, replace=False):
    """Writes the problem to a new file; to one that is there already only with `replace`."""
    text = conic_json(P, q, A, b, cones) + "\n"
    flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if replace else os.O_EXCL)
    with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


def conic_json(P, q, A, b, cones):
    """The text of the file. The problem holds private data: so does the text."""
    P, A = _columns(P, "P", is_upper=True), _columns(A, "A")
    q, b = _numbers(q, "q"), _numbers(b, "b")
    cones = list(cones)
    n, m = len(q), len(b)
    if (P["m"], P["n"]) != (n, n):
        raise ValueError(f"P is {P['m']} by {P['n']}, and q has {n} entries")
    if (A["m"], A["n"]) != (m, n):
        raise ValueError(f"A is {A['m']} by {A['n']}, but must be {m} by {n}: b has {m} entries and q has {n}")
    covered = sum(rows_of(cone) for cone in cones)
    if covered != m:
        raise ValueError(f"the cones cover {covered} rows, and A has {m}")
    problem = {"P": P, "q": q, "A": A, "b": b, "cones": cones, "settings": {}}
    return json.dumps(problem, allow_nan=False)


def _columns(matrix, name, is_upper=False):
    """A matrix in compressed columns: rows in order, entries of one place added up, of a symmetric one the upper half."""
    if hasattr(matrix, "tocsc"):
        matrix = matrix.tocsc()
    if not all(hasattr(matrix, part) for part in ("data", "indices", "indptr", "shape")):
        raise TypeError(f"{name} must be a sparse matrix: scipy.sparse.csc_matrix({name})")
    rows, columns = (int(size) for size in matrix.shape)
    indptr = [int(place) for place in matrix.indptr]
    indices, data = [int(row) for row in matrix.indices], _numbers(matrix.data, name)
    if len(indptr) != columns + 1 or indptr[0] != 0 or indptr[-1] != len(indices) or len(indices) != len(data):
        raise ValueError(f"{name} is no matrix in compressed columns: its lists do not fit each other")
    each = []
    for j in range(columns):
        entries = {}
        for place in range(indptr[j], indptr[j + 1]):
            if not 0 <= indices[place] < rows:
                raise ValueError(f"{name} has an entry in row {indices[place]}, and {rows} rows")
            # Stored zeros stay: a private coefficient needs a place in the file.
            entries[indices[place]] = entries.get(indices[place], 0.0) + data[place]
        each.append(entries)
    if is_upper:
        for j, entries in enumerate(each):
            for i in [i for i in entries if i > j]:
                if each[i].get(j) != entries[i]:
                    raise ValueError(f"{name} is not symmetric: entry ({i}, {j}) and ({j}, {i}) differ")
                del entries[i]
    colptr, rowval, nzval = [0], [], []
    for entries in each:
        for i in sorted(entries):
            rowval.append(i)
            nzval.append(entries[i])
        colptr.append(len(rowval))
    return {"m": rows, "n": columns, "colptr": colptr, "rowval": rowval, "nzval": nzval}


def _numbers(values, name):
    numbers = [float(value) for value in values]
    for index, number in enumerate(numbers):
        if not math.isfinite(number):
            raise ValueError(f"{name} has {number} at place {index}: it must be finite; leave out a bound that is none")
    return numbers


def main(path):
    """min x1 + 3 x2 subject to x1 + x2 = 10, 0 <= x1 <= 10, 0 <= x2 <= 2."""
    rows = [[1, 1], [-1, 0], [0, -1], [1, 0], [0, 1]]
    try:
        from scipy.sparse import csc_matrix
    except ImportError:
        csc_matrix = _Dense
    P, A = csc_matrix([[0.0, 0.0], [0.0, 0.0]]), csc_matrix([[float(a) for a in row] for row in rows])
    save_conic(path, P, [1.0, 3.0], A, [10.0, 0.0, 0.0, 10.0, 2.0], [zero(1), nonnegative(4)])


class _Dense:
    """A small matrix by rows, where there is no scipy."""

    def __init__(self, rows):
        self.shape = (len(rows), len(rows[0]))
        self.data, self.indices, self.indptr = [], [], [0]
        for j in range(self.shape[1]):
            for i, row in enumerate(rows):
                if row[j] != 0.0:
                    self.data.append(row[j])
                    self.indices.append(i)
            self.indptr.append(len(self.data))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 save_conic.py FILE.json")
    main(sys.argv[1])
