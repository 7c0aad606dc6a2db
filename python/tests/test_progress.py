"""Progress is shown where somebody looks, taken away at the end, and never in the way of the work."""

import os
import signal
import subprocess
import sys
import time

import pytest

pty = pytest.importorskip("pty")

ERASED = "\r\x1b[K"

# A call of a second or more, and one that takes next to no time.
PLAN = """
import conveil, sys, threading
plan = conveil.opf("24_ieee_rts", {1: 104.0}, adjacency=conveil.one_entry(1), bounds=0.3, price=500, epsilon=1.0)
def long(): return plan.compare(draws=DRAWS)["rows"]
"""


def draws():
    """So many that a comparison takes more than a second on this machine, whatever else runs on it."""
    import conveil

    plan = conveil.opf("24_ieee_rts", {1: 104.0}, adjacency=conveil.one_entry(1), bounds=0.3, price=500, epsilon=1.0)
    started = time.perf_counter()
    plan.compare(draws=200)
    return max(1000, int(200 * 1.2 / (time.perf_counter() - started)))


@pytest.fixture(scope="module")
def prelude():
    return PLAN.replace("DRAWS", str(draws()))


def in_terminal(code, until=None, then=None):
    """Runs code with standard error on a terminal: what the terminal got, what standard output got, the exit code.

    Where the terminal has shown `until`, the process gets the signal `then`.
    """
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=theirs, text=True, env={**os.environ, "TERM": "xterm"}
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            more = os.read(ours, 4096)
        except OSError:  # Linux says by an error that nobody has the other end open.
            break
        if not more:
            break
        seen += more
        if until is not None and until.encode() in seen:
            child.send_signal(then)
            until = None
    os.close(ours)
    said = child.communicate(timeout=60)[0]
    return seen.decode(), said, child.returncode


def test_a_terminal_shows_one_line_and_erases_it(prelude):
    seen, said, code = in_terminal(prelude + "rows = long()\nprint(len(rows))")
    assert code == 0 and int(said) >= 5
    assert "conveil: comparing strategies" in seen and " of " in seen
    assert seen.endswith(ERASED) and "\n" not in seen


def test_a_pipe_gets_nothing(prelude):
    done = subprocess.run([sys.executable, "-c", prelude + "long()"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_short_work_shows_nothing(prelude):
    seen, _, code = in_terminal(prelude + "plan.solve()")
    assert (code, seen) == (0, "")


def test_progress_can_be_turned_off(prelude):
    seen, said, code = in_terminal(prelude + "print(conveil.progress(False))\nlong()\nprint(conveil.progress(True))")
    assert (code, seen, said.split()) == (0, "", ["True", "False"])


def test_ctrl_c_stops_the_call_and_erases_the_line(prelude):
    code = prelude + """
try:
    plan.compare(draws=10_000_000)
except KeyboardInterrupt:
    print("stopped", isinstance(sys.exc_info()[1].__cause__, conveil.Interrupted), threading.active_count())
print(plan.solve().optimum > 0)
"""
    seen, said, code = in_terminal(code, until="comparing", then=signal.SIGINT)
    assert code == 0 and said.split() == ["stopped", "True", "1", "True"]
    assert seen.endswith(ERASED)


def test_other_threads_and_children_show_nothing_and_work(prelude):
    code = prelude + """
import os
found = []
thread = threading.Thread(target=lambda: found.append(len(long())))
thread.start(); thread.join()
print(found[0])
sys.stdout.flush()
child = os.fork()
if child == 0:
    os._exit(len(long()))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    seen, said, code = in_terminal(code)
    one, other = map(int, said.split())
    assert code == 0 and one == other >= 5
    assert seen == ""


def test_a_terminal_that_goes_away_does_not_stop_the_work(prelude):
    code = prelude + """
import os
class Gone:
    closed, written = False, 0
    def isatty(self): return True
    def write(self, text):
        Gone.written += 1
        if Gone.written > 1: raise OSError("gone")
    def flush(self): pass
sys.stderr = Gone()
print(len(long()), Gone.written)
"""
    _, said, code = in_terminal(code)
    rows, written = map(int, said.split())
    assert code == 0 and rows >= 5 and written >= 2


def test_a_notebook_shows_a_bar_and_keeps_none_of_it(prelude):
    nbclient = pytest.importorskip("nbclient")
    from nbformat import v4

    heard = []

    class Listening(nbclient.NotebookClient):
        def process_message(self, msg, cell, cell_index):
            heard.append((msg["msg_type"], msg["content"]))
            return super().process_message(msg, cell, cell_index)

    cells = [prelude + "print('before')\nrows = long()\nprint('after')", "%%capture kept\nlong()", "len(kept.outputs)"]
    notebook = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in cells])
    Listening(notebook, timeout=120, kernel_name="python3", extra_arguments=["--log-level=ERROR"]).execute()
    bars = [content for kind, content in heard if kind in ("display_data", "update_display_data")]
    assert len(bars) >= 3 and len({bar["transient"]["display_id"] for bar in bars}) == 1
    assert "comparing strategies" in bars[0]["data"]["text/html"]
    assert not any(bars[-1]["data"].values())
    # What is saved: two prints and an empty display, in the order of their first message.
    saved = [output.get("text", "") or output.data["text/html"] for output in notebook.cells[0].outputs]
    assert "".join(saved) == "before\nafter\n"
    # Nor does a capture keep any; its one output is the value of the cell.
    assert notebook.cells[2].outputs[0].data["text/plain"] == "1"
