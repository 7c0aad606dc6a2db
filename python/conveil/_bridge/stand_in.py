"""Public parameters in the place of the private ones.

Everything after this module works on copies of the problem in which each private parameter is replaced by a stand-in of
the same shape and sign with a public value. The user's own parameters are neither read nor written, so that a plan can
be made before there is any data, in any thread, and a parameter whose `value` raises serves as well as any other.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from .._errors import InputError
from . import names
from .admit import refuse

_SYMMETRIC = ("symmetric", "PSD", "NSD", "hermitian")


@dataclass(frozen=True)
class Entries:
    """The numbers of one private parameter: each of them once, also where the parameter is symmetric or diagonal."""

    parameter: object
    """The user's parameter; never its value."""
    positions: np.ndarray
    """Where each number stands in the parameter, counted down the columns."""
    full: sp.csr_array
    """Maps the numbers to all entries of the parameter."""

    @cached_property
    def names(self):
        """One for each number."""
        whole = self.count == self.parameter.size
        name = names.clean(self.parameter.name(), "parameter")
        return names.entries(name, tuple(self.parameter.shape), None if whole else self.positions)

    @property
    def count(self):
        return len(self.positions)

    def take(self, value, what):
        """The numbers in a value for the whole parameter: a number, an array or a sparse matrix of its shape."""
        shape = self.parameter.shape
        try:
            array = np.asarray(value.toarray() if sp.issparse(value) else value, dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"{what} is not made of numbers") from None
        try:
            array = np.broadcast_to(array, shape)
        except ValueError:
            raise InputError(
                f"{what} has the shape {array.shape}, and `{self.parameter.name()}` has {tuple(shape)}"
            ) from None
        flat = array.flatten(order="F")
        if not np.all(np.isfinite(flat[self.positions])):
            raise InputError(f"{what} holds a number that is not finite")
        return flat[self.positions]


def entries_of(parameter):
    """Which numbers of a parameter are free: the upper triangle of a symmetric one, the diagonal of a diagonal one."""
    shape, attributes = tuple(parameter.shape), parameter.attributes
    size = int(np.prod(shape, dtype=int))
    every = np.arange(size)
    if any(attributes.get(word) for word in _SYMMETRIC):
        if len(shape) != 2:
            refuse(
                f"the parameter `{parameter.name()}` of shape {shape}",
                "it is a stack of symmetric matrices",
                "one symmetric parameter for each matrix",
            )
        n = shape[0]
        row, column = np.triu_indices(n)
        positions = row + n * column
        lower = column + n * row
        number = np.arange(len(positions))
        apart = row != column
        at = np.concatenate([positions, lower[apart]])
        of = np.concatenate([number, number[apart]])
    elif attributes.get("diag"):
        positions = at = np.arange(shape[0]) * (shape[0] + 1)
        of = np.arange(len(positions))
    elif attributes.get("sparsity"):
        if not hasattr(parameter, "sparse_idx"):
            refuse(
                f"the sparse parameter `{parameter.name()}`",
                "this version of CVXPY does not say which of its entries there are",
                "a newer CVXPY, or a parameter for its entries that are not zero",
            )
        positions = at = np.ravel_multi_index(parameter.sparse_idx, shape, order="F")
        of = np.arange(len(positions))
    else:
        positions = at = of = every
    full = sp.csr_array((np.ones(len(at)), (at, of)), shape=(size, len(positions)))
    return Entries(parameter, positions, full)


@dataclass(frozen=True)
class StandIn:
    """A copy of the user's problem without the private parameters."""

    problem: object
    parameters: list
    """For each private parameter, the plain parameter that holds its free numbers."""
    is_like_the_user: bool
    """Whether every plain parameter has the shape of the private one."""

    def with_numbers(self, numbers):
        """The copy with these public numbers in the place of the private ones."""
        for parameter, values in zip(self.parameters, numbers):
            parameter.save_value(np.asarray(values).reshape(parameter.shape, order="F"))
        return self.problem


class Public:
    """The public parameters of a problem as constants: their values when the plan is made."""

    def __init__(self, problem, private):
        import cvxpy as cp

        ids = {p.id for p in private}
        self._constants, self._values = {}, {}
        for parameter in problem.parameters():
            if parameter.id in ids:
                continue
            value = parameter.value
            if value is None:
                raise InputError(
                    f"the parameter `{parameter.name()}` has no value: it is public, since private= does not name it"
                )
            value = value.copy() if hasattr(value, "copy") else value
            self._constants[id(parameter)] = cp.Constant(value)
            self._values[parameter.id] = (parameter, value)

    @property
    def constants(self):
        """By the identity of each parameter."""
        return dict(self._constants)

    def in_place(self, expression):
        """A copy of the expression with the constants in it."""
        return expression.tree_copy(id_objects=self.constants) if self._constants else expression

    def value(self, parameter):
        """The value of a parameter that stands where no constant can, such as a bound of a variable."""
        value = self._values[parameter.id][1]
        return np.asarray(value.toarray() if sp.issparse(value) else value, dtype=float).flatten(order="F")

    def changed(self):
        """A public parameter whose value is no longer that of the plan; None if there is none."""
        for parameter, planned in self._values.values():
            now = parameter.value
            if (
                now is None
                or np.shape(now) != np.shape(planned)
                or (now != planned if np.isscalar(now) else _differs(now, planned))
            ):
                return parameter
        return None


def _differs(now, planned):
    def dense(value):
        return value.toarray() if sp.issparse(value) else np.asarray(value)

    return not np.array_equal(dense(now), dense(planned))


def stand_in(problem, entries, public):
    """A copy in which every private parameter is an affine function of a plain vector of its free numbers."""
    import cvxpy as cp
    from cvxpy.atoms.affine.wraps import psd_wrap, symmetric_wrap

    replaced, plain, is_like_the_user = public.constants, [], True
    for entry in entries:
        parameter, attributes = entry.parameter, entry.parameter.attributes
        sign = {word: True for word in ("nonneg", "nonpos", "pos", "neg") if attributes.get(word)}
        if entry.count == parameter.size and not any(attributes.get(word) for word in _SYMMETRIC):
            vector = cp.Parameter(parameter.shape, name=parameter.name(), **sign)
            expression = vector
        else:
            is_like_the_user = False
            vector = cp.Parameter(entry.count, name=parameter.name(), **sign)
            expression = cp.reshape(cp.Constant(entry.full) @ vector, parameter.shape, order="F")
            if attributes.get("PSD"):
                expression = psd_wrap(expression)
            elif attributes.get("NSD"):
                expression = -psd_wrap(-expression)
            elif attributes.get("symmetric") or attributes.get("hermitian"):
                expression = symmetric_wrap(expression)
        replaced[id(parameter)] = expression
        plain.append(vector)
    return StandIn(_copy(problem, entries, replaced), plain, is_like_the_user)


def like_the_user(problem, entries, numbers, public, variables=None):
    """A copy in which every private parameter is another one with its attributes and these numbers.

    `variables` may give, by the id of a variable, another one to stand in its place: then the copy can be solved or
    evaluated without a trace in the user's own variables.
    """
    import cvxpy as cp

    replaced = public.constants
    if variables:
        replaced |= {id(v): variables[v.id] for v in problem.variables()}
    for entry, values in zip(entries, numbers):
        parameter = entry.parameter
        attributes = {k: v for k, v in parameter.attributes.items() if v and k != "bounds"}
        twin = cp.Parameter(parameter.shape, name=parameter.name(), **attributes)
        full = np.asarray(entry.full @ values).reshape(parameter.shape, order="F")
        if attributes.get("diag"):
            twin.save_value(sp.dia_array(full))
        else:
            twin.save_value(full)
        replaced[id(parameter)] = twin
    return _copy(problem, entries, replaced)


def variables_like(problem):
    """For the id of each variable of the user another variable with its attributes."""
    import cvxpy as cp

    return {
        v.id: cp.Variable(
            v.shape, name=v.name(), **{k: a for k, a in v.attributes.items() if a is not None and a is not False}
        )
        for v in problem.variables()
    }


def public_numbers(entries, nominal, bounds):
    """A public point: the nominal numbers where there are any, else a fixed random point between the bounds."""
    rng = np.random.default_rng(20)
    point = []
    for number, entry in enumerate(entries):
        share = rng.uniform(0.2, 0.8, entry.count)
        attributes = entry.parameter.attributes
        if nominal[number] is not None:
            values = nominal[number]
        elif bounds[number] is not None:
            low, high = bounds[number]
            values = low + share * (high - low)
        elif attributes.get("nonneg") or attributes.get("pos"):
            values = 0.5 + share
        elif attributes.get("nonpos") or attributes.get("neg"):
            values = -0.5 - share
        else:
            values = rng.normal(size=entry.count)
        point.append(np.asarray(values, dtype=float))
    return point


def _copy(problem, entries, replaced):
    import cvxpy as cp

    try:
        objective = problem.objective.tree_copy(id_objects=dict(replaced))
        constraints = [c.tree_copy(id_objects=dict(replaced)) for c in problem.constraints]
    except (AssertionError, TypeError):
        atoms = {atom.__name__ for atom in problem.atoms()}
        refuse(
            "this problem",
            f"CVXPY cannot copy one of its atoms ({', '.join(sorted(atoms))}), so that no public number can be put in the "
            "place of a private one",
            "the same function by other atoms",
        )
    copy = cp.Problem(objective, constraints)
    private = {entry.parameter.id for entry in entries}
    for parameter in copy.parameters():
        if parameter.id in private:
            refuse(
                f"the private parameter `{parameter.name()}` where it stands",
                "it is a bound of a variable or part of an inner problem, where no public number can be put in its place",
                "a constraint with the parameter in it, such as `x <= d`",
            )
    return copy
