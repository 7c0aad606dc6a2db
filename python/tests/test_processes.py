"""Processes, threads and signals: what a call may be in the middle of, and what must come of it."""

import json
import multiprocessing
import os
import pickle
import signal
import threading
import time

import pytest
import scalar

import conveil
from conveil import _core

# Far more than any of these calls takes, far less than a deadlock.
LIMIT_SECONDS = 120

# Solves that no machine ends before it is interrupted.
MANY_PAIRS = 10_000_000


def in_child(method: str, work, *arguments):
    """What `work` returns in a child process, which must not hang."""
    context = multiprocessing.get_context(method)
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_send, args=(sender, work, arguments))
    child.start()
    try:
        assert receiver.poll(LIMIT_SECONDS), f"a child by {method} does not answer"
        return receiver.recv()
    finally:
        child.join(1)
        if child.is_alive():
            child.kill()


def _send(sender, work, arguments):
    sender.send(work(*arguments))


def compared(bench):
    return bench.compare({}, draws=50, seed=3)


def drawn(bench):
    [(card, *_)] = bench.release({}, not_recorded=True)
    return scalar.released(card)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_child_computes_what_its_parent_computes(method):
    bench = scalar.bench()
    # The parent's threads have run: a forked child must not wait for them.
    expected = compared(bench)
    assert in_child(method, compared, bench) == expected


def test_a_child_forked_during_a_call_does_not_wait_for_it():
    bench = scalar.bench()
    expected = compared(bench)
    stop = threading.Event()

    class Stopping:
        def progress(self, done, total):
            if stop.is_set():
                raise RuntimeError("enough")

    ends = []

    def long():
        try:
            bench.sensitivity(pairs=MANY_PAIRS, observer=Stopping())
        except Exception as error:
            ends.append(str(error))

    thread = threading.Thread(target=long)
    thread.start()
    try:
        for _ in range(3):
            assert in_child("fork", compared, bench) == expected
    finally:
        stop.set()
        thread.join(LIMIT_SECONDS)
    assert ends == ["enough"]


def test_forked_children_draw_noise_of_their_own():
    bench = scalar.bench()
    # Noise was drawn before the fork: what the parent had left of it, or a copy of a generator's state, would repeat itself.
    answers = [drawn(bench)]
    answers += [in_child("fork", drawn, bench) for _ in range(4)]
    answers.append(drawn(bench))
    assert len(set(answers)) == len(answers)


def test_threads_share_a_bench_and_python_runs_meanwhile():
    bench = scalar.bench()
    expected = compared(bench)
    found = []
    threads = [threading.Thread(target=lambda: found.append(compared(bench))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT_SECONDS)
    assert found == [expected] * 4

    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    bench.sensitivity(pairs=20_000, climbs=0)
    before = counted
    done.set()
    counter.join()
    # A call that keeps the interpreter's lock lets no other thread run.
    assert before > 10


def interrupted(call):
    """Sends this process a Ctrl-C while the call works. Started in the background, Python has no handler for it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            call()
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - began < LIMIT_SECONDS
    return caught.value


def test_ctrl_c_stops_a_call_and_the_bench_stays_usable():
    bench = scalar.bench()
    expected = compared(bench)
    for _ in range(2):
        stopped = interrupted(lambda: bench.sensitivity(pairs=MANY_PAIRS))
        assert isinstance(stopped.__cause__, conveil.Interrupted)
        assert not stopped.__cause__.recorded
        assert compared(bench) == expected


def test_a_signal_handler_that_does_not_raise_stops_nothing():
    bench = scalar.bench()
    heard = []
    before = signal.signal(signal.SIGUSR1, lambda *_: heard.append(1))
    try:
        timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1))
        timer.start()
        _, _, verdict = bench.sensitivity(pairs=20_000, climbs=0)
        timer.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert verdict is None and heard == [1]


class Stop:
    """Raises when a stage ends."""

    def __init__(self, stage):
        self.stage = stage

    def end(self, stage):
        if stage == self.stage:
            raise KeyboardInterrupt


@pytest.fixture
def ledger(tmp_path):
    file = tmp_path / "budget.sqlite"
    _core.ledger_init(file, "d", 10.0, bench=scalar.bench())
    return file


def charges(ledger):
    [account] = json.loads(_core.ledger_show(ledger)[0])
    return account["charges"]


def test_what_is_interrupted_before_the_charge_costs_nothing(ledger):
    with pytest.raises(KeyboardInterrupt) as caught:
        scalar.bench().release({}, ledger=ledger, dataset="d", observer=Stop("plan"))
    cause = caught.value.__cause__
    assert isinstance(cause, conveil.Interrupted)
    assert not cause.recorded and cause.answers == []
    assert charges(ledger) == 0


def test_what_is_interrupted_after_the_charge_stays_charged(ledger):
    with pytest.raises(KeyboardInterrupt) as caught:
        scalar.bench().release({}, ledger=ledger, dataset="d", observer=Stop("charge"))
    cause = caught.value.__cause__
    assert isinstance(cause, conveil.Interrupted)
    assert cause.recorded and "the budget stays spent" in str(cause)
    assert charges(ledger) == 1


def test_a_release_that_was_complete_is_not_lost(ledger):
    with pytest.raises(KeyboardInterrupt) as caught:
        scalar.bench().release({}, ledger=ledger, dataset="d", observer=Stop("solve and draw"))
    cause = caught.value.__cause__
    assert cause.recorded
    [(card, text, decision, *_)] = cause.answers
    assert json.loads(decision) and text
    assert charges(ledger) == 1
    # As it travels from one process to another, too.
    again = pickle.loads(pickle.dumps(cause))
    assert again.recorded and again.answers == cause.answers and str(again) == str(cause)


def test_a_bench_is_pickled_by_its_public_texts():
    bench = scalar.bench()
    again = pickle.loads(pickle.dumps(bench))
    assert again.check() == bench.check()
    assert compared(again) == compared(bench)
