"""The numbers of a cone program, each constant plus affine in the private numbers θ.

minimise  ½x'Px + (q + Cθ)'x + d + e'θ + θ'Hθ   subject to   (b + Bθ) − (A + Σ θ_k A_k)x ∈ K
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from .._errors import InputError
from . import names


@dataclass(frozen=True)
class Columns:
    """A block of columns: one variable of the user, or of an atom."""

    name: str
    kind: str
    """`user`, `auxiliary`, `epigraph`, `constant` or `one`."""
    variable: object = None
    """The user's variable."""
    atom: int = None
    """The atom that introduced an auxiliary one; none if that is not known."""
    said: str = ""
    """The user's expression that an auxiliary one was introduced for."""


@dataclass(frozen=True)
class Rows:
    """A block of rows in one cone."""

    name: str
    cone: str
    kind: str
    """`user`, `attribute`, `auxiliary` or `added`."""
    exponents: tuple = ()
    shape: tuple = ()
    """Of the user's constraint, for the names of its rows."""
    atom: int = None
    said: str = ""
    """The name as the user knows it, with the brackets that the engine keeps for entries."""


@dataclass(frozen=True)
class Places:
    """Entries of A that contain private numbers: A[row, column] += coefficient·θ[number]."""

    row: np.ndarray
    column: np.ndarray
    number: np.ndarray
    coefficient: np.ndarray


@dataclass(frozen=True)
class Lift:
    """CVXPY's columns from the columns that are left: y = matrix·x + constant + private·θ."""

    matrix: sp.csr_array
    constant: np.ndarray
    private: sp.csr_array

    def at(self, x, theta):
        return self.matrix @ x + self.constant + self.private @ theta

    def then(self, other):
        """This one, and then the other; None is no change."""
        if other is None:
            return self
        return Lift(
            sp.csr_array(other.matrix @ self.matrix),
            other.constant + other.matrix @ self.constant,
            sp.csr_array(other.private + other.matrix @ self.private),
        )


@dataclass(frozen=True)
class Form:
    """See the head of this file."""

    P: sp.csc_array
    """Both triangles."""
    q: np.ndarray
    A: sp.csr_array
    b: np.ndarray
    d: float
    C: sp.csr_array
    B: sp.csr_array
    e: np.ndarray
    H: sp.csr_array
    places: Places
    columns: list
    column_block: np.ndarray
    """Which block each column belongs to."""
    rows: list
    row_block: np.ndarray
    row_entry: np.ndarray
    """Which entry of its constraint each row is."""
    is_flipped: bool
    private_in_P: bool = False
    reached: frozenset = frozenset()
    """Atoms that a constraint of the user depends on; see `reach`."""
    lift: "Lift" = None
    """From these columns back to the columns of CVXPY's program; None where they are the same."""
    row_origin: np.ndarray = None
    """Which row of CVXPY's program each row is; −1 for one that was added."""
    met: tuple = ((), (), ())
    """CVXPY's rows that are equalities here, those that said the opposite and are gone, and the factors; see `meet`."""

    @property
    def n(self):
        return len(self.q)

    @property
    def m(self):
        return len(self.b)

    def with_(self, **changes):
        return replace(self, **changes)

    def at(self, theta):
        """P, q, A, b and the constant at these numbers."""
        A = self.A
        if len(self.places.row):
            values = self.places.coefficient * theta[self.places.number]
            A = A + sp.csr_array((values, (self.places.row, self.places.column)), shape=A.shape)
        constant = self.d + dot(self.e, theta) + dot(theta, self.H @ theta)
        return self.P, self.q + self.C @ theta, A, self.b + self.B @ theta, constant

    def kinds(self):
        """The kind of each column."""
        return np.array([c.kind for c in self.columns], dtype=object)[self.column_block]

    def is_kind(self, kind):
        """Whether each column is of this kind."""
        return np.array([c.kind == kind for c in self.columns], dtype=bool)[self.column_block]

    def rows_where(self, says):
        """Whether each row is in a block of which this is true."""
        return np.array([says(r) for r in self.rows], dtype=bool)[self.row_block]

    def columns_of(self, variable):
        """The columns of a variable of the user."""
        for number, block in enumerate(self.columns):
            if block.variable is not None and block.variable.id == variable.id:
                return np.flatnonzero(self.column_block == number)
        raise InputError(f"`{variable.name()}` is not a variable of the problem")


def dot(a, b):
    """a'b without BLAS, whose threads cost more than they save here."""
    return float(np.sum(a * b))


def extract(compiled, numbers, public_value, constraints):
    """Reads a compiled program.

    `numbers` are the stand-ins of the private parameters in order, `public_value` gives the value of any other parameter,
    `constraints` are the user's own.
    """
    program = compiled.program
    n = program.x.size
    m = program.A.shape[0] // (n + 1)
    width = program.A.shape[1]
    weights = np.zeros(width)
    weights[width - 1] = 1.0
    first = dict(zip((p.id for p in numbers), np.cumsum([0] + [p.size for p in numbers])))
    count = sum(p.size for p in numbers)
    theta_of = np.full(width, -1)
    for parameter in program.parameters:
        at = program.param_id_to_col[parameter.id]
        if parameter.id in first:
            theta_of[at : at + parameter.size] = first[parameter.id] + np.arange(parameter.size)
        else:
            weights[at : at + parameter.size] = public_value(parameter)
    height = max(m, 1)
    (at, value), (entry, number, coefficient) = _split(program.A, weights, theta_of)
    row, column = at % height, at // height
    in_A = column < n
    A = sp.csr_array((-value[in_A], (row[in_A], column[in_A])), shape=(m, n))
    b = np.zeros(m)
    b[row[~in_A]] = value[~in_A]
    row, column = entry % height, entry // height
    in_A = column < n
    places = Places(row[in_A], column[in_A], number[in_A], -coefficient[in_A])
    B = sp.csr_array((coefficient[~in_A], (row[~in_A], number[~in_A])), shape=(m, count))
    (at, value), (entry, number, coefficient) = _split(_linear_cost(program), weights, theta_of)
    linear = np.zeros(n + 1)
    linear[at] = value
    in_q = entry < n
    C = sp.csr_array((coefficient[in_q], (entry[in_q], number[in_q])), shape=(n, count))
    e = np.zeros(count)
    np.add.at(e, number[~in_q], coefficient[~in_q])
    P, private_in_P = sp.csc_array((n, n)), False
    if program.P is not None:
        (at, value), (entry, _, _) = _split(program.P, weights, theta_of)
        P = sp.csc_array((value, (at % n, at // n)), shape=(n, n))
        private_in_P = len(entry) > 0
    columns, column_block = _columns(compiled, n)
    rows, row_block, row_entry = _rows(compiled, constraints)
    if len(row_block) != m:
        raise AssertionError(f"the cones have {len(row_block)} rows and the matrix {m}")
    return Form(
        P,
        linear[:n].copy(),
        A,
        b,
        float(linear[n]),
        C,
        B,
        e,
        sp.csr_array((count, count)),
        places,
        columns,
        column_block,
        rows,
        row_block,
        row_entry,
        compiled.is_flipped,
        private_in_P,
        row_origin=np.arange(m),
    )


def _linear_cost(program):
    """CVXPY up to 1.7 calls it c."""
    return program.q if hasattr(program, "q") else program.c


def _split(tensor, weights, theta_of):
    """A tensor, entry by parameter: (entry, value) of its public part, (entry, number, coefficient) of its private one."""
    coo = sp.coo_array(tensor)
    entry, parameter = coo.coords
    entry = entry.astype(np.int64)
    theta = theta_of[parameter]
    public = (theta < 0) & (coo.data != 0.0)
    at, value = entry[public], coo.data[public] * weights[parameter[public]]
    if np.any(parameter[public] != len(weights) - 1):
        at, inverse = np.unique(at, return_inverse=True)
        value = np.bincount(inverse, weights=value, minlength=len(at))
    kept = value != 0.0
    private = (theta >= 0) & (coo.data != 0.0)
    return (at[kept], value[kept]), (entry[private], theta[private], coo.data[private])


def _columns(compiled, n):
    program, unique = compiled.program, names.Unique()
    blocks, block_of = [], np.empty(n, dtype=int)
    ordered = sorted(program.variables, key=lambda v: program.var_id_to_col[v.id])
    taken = {}
    for variable in ordered:
        user = compiled.user_variable.get(variable.id)
        if user is not None:
            taken[variable.id] = unique.name(names.clean(user.name(), "x"))
    for number, variable in enumerate(ordered):
        at = program.var_id_to_col[variable.id]
        block_of[at : at + variable.size] = number
        user = compiled.user_variable.get(variable.id)
        if user is not None:
            blocks.append(Columns(taken[variable.id], "user", user))
            continue
        atom = compiled.atom_of_variable.get(variable.id)
        what = compiled.atoms[atom].name if atom is not None else "auxiliary"
        said = names.of_expression(compiled.atoms[atom].expression) if atom is not None else ""
        blocks.append(Columns(unique.name(f"{what} in between"), "auxiliary", atom=atom, said=said))
    return blocks, block_of


def _rows(compiled, constraints):
    from cvxpy.constraints import SOC, ExpCone, NonNeg, PowCone3D, PowConeND, Zero

    unique = names.Unique()
    blocks, sizes = [], []
    for constraint in compiled.program.constraints:
        shape, atom = (), None
        if constraint.id in compiled.user_constraint:
            position = compiled.user_constraint[constraint.id]
            wanted, kind = constraint_name(constraints[position], position), "user"
            shape = tuple(constraints[position].shape)
        elif constraint.id in compiled.atom_of_constraint:
            atom = compiled.atom_of_constraint[constraint.id]
            wanted, kind = f"definition of {compiled.atoms[atom].name}", "auxiliary"
        else:
            wanted, kind, atom = _attribute(constraint, compiled)
        if isinstance(constraint, Zero):
            cones = [("zero", constraint.size, ())]
        elif isinstance(constraint, NonNeg):
            cones = [("nonnegative", constraint.size, ())]
        elif isinstance(constraint, SOC):
            cones = [("second-order", int(size), ()) for size in constraint.cone_sizes()]
        elif isinstance(constraint, ExpCone):
            cones = [("exponential", 3, ())] * constraint.num_cones()
        elif isinstance(constraint, PowCone3D):
            cones = [("power", 3, (float(a),)) for a in np.ravel(constraint.alpha.value)]
        elif isinstance(constraint, PowConeND):
            alpha = np.asarray(constraint.alpha.value)
            alpha = alpha[:, None] if alpha.ndim == 1 else alpha
            cones = [("generalised-power", len(a) + 1, tuple(map(float, a))) for a in alpha.T]
        else:  # a semidefinite cone, in either of CVXPY's two classes for it
            orders = constraint.cone_sizes() if hasattr(constraint, "cone_sizes") else [constraint.shape[0]]
            cones = [("semidefinite", int(k) * (int(k) + 1) // 2, ()) for k in orders]
        for number, (cone, size, exponents) in enumerate(cones):
            said = wanted if len(cones) == 1 else f"{wanted}, part {number}"
            name = unique.name(names.clean(said, "constraint"))
            fits = len(cones) == 1 and size == int(np.prod(shape, dtype=int))
            blocks.append(Rows(name, cone, kind, exponents, shape if fits else (), atom, said))
            sizes.append(size)
    row_block = np.repeat(np.arange(len(blocks)), sizes)
    row_entry = np.concatenate([np.arange(s) for s in sizes]) if sizes else np.zeros(0, dtype=int)
    return blocks, row_block, row_entry


def constraint_name(constraint, position):
    """The user's label, else the constraint as CVXPY prints it where that is short, else its position."""
    label = getattr(constraint, "label", None) or getattr(constraint, "_label", None)
    if label:
        return names.visible(label)[: names.LONGEST]
    text = names.visible(names.of_expression(constraint, limit=names.LONGEST))
    if len(text) > 60:
        return f"constraint {position + 1}"
    return text if constraint.size == 1 else f"({text})"


def _attribute(constraint, compiled):
    """Name, kind and atom of a row that CVXPY makes of the attributes of a variable."""
    found = constraint.variables()
    user = [compiled.user_variable[v.id] for v in found if v.id in compiled.user_variable]
    if len(user) == 1:
        attributes = user[0].attributes
        words = [w for w in _BOUNDING if attributes.get(w) is not None and attributes.get(w) is not False]
        if words:
            return f"{names.clean(user[0].name(), 'x')}: {' and '.join(words)}", "attribute", None
    atoms = {compiled.atom_of_variable.get(v.id) for v in found}
    if not user and len(atoms) == 1 and None not in atoms:
        (atom,) = atoms
        return f"sign of {compiled.atoms[atom].name}", "auxiliary", atom
    # Of a problem inside of another one, which CVXPY does not keep track of: it holds with the noise.
    return "constraint of an inner problem", "attribute", None


_BOUNDING = ("nonneg", "nonpos", "pos", "neg", "PSD", "NSD", "bounds")
