"""Differentially private convex optimization: answers from convex programs that do not give away the data behind them.

>>> import cvxpy as cp, numpy as np, conveil
>>> demand = cp.Parameter(3, name="demand", value=np.array([210.0, 340.0, 120.0]))        # private
>>> made, bought = cp.Variable(name="made", nonneg=True), cp.Variable(name="bought", nonneg=True)
>>> problem = cp.Problem(cp.Minimize(20 * made + 60 * bought), [made + bought == cp.sum(demand), made <= 400, bought <= 2000])
>>> plan = conveil.privatize(problem, private=[demand], release="value", epsilon=1.0,
...     adjacency=conveil.one_entry(10), bounds={demand: (0, 800)}, price=60, eta=0.01)
>>> plan.guarantee.basis                                # public: no private value was read
'envelope'
>>> released = plan.release(not_recorded=True)          # or ledger=, dataset=: then the budget is counted
>>> released.card.private, released.decision is not None
(False, True)

`privatize` makes a plan of a CVXPY problem; `one_entry`, `l1`, `l2` and `one_record` say which datasets are neighbours;
`envelope`, `moreau`, `saddle`, `radius`, `strong_convexity`, `auto`, `declared` and `sampled` say how far the answer can move
between them; a `Ledger` counts what is spent. CVXPY is imported when it is needed.

`opf`, `svm`, `logistic`, `regression`, `ellipsoid` and `portfolio` are ready-made models; `conveil.linear_model` has scikit-learn estimators.
`study` computes the tables of the paper.
"""

from ._ask import auto, declared, envelope, l1, l2, moreau, one_entry, one_record, radius, saddle, sampled, strong_convexity
from ._core import __version__
from ._errors import (
    ConveilError,
    ExecutorBroken,
    Flagged,
    Infeasible,
    InputError,
    Interrupted,
    LedgerError,
    NoiseDoesNotFit,
    NoSolution,
    NotAttainable,
    NothingTested,
    NotWithTheseData,
    NotWithThisNoise,
    NotWritten,
    OverBudget,
    Refused,
    SolverError,
    Unbounded,
)
from ._ledger import Ledger
from ._plan import Plan, privatize
from ._progress import progress
from ._results import as_private
from ._study import Study, study
from .models import ellipsoid, logistic, opf, portfolio, regression, svm

__all__ = [
    "ConveilError",
    "ExecutorBroken",
    "Flagged",
    "Infeasible",
    "InputError",
    "Interrupted",
    "Ledger",
    "LedgerError",
    "NoSolution",
    "NoiseDoesNotFit",
    "NotAttainable",
    "NotWithTheseData",
    "NotWithThisNoise",
    "NotWritten",
    "NothingTested",
    "OverBudget",
    "Plan",
    "Refused",
    "SolverError",
    "Study",
    "Unbounded",
    "__version__",
    "as_private",
    "auto",
    "declared",
    "ellipsoid",
    "envelope",
    "moreau",
    "l1",
    "l2",
    "logistic",
    "one_entry",
    "one_record",
    "opf",
    "portfolio",
    "privatize",
    "progress",
    "radius",
    "regression",
    "saddle",
    "sampled",
    "strong_convexity",
    "study",
    "svm",
]
