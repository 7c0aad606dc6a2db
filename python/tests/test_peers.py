"""The harness of `cargo xtask bench --against-peers`: its peers solve the same problems as Conveil, and it says so where they do not."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("scipy")

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / "python" / "benchmarks" / "peers"
NETWORKS = ROOT / "crates" / "conveil-grid" / "networks"


@pytest.fixture
def harness(monkeypatch):
    """The harness's modules by name, found as they find each other."""
    monkeypatch.syspath_prepend(str(PEERS))
    return importlib.import_module


def test_contenders_that_do_not_agree_are_named(harness):
    table = harness("table")
    assert table.disagreement({"a": 1.0, "b": 1.0 + 5e-7}) is None
    assert table.disagreement({"a": 1.0, "b": None}) is None
    assert "b has 1.00001" in table.disagreement({"a": 1.0, "b": 1.00001})
    assert "1.0e-05 apart" in table.disagreement({"a": -1.0, "b": -1.00001})
    assert "no finite" in table.disagreement({"a": float("nan")})


def test_growth_is_the_slope_of_the_logarithms(harness):
    table = harness("table")
    assert table.exponent([(10, 0.1), (100, 10.0), (1000, 1000.0)]) == pytest.approx(2.0)
    # What takes no longer than a process takes to start says nothing about growth.
    assert table.exponent([(10, 0.001), (100, 1.0)]) is None


def test_a_child_is_measured_alone_and_ended_when_it_takes_too_long(harness, tmp_path):
    measure = harness("measure")
    work = "x = bytearray(200 << 20)\nfor _ in range(3_000_000): pass"
    run = measure.once([sys.executable, "-c", work], 60, tmp_path)
    assert run.failure is None and run.peak_mib > 200 and 0 < run.cpu
    late = measure.once([sys.executable, "-c", "import time; time.sleep(60)"], 0.5, tmp_path)
    assert late.failure.startswith("over") and late.wall < 30
    failed = measure.once([sys.executable, "-c", "raise SystemExit(3)"], 60, tmp_path)
    assert failed.failure.startswith("exit 3")


@pytest.mark.parametrize("family, size", [("staircase", 90), ("dense", 20), ("socp", 10), ("sdp", 4), ("resolve", 5)])
def test_cvxpy_solves_the_conic_problem_that_was_written(harness, tmp_path, family, size):
    pytest.importorskip("cvxpy")
    problem(family, size, tmp_path)
    said = contender("cvxpy", tmp_path)
    assert said["objective"] == pytest.approx(optimum(tmp_path), rel=1e-6)


def test_cvxpy_solves_the_network_that_conveil_knows(harness, tmp_path):
    pytest.importorskip("cvxpy")
    problem("grid", 24, tmp_path, NETWORKS / "24_ieee_rts.txt")
    # The optimum of this network by SciPy on PGLib's own file.
    assert contender("cvxpy", tmp_path)["objective"] == pytest.approx(47737.0857, rel=1e-6)
    assert optimum(tmp_path) == pytest.approx(47737.0857, rel=1e-6)


@pytest.mark.parametrize("family, names", [("classifier", ["linear-svc", "svm-cvxpy"]), ("regression", ["lstsq", "normal-equations"])])
def test_the_peers_of_records_solve_the_program_of_the_spec(harness, tmp_path, family, names):
    for module in ("cvxpy", "pandas", "sklearn"):
        pytest.importorskip(module)
    problem(family, 300, tmp_path)
    for name in names:
        assert contender(name, tmp_path)["objective"] == pytest.approx(optimum(tmp_path), rel=1e-6)


def problem(family, size, folder, *case):
    subprocess.run([sys.executable, PEERS / "make.py", family, str(size), folder, *case], check=True)


def contender(name, folder):
    done = subprocess.run([sys.executable, PEERS / "contenders.py", name, folder], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def optimum(folder):
    """Conveil's optimum without noise, by the binary that the harness measures."""
    binary = Path(os.environ.get("CONVEIL_BINARY", ROOT / "target" / "debug" / "conveil"))
    if not binary.exists():
        pytest.skip("no conveil in target/debug: `cargo build` makes it, CONVEIL_BINARY names another")
    done = subprocess.run([binary, "solve", "--json", "--quiet", folder / "spec.toml"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["optimum"]


def test_a_whole_run_prints_its_table_and_fails_where_contenders_differ(tmp_path):
    for module in ("cvxpy", "rsome", "highspy"):
        pytest.importorskip(module)
    binary = tmp_path / "conveil"
    # It answers as Conveil does, with an optimum that nobody else has.
    binary.write_text(f"""#!{sys.executable}\nprint('{{"optimum": 1.5, "objective": 2.5, "scale": 1.0}}')\n""")
    binary.chmod(0o755)
    words = ["--conveil", binary, "--out", tmp_path, "--only", "dense", "--sizes", "20", "--json", tmp_path / "found.json"]
    done = subprocess.run([sys.executable, PEERS, *words], capture_output=True, text=True)
    assert done.returncode == 1 and "not the same problem: dense 20, plain: Conveil has 1.5" in done.stderr
    assert "| HiGHS simplex" in done.stdout and len(json.loads((tmp_path / "found.json").read_text())["different"]) == 2
