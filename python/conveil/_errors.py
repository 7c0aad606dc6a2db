"""What can go wrong, as exceptions.

Messages may depend on private data: they are the curator's, never the public's.
"""

from __future__ import annotations

from contextlib import contextmanager


class ConveilError(Exception):
    """The base of all errors of this package.

    ``recorded`` is true where a ledger was charged before the error: the charge stays. ``answers`` has the documents of a
    release that were complete before it stopped; their budget is spent, so they must not be lost.
    """

    def __init__(self, message: str = "", *, recorded: bool = False, answers: tuple | list = ()):
        super().__init__(message)
        self.recorded = recorded
        self.answers = list(answers)

    def __reduce__(self):
        return _rebuilt, (type(self), self.args, self.__dict__)


def _rebuilt(kind: type, args: tuple, fields: dict) -> ConveilError:
    """The same exception in another process."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


@contextmanager
def kept(documents):
    """Nothing that was drawn is lost: an exception that leaves this block has the documents in its ``answers``.

    >>> try:
    ...     with kept(["card"]):
    ...         raise KeyboardInterrupt
    ... except KeyboardInterrupt as stopped:
    ...     stopped.answers
    ['card']
    """
    try:
        yield
    except BaseException as error:
        error.answers = list(documents)
        raise


class InputError(ConveilError, ValueError):
    """A request that makes no sense as it stands. Nothing was charged."""


class Refused(InputError):
    """What was asked for cannot be guaranteed: ``what``, ``why``, and what to do ``instead``.

    >>> error = Refused("refused: x", what="x", why="y", instead="z")
    >>> error.instead
    'z'
    """

    def __init__(self, message: str = "", *, what: str = "", why: str = "", instead: str = "", **more):
        super().__init__(message or f"refused: {what}\n  because {why}\n  instead: {instead}", **more)
        self.what = what
        self.why = why
        self.instead = instead


class NoSolution(ConveilError):
    """The problem itself has no solution, before any noise."""


class Infeasible(NoSolution):
    """The problem itself is infeasible."""


class Unbounded(NoSolution):
    """The problem itself is unbounded."""


class NotWithThisNoise(ConveilError):
    """The problem has a solution, but not with this noise or this privacy."""


class NoiseDoesNotFit(NotWithThisNoise):
    """Feasible without noise, but not with it."""


class NotAttainable(NotWithThisNoise):
    """No noise meets what is asked of the privacy."""


class NotWithTheseData(ConveilError):
    """Charged, and only the private data showed that there is no answer."""


class LedgerError(ConveilError):
    """The ledger refuses, or cannot be used. Nothing was charged."""


class OverBudget(LedgerError):
    """A budget is exceeded."""


class Flagged(ConveilError):
    """An audit contradicts the claim."""


class NothingTested(ConveilError):
    """An audit had no answer to look at."""


class SolverError(ConveilError):
    """The solver failed, or the noise could not be drawn."""


class NotWritten(ConveilError):
    """A document could not be written."""


class ExecutorBroken(ConveilError):
    """An executor lost its workers, or could not run a cell. ``done`` of ``total`` cells were finished before."""

    def __init__(self, message: str = "", *, done: int = 0, total: int = 0, **more):
        super().__init__(message, **more)
        self.done = done
        self.total = total


class Interrupted(ConveilError):
    """The work was interrupted: the cause of the ``KeyboardInterrupt``, or of the observer's exception."""
