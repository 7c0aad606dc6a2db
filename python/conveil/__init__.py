"""Differentially private convex optimization."""

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
