"""Pickles a plan without anything that depends on private values.

A plan is public, and its pickle is as well: the private parameters travel without their values, the variables without
what a solve has left in them, and the problem without CVXPY's caches.
"""

import io
import pickle


def pickled(state, private):
    """The state of a plan as bytes."""
    file = io.BytesIO()
    _Pickler(file, {parameter.id for parameter in private}).dump(state)
    return file.getvalue()


def restore(kind, data):
    """The plan again."""
    plan = kind.__new__(kind)
    plan.__dict__.update(pickle.loads(data))
    return plan


class _Pickler(pickle.Pickler):
    def __init__(self, file, private):
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._private = private

    def reducer_override(self, value):
        import cvxpy as cp

        if isinstance(value, cp.Problem):
            return cp.Problem, (value.objective, value.constraints)
        if isinstance(value, cp.Variable) or isinstance(value, cp.Parameter) and value.id in self._private:
            make, arguments, state, *rest = value.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
            # Of CVXPY's attributes these hold values and what was derived from them.
            emptied = {key: None for key in ("_value", "gradient", "delta") if key in state}
            return (make, arguments, {**state, **emptied}, *rest)
        return NotImplemented
