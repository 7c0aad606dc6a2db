"""Differentially private convex optimization."""

from ._ask import declared, envelope, l1, l2, one_entry, one_record, radius, sampled, strong_convexity
from ._core import __version__
from ._errors import (
    ConveilError,
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
from ._plan import Plan, privatize
