"""How far a long call is: a bar in a notebook, one line in a terminal, nothing elsewhere.

What a bar says may depend on private data, as the time of a call does. So it is for the eyes of whoever waits: it is taken
away when the call ends, and a saved notebook keeps none of it.

The work never waits for a bar. The engine's threads leave numbers here; a thread of its own draws them, from half a second on.
"""

from __future__ import annotations

import contextvars
import multiprocessing
import os
import shutil
import sys
import threading
from time import monotonic
from uuid import uuid4

from . import _html
from ._phrases import Heard

PATIENCE_SECONDS = 0.5
"""Work that ends sooner shows nothing."""
BETWEEN_SECONDS = 0.2

_STAGES = {
    "read": "reading the problem",
    "rule": "finding the rule",
    "plan": "planning",
    "search": "searching for the worst pair",
    "charge": "charging the ledger",
    "solve": "solving",
    "solve and draw": "solving and drawing the noise",
    "compare": "comparing strategies",
    "explain": "explaining",
    "frontier": "finding the frontier",
    "measure": "measuring the sensitivity",
    "audit": "auditing",
    "black box": "drawing answers to audit",
    "replay": "solving a recorded pair",
}

_switch = {"on": True}
_importer = os.getpid()
_open: _Bar | None = None


def progress(shown):
    """Whether long calls show how far they are, in this process: ``conveil.progress(False)`` turns it off. Returns what held before.

    >>> was = progress(False)
    >>> progress(was)
    False
    """
    was, _switch["on"] = _switch["on"], bool(shown)
    return was


class Watched(Heard):
    """Hears the warnings of one call, and shows how far it is while its block runs."""

    _bar = None

    def __init__(self, speaker=None, known=()):
        super().__init__(speaker, known)

    def __enter__(self):
        global _open
        # The main thread alone opens bars, so that there is one at a time.
        if threading.current_thread() is threading.main_thread():
            place = _place()
            if _open is not None:
                _open.close()
            _open = self._bar = _Bar(place) if place is not None else None
        return self

    def __exit__(self, kind, error, trace):
        bar, self._bar = self._bar, None
        if bar is not None:
            bar.close()
        return False

    def begin(self, stage):
        """Called by the engine, on a thread of its own, as all of these are."""
        bar = self._bar
        if bar is not None:
            bar.state = (_STAGES.get(stage, stage), 0, 0)

    def progress(self, done, total):
        """So many jobs are done, of so many."""
        bar = self._bar
        if bar is not None:
            bar.state = (bar.state[0], done, total)

    def end(self, stage):
        """The next stage says what it is by itself."""


class _Bar:
    """Drawn by a thread of its own until it is closed."""

    state = ("planning", 0, 0)
    """The stage, and how many of its jobs are done, of how many. Replaced as a whole: it is read by another thread."""

    def __init__(self, place):
        self._place, self._started = place, monotonic()
        self._closed, self._drawing = threading.Event(), threading.Lock()
        # A notebook knows by the context to which cell a display belongs.
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._draw,), name="conveil-progress", daemon=True)
        self._thread.start()

    def _draw(self):
        wait = PATIENCE_SECONDS
        while not self._closed.wait(wait):
            wait = BETWEEN_SECONDS
            with self._drawing:
                if self._closed.is_set() or not self._safely(self._place.draw, *self.state, monotonic() - self._started):
                    return

    def close(self):
        """Takes the bar away. What a bar may fail at, such as a terminal that is gone, is no failure of the call."""
        self._closed.set()
        with self._drawing:
            self._safely(self._place.erase)
        self._thread.join(1.0)

    @staticmethod
    def _safely(draw, *what):
        try:
            draw(*what)
        except Exception:
            return False
        return True


class _Terminal:
    """One line of a terminal, written again and again."""

    def __init__(self, stream):
        self._stream, self._is_drawn = stream, False

    def draw(self, stage, done, total, seconds):
        count = f" [{'#' * (20 * done // total):-<20}] {done} of {total}" if total > 1 else ""
        text = f"conveil: {stage}{count}, {seconds:.0f} s"
        self._stream.write(f"\r{text[: shutil.get_terminal_size().columns - 1]}\x1b[K")
        self._stream.flush()
        self._is_drawn = True

    def erase(self):
        if self._is_drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


class _Notebook:
    """A display below the cell, updated in place. At the end it is empty: a notebook has no way to take one out."""

    def __init__(self, publish):
        self._publish, self._id, self._is_drawn = publish, uuid4().hex, False

    def draw(self, stage, done, total, seconds):
        self._show(_html.bar(stage, done, total, seconds))
        self._is_drawn = True

    def erase(self):
        if self._is_drawn:
            self._show("")

    def _show(self, page):
        data = {"text/plain": "", "text/html": page}
        self._publish(data, {}, transient={"display_id": self._id}, update=self._is_drawn)


def _place():
    """Where a bar can be shown; None where nobody would see it, or its characters would end up in a file."""
    # A child process shares its parent's terminal and cannot reach its notebook.
    if not _switch["on"] or os.getpid() != _importer or multiprocessing.current_process().name != "MainProcess":
        return None
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    publisher = getattr(shell, "display_pub", None)
    # What `%%capture` puts in its place has no socket, and would keep what it hears.
    if hasattr(publisher, "pub_socket"):
        return _Notebook(publisher.publish)
    stream = sys.stderr
    is_terminal = stream is not None and hasattr(stream, "isatty") and not stream.closed and stream.isatty()
    return _Terminal(stream) if is_terminal and os.environ.get("TERM") != "dumb" else None
