"""Long work in cells: computed here or by an executor, kept in a folder, and put together by the engine.

A cell is plain texts and numbers: the spec and files of a model, never a problem of CVXPY, and what to do with them. Which
cells there are follows from the request alone, so that results do not depend on who computes them or on how many do. There is
no cell that releases anything.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import secrets
from concurrent.futures import FIRST_COMPLETED, Executor, wait
from contextlib import closing
from dataclasses import dataclass, field

from . import _core
from ._errors import ConveilError, ExecutorBroken, InputError
from ._keep import Folder

_FORMAT = 1
"""What a kept cell looks like; another number, and no cell of before is found."""

_stopped: set = set()
"""Runs that were given up: cells of theirs that other threads of this process compute stop at their next step."""


@dataclass(frozen=True)
class Cell:
    """What one cell computes: a kind of work, the texts of its model, and its arguments."""

    work: str
    bench: tuple | None
    arguments: dict = field(default_factory=dict)

    def said(self):
        """All that its result depends on, as bytes: model, settings, seed and version."""
        said = [_FORMAT, _core.__version__, _build(), self.work, self.bench, self.arguments]
        return json.dumps(said, sort_keys=True).encode()


@functools.cache
def _build():
    """Tells two builds of one version apart."""
    with open(_core.__file__, "rb") as module:
        return hashlib.blake2b(module.read(), digest_size=16).hexdigest()


def texts(bench):
    """What makes the same bench again, elsewhere. It holds nothing private."""
    spec, files, name = bench.__getnewargs__()
    return spec, dict(files), name


# What a worker does.


@functools.lru_cache(maxsize=2)
def _bench(spec, files, name):
    return _core.Bench(spec, dict(files), name)


class _Listening:
    """Hears the warnings of a cell, and stops it where its run was given up in this process."""

    def __init__(self, run):
        self.run, self.warnings = run, []

    def warning(self, text):
        self.warnings.append(text)

    def progress(self, done, total):
        if self.run in _stopped:
            raise KeyboardInterrupt


_WORK = {
    "sample": _core.audit_sample,
    "search": _core.audit_search,
    "frontier": _core.frontier_cell,
    "study": _core.study_cell,
}


def compute(cell, version, run=None, alone=False):
    """Computes a cell: `value`, and the `warnings` that were said."""
    if version != _core.__version__:
        raise InputError(f"a worker has conveil {_core.__version__}, and the run was started by {version}: install the same")
    model = []
    if cell.bench is not None:
        spec, files, name = cell.bench
        model = [_bench(spec, tuple(sorted(files.items())), name)]
    # Beside other cells one thread is enough, unless the worker's own environment says how many.
    threads = None if alone or "RAYON_NUM_THREADS" in os.environ else 1
    heard = _Listening(run)
    value = _WORK[cell.work](*model, **cell.arguments, threads=threads, observer=heard)
    return {"value": value, "warnings": heard.warnings}


# What the caller does.


class Run:
    """Computes cells on an executor, or here without one; what is finished is kept in a folder, where one is named."""

    def __init__(self, executor=None, keep=None, *, total, observer=None):
        if executor is not None and not isinstance(executor, Executor):
            raise InputError(
                "executor= is a concurrent.futures.Executor, of a Dask client `client.get_executor()`; found "
                f"{type(executor).__name__}"
            )
        self._executor = executor
        self._folder = None if keep is None else Folder(keep)
        self._name = secrets.token_hex(16)
        self._done, self._total, self._observer = 0, total, observer

    def values(self, cells):
        """The values of these cells, in their order; their warnings go to the observer."""
        keys = [None] * len(cells)
        found = [None] * len(cells)
        if self._folder is not None:
            keys = [self._folder.key(cell.said()) for cell in cells]
            found = [self._folder.find(key) for key in keys]
        missing = [i for i, result in enumerate(found) if result is None]
        self._advance(len(cells) - len(missing))
        work = self._here if self._executor is None else self._there
        with closing(work(cells, missing)) as finished:
            for i, result in finished:
                found[i] = result
                if self._folder is not None:
                    self._folder.store(keys[i], result)
                self._advance(1)
        self._warn(found)
        return [result["value"] for result in found]

    def _here(self, cells, missing):
        for i in missing:
            yield i, compute(cells[i], _core.__version__, alone=True)

    def _there(self, cells, missing):
        """Finished cells as they come. Of failures that of the first cell is raised, whichever came first."""
        futures, failed = {}, None
        try:
            for i in missing:
                # A search depends on all that came before it: nothing runs beside it.
                alone = cells[i].work == "search"
                futures[self._executor.submit(compute, cells[i], _core.__version__, self._name, alone)] = i
            awaited = set(futures)
            while awaited:
                finished, awaited = wait(awaited, return_when=FIRST_COMPLETED)
                for future in finished:
                    i = futures[future]
                    try:
                        result = future.result()
                    except Exception as error:
                        if failed is None or i < failed[0]:
                            failed = (i, error)
                        continue
                    yield i, result
                if failed is not None:
                    # Not all executors say that a cancelled cell is done: nobody waits for one.
                    awaited = {future for future in awaited if futures[future] < failed[0]}
                    _cancel(future for future, i in futures.items() if i > failed[0])
        except BaseException as error:
            _stopped.add(self._name)
            _cancel(futures)
            if isinstance(error, Exception) and not isinstance(error, ConveilError):
                raise self._broken(error) from error
            raise
        if failed is not None:
            error = failed[1]
            if isinstance(error, ConveilError):
                raise error
            raise self._broken(error) from error

    def _broken(self, error):
        said = f"{type(error).__name__}: {error}".rstrip(": ")
        if self._folder is None:
            go_on = "name a folder with keep=, and another run goes on where this one stopped"
        else:
            go_on = "another run with the same keep= goes on from there"
        return ExecutorBroken(
            f"the executor did not compute all cells: {said}\n  {self._done} of {self._total} cells are finished; {go_on}",
            done=self._done,
            total=self._total,
        )

    def _advance(self, count):
        self._done += count
        progress = getattr(self._observer, "progress", None)
        if progress is not None and count:
            progress(self._done, self._total)

    def _warn(self, found):
        """Each warning once: every cell of one dataset says the same."""
        warning = getattr(self._observer, "warning", None)
        if warning is not None:
            for text in dict.fromkeys(text for result in found for text in result["warnings"]):
                warning(text)


def _cancel(futures):
    for future in futures:
        future.cancel()


def require_public(executor, allow_private, private):
    """Refuses to hand private data to an executor, unless that was said to be right. `private` names them."""
    if executor is None or not private or allow_private:
        return
    raise InputError(
        f"the executor's workers would get private data: {private}. Say allow_private=True where they may see them"
    )
