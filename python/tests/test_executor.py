"""Many runs on an executor: the same results wherever cells are computed, a folder that only its owner reads, runs that go on."""

import json
import multiprocessing
import os
import pickle
import signal
import stat
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import cvxpy as cp
import numpy as np
import pytest

import conveil
from conveil import _cells, _core, _many
from conveil._keep import Folder

PAIRS = 80
BLOCKS = 4
SECRET = 123.4567891


def dispatch(price=60.0):
    """A cost with private demands."""
    demand = cp.Parameter(2, name="demand", nonneg=True)
    made, bought = cp.Variable(name="made", nonneg=True), cp.Variable(name="bought", nonneg=True)
    problem = cp.Problem(
        cp.Minimize(20 * made + price * bought), [made + bought == cp.sum(demand), made <= 200, bought <= 2000]
    )
    plan = conveil.privatize(
        problem,
        private=[demand],
        epsilon=1.0,
        adjacency=conveil.one_entry(10),
        bounds={demand: (0, 400)},
        nominal={demand: [200.0, 200.0]},
        price=60,
        eta=0.01,
    )
    demand.value = np.array([SECRET, 345.678912])
    return plan


@pytest.fixture(scope="module")
def plan():
    return dispatch()


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cells"


class Counting(ThreadPoolExecutor):
    """Counts the cells that it was given, and loses all after some."""

    def __init__(self, lost_after=None):
        super().__init__(2)
        self.lost_after, self.works = lost_after, []

    def submit(self, function, cell, *more):
        self.works.append(cell.work)
        if self.lost_after is not None and len(self.works) > self.lost_after:
            lost = Future()
            lost.set_exception(BrokenExecutor("a worker was killed"))
            return lost
        return super().submit(function, cell, *more)


def same(a, b):
    return a.data == b.data and a.text == b.text and a.private == b.private


# The same results.


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_threads_find_what_one_go_finds(plan, workers):
    with ThreadPoolExecutor(workers) as pool:
        assert same(plan.audit(PAIRS, 3, executor=pool), plan.audit(PAIRS, 3))
        assert same(plan.sensitivity(PAIRS, 3, executor=pool), plan.sensitivity(PAIRS, 3))
        there = plan.frontier("eta", executor=pool, allow_private=True)
        assert same(there, plan.frontier("eta"))
        assert same(plan.frontier(at="nominal", executor=pool), plan.frontier(at="nominal"))


def test_processes_find_what_one_go_finds(plan, processes, folder):
    audit = plan.audit(PAIRS, 3, executor=processes, keep=folder)
    assert same(audit, plan.audit(PAIRS, 3)) and audit.error is None
    assert same(plan.sensitivity(PAIRS, 3, executor=processes), plan.sensitivity(PAIRS, 3))
    there = plan.frontier("epsilon", [0.5, 1.0, 2.0], executor=processes, allow_private=True)
    assert same(there, plan.frontier("epsilon", [0.5, 1.0, 2.0]))
    # A folder without an executor: nothing is computed again, and the result is the same.
    assert same(plan.audit(PAIRS, 3, keep=folder), audit)


def test_a_ready_made_model_finds_the_same_on_an_executor(processes):
    demand, adjacency = {2: 310.0, 3: 290.0, 4: 410.0}, {"kind": "one-entry", "alpha": 1.0}
    plan = conveil.opf("5_pjm", demand, epsilon=1.0, adjacency=adjacency, bounds=0.1, price=100)
    assert same(plan.audit(30, executor=processes), plan.audit(30))
    assert same(plan.sensitivity(30, executor=processes), plan.sensitivity(30))
    with pytest.raises(conveil.InputError, match="private data: `demand`.*allow_private=True"):
        plan.frontier("eta", [0.01, 0.02], executor=processes)
    there = plan.frontier("eta", [0.01, 0.02], executor=processes, allow_private=True)
    assert same(there, plan.frontier("eta", [0.01, 0.02]))


def test_a_sampled_sensitivity_is_the_same_in_cells(folder):
    demand = cp.Parameter(name="demand", nonneg=True)
    made = cp.Variable(name="made", nonneg=True)
    problem = cp.Problem(cp.Minimize(20 * made), [made >= demand, made <= 900])
    plan = conveil.privatize(
        problem,
        private=[demand],
        epsilon=1.0,
        adjacency=conveil.one_entry(10),
        bounds={demand: (0, 400)},
        sensitivity=conveil.sampled(gamma=0.05, beta=0.1),
        eta=0.01,
    )
    whole = plan.audit(50, 2)
    with ThreadPoolExecutor(2) as pool:
        assert same(plan.audit(50, 2, executor=pool, keep=folder), whole)
    # 45 pairs are the plan's own sample: a block is not shorter.
    assert len(kept(folder)) == 2 + 1


def test_answers_are_drawn_for_the_worst_pair_alone_and_here(plan):
    with Counting() as pool:
        audit = plan.audit(30, executor=pool, draws=2000)
        assert set(pool.works) == {"sample", "search"}
    box = audit["black_box"]
    assert box["draws"] == 2000 and box["false_alarm"] == 1e-6 and not box["violated"]


def test_no_cell_releases(plan):
    assert set(_cells._WORK) == {"sample", "search", "frontier", "study"}
    with pytest.raises(TypeError):
        plan.release(not_recorded=True, executor=None)


def test_warnings_of_workers_come_back_once(processes):
    plan = dispatch()
    plan.private[0].value = np.array([500.0, 100.0])
    here, there = plan.frontier("eta"), plan.frontier("eta", executor=processes, allow_private=True)
    assert there.warnings == here.warnings and len(there.warnings) == 1
    assert same(here, there)


# Private data.


def test_private_values_reach_an_executor_only_where_that_is_said(plan):
    with Counting() as pool:
        with pytest.raises(conveil.InputError, match="values of `demand`.*allow_private=True"):
            plan.frontier(executor=pool)
        assert pool.works == []
        plan.frontier("eta", [0.01], at="nominal", executor=pool)
        plan.audit(10, executor=pool)
        assert len(pool.works) == 3


def test_what_is_sent_for_public_work_holds_no_private_value(plan):
    sent = []

    class Seeing(Counting):
        def submit(self, function, cell, *more):
            sent.append(repr(cell))
            # Pickled problems of CVXPY take over numbers of their own where they are loaded.
            assert b"cvxpy" not in pickle.dumps(cell)
            return super().submit(function, cell, *more)

    with Seeing() as pool:
        plan.audit(10, executor=pool)
        plan.sensitivity(10, executor=pool)
        plan.frontier("eta", [0.01], at="nominal", executor=pool)
        assert not any("123.456" in text or "345.678" in text for text in sent)
        plan.frontier("eta", [0.01], executor=pool, allow_private=True)
        assert "123.456" in sent[-1]


# The folder.


def content(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_the_folder_and_its_files_are_the_owners_alone(plan, folder):
    before = os.umask(0)
    try:
        plan.audit(PAIRS, keep=folder)
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = list(folder.iterdir())
    assert len(files) == 1 + BLOCKS + 1
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in files)


def test_a_folder_that_others_can_read_is_refused(plan, folder, tmp_path):
    for mode in (0o750, 0o701, 0o704):
        folder.mkdir(exist_ok=True)
        folder.chmod(mode)
        with pytest.raises(conveil.InputError, match="others can read this folder"):
            plan.audit(10, keep=folder)
    assert content(folder) == {}
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    (other / "thesis.tex").write_text("")
    with pytest.raises(conveil.InputError, match="holds other files, such as 'thesis.tex'"):
        plan.audit(10, keep=other)
    with pytest.raises(conveil.InputError, match="cannot be made"):
        plan.audit(10, keep=tmp_path / "not" / "there")
    with pytest.raises(conveil.InputError, match="is no folder"):
        plan.audit(10, keep=other / "thesis.tex")


def test_nothing_private_is_in_names_nor_in_the_files_of_public_work(plan, folder):
    plan.audit(10, keep=folder)
    plan.sensitivity(10, keep=folder)
    plan.frontier("eta", [0.01], at="nominal", keep=folder)
    found = content(folder)
    assert not any(b"123.456" in text or b"345.678" in text for text in found.values())
    # The same dataset has another name in another folder.
    plan.frontier("eta", [0.01], keep=folder)
    other = folder.with_name("other")
    plan.frontier("eta", [0.01], keep=other)
    assert set(content(other)) & set(content(folder)) == {"salt"}
    names = [name for name in content(folder) if name != "salt"]
    assert all(len(name) == 64 + 5 and int(name[:64], 16) for name in names)


def kept(folder):
    return sorted(file for file in folder.iterdir() if file.name != "salt")


def recomputed(plan, folder):
    with Counting() as pool:
        found = plan.audit(PAIRS, 3, executor=pool, keep=folder)
        return found, pool.works


def test_a_damaged_foreign_or_open_cell_is_computed_again(plan, folder):
    whole, works = recomputed(plan, folder)
    assert len(works) == BLOCKS + 1
    assert recomputed(plan, folder)[1] == []
    first, second, third, *_ = kept(folder)
    text = first.read_bytes()
    first.write_bytes(text.replace(b"false", b"true", 1))
    assert first.read_bytes() != text
    # A cell of another name, one that was cut, and one that others can read.
    second.write_bytes(third.read_bytes())
    found, works = recomputed(plan, folder)
    assert len(works) == 2 and same(found, whole)
    first.write_bytes(text[:-3])
    second.chmod(0o644)
    third.unlink()
    third.symlink_to(first)
    found, works = recomputed(plan, folder)
    assert len(works) == 3 and same(found, whole)
    assert recomputed(plan, folder)[1] == []
    # Of another folder.
    other = folder.with_name("other")
    plan.audit(PAIRS, 3, keep=other)
    for file, foreign in zip(kept(folder), kept(other)):
        (folder / foreign.name).write_bytes(foreign.read_bytes())
        file.write_bytes(foreign.read_bytes())
    assert len(recomputed(plan, folder)[1]) == BLOCKS + 1


def test_a_folder_without_its_salt_is_refused(plan, folder):
    plan.audit(10, keep=folder)
    (folder / "salt").write_bytes(b"short")
    with pytest.raises(conveil.InputError, match="salt of this folder is damaged"):
        plan.audit(10, keep=folder)
    (folder / "salt").unlink()
    with pytest.raises(conveil.InputError, match="holds other files"):
        plan.audit(10, keep=folder)


def test_keys_change_with_model_settings_seed_and_version(folder, monkeypatch):
    place = Folder(folder)
    plan, other = dispatch(), dispatch(price=61.0)
    bench = _cells.texts(plan._bench)
    asked = {"map": "released", "block": (0, 25), "pairs": 50, "seed": 1}

    def key(work="sample", bench=bench, **more):
        return place.key(_cells.Cell(work, bench, {**asked, **more}).said())

    keys = [key(), key(work="search"), key(bench=_cells.texts(other._bench)), key(pairs=51), key(seed=2)]
    keys += [key(block=(25, 50)), key(map="without noise")]
    assert key() == keys[0]
    monkeypatch.setattr(_core, "__version__", "0.0.0")
    keys.append(key())
    monkeypatch.undo()
    monkeypatch.setattr(_cells, "_build", lambda: "another build")
    keys.append(key())
    assert len(set(keys)) == len(keys)


# Runs that break.


def test_a_broken_run_goes_on_and_computes_nothing_twice(plan, folder):
    pool = Counting(lost_after=2)
    with pool, pytest.raises(conveil.ExecutorBroken, match="2 of 5 cells are finished; another run with the same keep=") as caught:
        plan.audit(PAIRS, 3, executor=pool, keep=folder)
    assert (caught.value.done, caught.value.total) == (2, 5)
    assert isinstance(caught.value.__cause__, BrokenExecutor)
    found, works = recomputed(plan, folder)
    assert works == ["sample"] * (BLOCKS - 2) + ["search"]
    assert same(found, plan.audit(PAIRS, 3))


def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_worker_of_a_pool_is_an_error_of_ours_and_the_next_run_goes_on(plan, folder):
    context = multiprocessing.get_context("spawn")

    class Killing(ProcessPoolExecutor):
        count = 0

        def submit(self, function, *arguments):
            self.count += 1
            return super().submit(killed if self.count == 3 else function, *arguments)

    with Killing(1, mp_context=context) as pool, pytest.raises(conveil.ExecutorBroken, match="BrokenProcessPool") as caught:
        plan.audit(PAIRS, 3, executor=pool, keep=folder)
    found, works = recomputed(plan, folder)
    assert len(works) == BLOCKS + 1 - caught.value.done
    assert same(found, plan.audit(PAIRS, 3))


def test_a_workers_exception_is_of_its_class_and_in_pythons_words(processes):
    plan = dispatch()
    plan.private[0].value = np.array([400.0, 400.0])
    for run in ({}, {"executor": processes, "allow_private": True}):
        with pytest.raises(conveil.InputError) as caught:
            plan.frontier("epsilon", [1.0, -1.0, -2.0], **run)
        assert "-1" in str(caught.value) and "spec" not in str(caught.value)


def test_of_many_failures_the_first_cells_is_raised(plan):
    class AllAtOnce(Executor):
        """Computes nothing before the last cell is there, and the last cell first."""

        def __init__(self, count):
            self.count, self.given = count, []

        def submit(self, *work):
            self.given.append((Future(), *work))
            if len(self.given) == self.count:
                for future, function, *arguments in reversed(self.given):
                    try:
                        future.set_result(function(*arguments))
                    except conveil.ConveilError as error:
                        future.set_exception(error)
            return self.given[-1][0]

    values = [1.0] + [-float(k) for k in range(1, 10)]
    with pytest.raises(conveil.InputError, match=r"-1\b"):
        plan.frontier("epsilon", values, at="nominal", executor=AllAtOnce(len(values)))


def test_a_worker_of_another_version_is_told(plan):
    cell = _cells.Cell("sample", _cells.texts(plan._bench), {})
    with pytest.raises(conveil.InputError, match="install the same"):
        _cells.compute(cell, "0.0.0")


def test_ctrl_c_cancels_what_is_pending_and_stops_threads(plan, folder):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    pool = ThreadPoolExecutor(1)
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            plan.audit(10_000_000, executor=pool, keep=folder)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    began = time.monotonic()
    pool.shutdown()
    assert time.monotonic() - began < 30


def test_an_executor_is_an_executor(plan):
    class Client:
        def submit(self, function):
            raise AssertionError

    with pytest.raises(conveil.InputError, match=r"client.get_executor\(\)"):
        plan.audit(10, executor=Client())
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(conveil.ExecutorBroken, match="0 of 2 cells"):
        plan.audit(10, executor=pool)


def test_progress_counts_cells(plan, folder):
    told = []

    class Heard:
        def progress(self, done, total):
            told.append((done, total))

    _many.audit(plan._bench, pairs=50, keep=folder, observer=Heard())
    assert told == [(1, 3), (2, 3), (3, 3)]
    _many.audit(plan._bench, pairs=50, keep=folder, observer=Heard())
    # What is in the folder counts as finished.
    assert told[3:] == [(2, 3), (3, 3)]


# Dask.


@pytest.fixture(scope="module")
def dask():
    distributed = pytest.importorskip("distributed")
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        yield client


def test_dask_computes_the_same_with_a_worker_killed_midway(plan, dask, folder):
    pid, *_ = dask.run(os.getpid).values()
    told = []

    class Killing:
        """Kills a worker when the first cell is finished."""

        def progress(self, done, total):
            if not told:
                os.kill(pid, signal.SIGKILL)
            told.append((done, total))

    bench = plan._bench
    found = _many.audit(bench, pairs=400, seed=3, executor=dask.get_executor(), keep=folder, observer=Killing())
    assert told == [(done, 17) for done in range(1, 18)]
    json_text, text, *_ = bench.audit(pairs=400, seed=3)
    assert json.loads(found[0]) == json.loads(json_text) and found[1] == text


def test_a_broken_run_on_dask_goes_on(plan, dask, folder):
    class Stop(Exception):
        pass

    class Breaking:
        def progress(self, done, total):
            if done == 3:
                raise Stop

    with pytest.raises(Stop):
        _many.audit(plan._bench, pairs=200, executor=dask.get_executor(), keep=folder, observer=Breaking())
    finished = {file: file.stat().st_mtime_ns for file in kept(folder)}
    assert len(finished) == 3
    assert same(plan.audit(200, executor=dask.get_executor(), keep=folder), plan.audit(200))
    assert all(file.stat().st_mtime_ns == when for file, when in finished.items())


# Studies.


def test_a_study_is_the_same_on_an_executor_and_in_a_folder(processes, folder):
    settings = {"networks": ["5_pjm", "14_ieee"], "alpha": [1, 3.0], "draws": 50, "full_costs": True}
    here = conveil.study("opf", **settings)
    there = conveil.study("opf", executor=processes, keep=folder, **settings)
    assert same(here, there) and not here.private
    assert len(kept(folder)) == 2
    frame = here.to_frame()
    assert list(dict.fromkeys(frame["network"])) == ["5_pjm", "14_ieee"] and set(frame["alpha"]) == {1.0, 3.0}
    assert here["settings"]["draws"] == 50 and here.settings["seed"] == 1
    assert here.text.count("seeded noise: nothing here is private, nothing is released") == 2
    assert len(conveil.study("opf", keep=folder, **{**settings, "seed": 2}).to_frame()) == len(frame)
    assert len(kept(folder)) == 4


def test_a_study_of_one_part_is_one_cell(folder):
    table = conveil.study("density", keep=folder, network="5_pjm", alpha=1, points=50)
    assert len(kept(folder)) == 1 and len(table.to_frame()) > 1


def test_what_is_wrong_with_a_study_is_said_in_pythons_words(folder):
    with pytest.raises(conveil.InputError, match='there is no study "table 1"; there are: leakage, example, opf, cvar'):
        conveil.study("table 1")
    with pytest.raises(conveil.InputError, match="alphas=.*its settings are: networks=, alpha=") as caught:
        conveil.study("opf", alphas=1)
    assert "--" not in str(caught.value)
    with pytest.raises(conveil.InputError, match="alpha=.*positive number"):
        conveil.study("opf", alpha=[1, -1])
    with pytest.raises(conveil.InputError, match="file of your own, 'case.m'"):
        conveil.study("opf", networks=["case.m"], keep=folder)
    assert not folder.exists()
