"""`study`: the paper's tables and figures as data. Seeded noise, nothing private, nothing released."""

from __future__ import annotations

import json
import os
import re

from . import _core
from ._cells import Cell, Run
from ._errors import ConveilError, InputError
from ._results import Table

_FLAG = re.compile(r"--([a-z][a-z-]*)(?:[ =]<[^>]*>)?")


def study(name, *, executor=None, keep=None, observer=None, **settings):
    """Computes a table of the paper: "opf", "cvar", "density", "regression", "wind", "ellipsoid", "svm" or "classifier".

    ``settings`` are those of `conveil study NAME --help`, with underscores: ``networks=["5_pjm"], alpha=[1, 3], draws=500``.
    Whatever is not stated is the paper's. The noise is seeded: nothing here is private, and nothing is released.

    ``executor``, a `concurrent.futures.Executor`, computes the parts of a study: a network, a turbine or a polytope each.
    ``keep`` is a folder for finished parts. Studies with files of your own run here, without both. ``observer`` is an
    object whose ``progress(done, total)`` is called for each part.

    >>> import conveil
    >>> table = conveil.study("opf", networks=["5_pjm"], alpha=[1], draws=20)
    >>> table.private, list(table.to_frame()["strategy"])[-1]
    (False, 'program')
    """
    try:
        flags = [flag for key, value in settings.items() for flag in _flag(key, value)]
        count, files = _core.study_parts(name, flags)
        if files and (executor is not None or keep is not None):
            raise InputError(
                f"study {name}: it reads a file of your own, {files[0]!r}, which is neither sent to workers nor kept: leave out "
                "executor= and keep="
            )
        cells = [Cell("study", None, {"name": name, "flags": flags, "part": part}) for part in range(count)]
        parts = Run(executor, keep, total=count, observer=observer).values(cells)
        document, text = _core.study_of([tuple(part) for part in parts])
    except ConveilError as error:
        error.args = tuple(_said(a) if isinstance(a, str) else a for a in error.args)
        raise
    return Study(text, json.loads(document), private=bool(files))


class Study(Table):
    """A table of the paper, computed anew with seeded noise. Not private; where it is about your own files, not to be published.

    Of a study in parts, the text has a table for each part.
    """

    title = "Study"

    @property
    def settings(self):
        """What was computed, the seed among it."""
        return self.data["settings"]


def _flag(key, value):
    """A setting as the command line has it."""
    flag = "--" + key.replace("_", "-")
    if value is None or value is False:
        return []
    if value is True:
        return [flag]
    items = value if isinstance(value, (list, tuple)) or hasattr(value, "tolist") else [value]
    items = items.tolist() if hasattr(items, "tolist") else items
    items = items if isinstance(items, (list, tuple)) else [items]
    return [f"{flag}={','.join(_word(key, item) for item in items)}"]


def _word(key, item):
    if isinstance(item, (str, os.PathLike)):
        return os.fspath(item)
    if isinstance(item, (int, float)) and not isinstance(item, bool):
        return repr(item)
    if hasattr(item, "item"):
        return repr(item.item())
    raise InputError(f"{key}= holds {item!r}: a setting is a number, a word, True, or a list of these")


def _said(text):
    """The command line's flags as arguments."""
    return _FLAG.sub(lambda m: m.group(1).replace("-", "_") + "=", text)
