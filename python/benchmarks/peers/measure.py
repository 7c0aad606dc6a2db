"""Runs a child process and measures it: CPU seconds of the child, wall seconds, the most memory it held.

The parent imports nothing large: on Linux a child's peak begins with what its parent held when it was started.
"""

import os
import subprocess
import threading
import time
from dataclasses import dataclass

# A run below this is repeated, and the smallest CPU time counts.
SHORT_SECONDS = 0.5
REPEATS = 3

# How many characters of what a child says are kept.
KEPT = 1 << 16

# CPU time must not count threads that wait for each other: NumPy's own stay at one.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass
class Measured:
    """What one run took; `failure` says why there are no numbers."""

    cpu: float
    wall: float
    peak_mib: float
    output: str
    errors: str
    failure: str | None = None


def once(command, limit, scratch):
    """One run, ended after `limit` seconds of wall time; its output is kept in files below `scratch`."""
    out, err = scratch / "stdout.txt", scratch / "stderr.txt"
    started = time.monotonic()
    with out.open("wb") as stdout, err.open("wb") as stderr:
        child = subprocess.Popen(command, stdout=stdout, stderr=stderr, env={**os.environ, **ONE_THREAD})
        over = threading.Event()

        def end():
            over.set()
            child.kill()

        timer = threading.Timer(limit, end)
        timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        timer.cancel()
    child.returncode = code = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - started
    failure = None
    if over.is_set():
        failure = f"over {limit:.0f} s"
    elif code != 0:
        lines = [line for line in err.read_text(errors="replace").splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("error")] or lines[-1:]
        failure = f"exit {code}: {' '.join(errors)[:200]}"
    # The numbers stand in front; what follows can have a line for each record.
    with out.open(errors="replace") as file:
        output = file.read(KEPT)
    errors = err.read_text(errors="replace")[-KEPT:]
    return Measured(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024.0, output, errors, failure)


def best(command, limit, scratch):
    """The cheapest of a few runs where a run is short, else the only one."""
    first = once(command, limit, scratch)
    if first.failure or first.cpu > SHORT_SECONDS:
        return first
    others = [once(command, limit, scratch) for _ in range(REPEATS - 1)]
    return min([first, *(run for run in others if not run.failure)], key=lambda run: run.cpu)
