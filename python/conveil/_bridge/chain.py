"""CVXPY's own reductions, with a record of which atom made which variable and which constraint.

The chain is the one that CVXPY would run for Clarabel. Only the reduction to cones is watched: it is the one that
introduces auxiliary variables, and with CVXPY 1.9 it shares them between objective and constraints.
"""

import warnings
from dataclasses import dataclass, field

from . import names
from .admit import refuse


@dataclass
class Atom:
    """An atom that the reduction replaced by variables and constraints."""

    expression: object

    @property
    def name(self):
        # CVXPY has two classes for some atoms, of which the user knows one.
        return names.clean(type(self.expression).__name__.removesuffix("Approx"), "atom")


@dataclass
class Compiled:
    """A parametrised cone program, and where its parts come from."""

    program: object
    """CVXPY's ParamConeProg, formatted for Clarabel."""
    is_flipped: bool
    """Whether the user maximises."""
    atoms: list = field(default_factory=list)
    atom_of_variable: dict = field(default_factory=dict)
    atom_of_constraint: dict = field(default_factory=dict)
    """By the id of the constraint in `program`."""
    user_constraint: dict = field(default_factory=dict)
    """From the id of a constraint in `program` to the position of the user's own."""
    user_variable: dict = field(default_factory=dict)
    """From the id of a variable in `program` to the user's own."""


def compile_problem(problem, has_quadratic_objective):
    """Runs the chain on a problem of which no parameter needs a value."""
    import cvxpy as cp
    from cvxpy.error import DPPError
    from cvxpy.reductions.dcp2cone.dcp2cone import Dcp2Cone
    from cvxpy.reductions.flip_objective import FlipObjective

    options = None if has_quadratic_objective else {"use_quad_obj": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            chain = problem._construct_chain(solver=cp.CLARABEL, enforce_dpp=True, solver_opts=options)
        except DPPError:
            refuse(
                "this problem",
                "it is not DPP in the form that is solved: CVXPY would replace the parameters by their values",
                "a formulation that is affine in its parameters, such as `sum_squares(F @ x)` for `quad_form(x, F.T @ F)`",
            )
        current, watched, is_flipped = problem, None, False
        moves, user_variable = [], {v.id: v for v in problem.variables()}
        for reduction in chain.reductions[:-1]:
            if isinstance(reduction, Dcp2Cone):
                reduction = watched = _watching(reduction)
            before = current
            current, inverse = reduction.apply(before)
            is_flipped ^= isinstance(reduction, FlipObjective)
            if watched is None or reduction is watched:
                continue
            moves.append(_moved_constraints(reduction, inverse))
            for old, new in _moved_variables(inverse).items():
                for known in (user_variable, watched.atom_of_variable):
                    if old in known:
                        known[new] = known[old]
        solver = chain.solver
        program = current if current.formatted else solver.format_constraints(current, solver.EXP_CONE_ORDER)

    def last(identifier):
        for move in moves:
            identifier = move.get(identifier, identifier)
        return identifier

    compiled = Compiled(program, is_flipped, watched.atoms, watched.atom_of_variable, user_variable=user_variable)
    for identifier, atom in watched.atom_of_constraint.items():
        compiled.atom_of_constraint[last(identifier)] = atom
    for position, constraint in enumerate(watched.seen.constraints):
        compiled.user_constraint[last(watched.canonical[constraint.id])] = position
    return compiled


def _watching(reduction):
    from cvxpy.reductions.dcp2cone.dcp2cone import Dcp2Cone

    class Watching(Dcp2Cone):
        """The reduction to cones, which notes what each atom introduces."""

        def apply(self, problem):
            self.seen = problem
            current, inverse = super().apply(problem)
            self.canonical = inverse.cons_id_map
            return current, inverse

        def canonicalize_expr(self, expr, args, *rest, **more):
            out, constraints = super().canonicalize_expr(expr, args, *rest, **more)
            if constraints:
                known = {v.id for argument in args for v in argument.variables()}
                found = {v.id for c in constraints for v in c.variables()} | {v.id for v in out.variables()}
                made = found - known - self.atom_of_variable.keys()
                number = len(self.atoms)
                self.atoms.append(Atom(expr))
                self.atom_of_variable.update(dict.fromkeys(made, number))
                self.atom_of_constraint.update((c.id, number) for c in constraints)
            return out, constraints

    watching = Watching.__new__(Watching)
    watching.__dict__.update(reduction.__dict__)
    watching.atoms, watching.atom_of_variable, watching.atom_of_constraint = [], {}, {}
    return watching


def _moved_constraints(reduction, inverse):
    """Old to new ids of constraints; each version of CVXPY keeps them elsewhere."""
    for found in (getattr(reduction, "_cons_id_map", None), getattr(inverse, "cons_id_map", None)):
        if found:
            return dict(found)
    if isinstance(inverse, tuple) and len(inverse) == 3:
        return dict(inverse[2])
    return {}


def _moved_variables(inverse):
    """Old to new ids of variables that lost their attributes."""
    if isinstance(inverse, tuple) and len(inverse) == 3:
        return {old: new.id for old, new in inverse[0].items()}
    return {}
