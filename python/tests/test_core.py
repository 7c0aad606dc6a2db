"""The engine from Python: documents, observers and exceptions."""

import json
import pickle

import pytest
import scalar

import conveil
from conveil import _core


def test_a_check_reads_no_private_value():
    other = scalar.PROBLEM.replace("-100.0", "-77.0")
    assert scalar.bench().check() == scalar.bench(problem=other).check()


def test_documents_are_json_and_text():
    bench = scalar.bench()
    for json_text, text in [
        bench.check(),
        bench.solve({}),
        bench.compare({}, draws=20),
        bench.explain({}),
        bench.frontier({}, "epsilon", values=[0.5, 1.0]),
    ]:
        assert isinstance(json.loads(json_text), dict)
        assert text.strip()
    json_text, text, verdict = bench.sensitivity(pairs=50)
    assert json.loads(json_text) and text and verdict is None
    json_text, text, verdict, witness = bench.audit(pairs=50, draws=2000)
    assert json.loads(json_text)["black_box"] and verdict is None
    assert bench.replay(witness)[2] is None


def test_an_audit_of_a_wrong_claim_is_shown_with_its_verdict():
    bench = scalar.bench(scalar.SPEC.replace("per_alpha = 1.5", "per_alpha = 0.5"))
    json_text, text, verdict, witness = bench.audit(pairs=50)
    assert isinstance(verdict, conveil.Flagged)
    assert json.loads(json_text) and text
    assert isinstance(bench.replay(witness)[2], conveil.Flagged)


def test_an_observer_hears_stages_progress_and_warnings():
    class Heard:
        def __init__(self):
            self.stages, self.counts, self.warnings = [], [], []

        def begin(self, stage):
            self.stages.append(stage)

        def progress(self, done, total):
            self.counts.append((done, total))

        def warning(self, text):
            self.warnings.append(text)

    heard = Heard()
    bench = scalar.bench(problem=scalar.PROBLEM.replace("-100.0", "-20.0"))
    bench.frontier({}, "epsilon", values=[0.5, 1.0, 2.0], observer=heard)
    assert heard.stages == ["frontier"]
    assert heard.counts[-1] == (3, 3)
    assert any("clipped to [50, 150]" in text for text in heard.warnings)


def test_an_observer_that_raises_stops_the_call_with_its_own_exception():
    class Failing:
        def progress(self, done, total):
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine") as caught:
        scalar.bench().sensitivity(pairs=1_000_000, observer=Failing())
    assert isinstance(caught.value.__cause__, conveil.Interrupted)


def infeasible():
    scalar.bench(problem=scalar.PROBLEM.replace("160.0", "40.0")).solve({})


def unbounded():
    scalar.bench(problem=scalar.PROBLEM.replace("1.5", "-1.5").replace("-1.0, 1.0", "-1.0, -1.0")).solve({})


def noise_does_not_fit():
    scalar.bench(problem=scalar.PROBLEM.replace("160.0", "101.0")).solve({})


CALLS = [
    (lambda: _core.Bench("version = 2", {}), conveil.InputError),
    (lambda: scalar.bench(scalar.SPEC.replace("epsilon = 1.0", "epsilon = -1.0")), conveil.InputError),
    (lambda: scalar.bench().solve({}, row=7), conveil.InputError),
    (lambda: scalar.bench().frontier({}, "gamma"), conveil.InputError),
    (lambda: scalar.bench().release({}), conveil.InputError),
    (lambda: scalar.bench().release({}, ledger="no-such.sqlite"), conveil.InputError),
    (lambda: scalar.bench().release({}, ledger="no-such.sqlite", dataset="d"), conveil.LedgerError),
    (lambda: _core.ledger_show("no-such.sqlite"), conveil.LedgerError),
    (infeasible, conveil.Infeasible),
    (unbounded, conveil.Unbounded),
    (noise_does_not_fit, conveil.NoiseDoesNotFit),
]


@pytest.mark.parametrize("call, kind", CALLS)
def test_failures_are_exceptions_of_their_kind(call, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(conveil.ConveilError) as caught:
        call()
    assert type(caught.value) is kind
    assert not caught.value.recorded
    assert list(tmp_path.iterdir()) == []


def test_a_refusal_says_what_and_why_and_what_instead():
    on_the_answer = scalar.SPEC.replace("eta = 0.01", 'eta = 0.01\nstrategy = "output"')
    with pytest.raises(conveil.Refused) as caught:
        scalar.bench(on_the_answer).explain({})
    refused = caught.value
    assert "output" in refused.what and "noise is on its answer" in refused.why and "program" in refused.instead
    assert isinstance(refused, ValueError)
    again = pickle.loads(pickle.dumps(refused))
    assert (again.what, again.why, again.instead) == (refused.what, refused.why, refused.instead)


def test_a_budget_is_charged_once_and_not_exceeded(tmp_path):
    bench, ledger = scalar.bench(), tmp_path / "budget.sqlite"
    _core.ledger_init(ledger, "loads", 1.0, bench=bench)
    [(card, text, decision, report, report_text)] = bench.release({}, ledger=ledger, dataset="loads", report=True)
    assert "loads" in text and json.loads(report) and report_text
    # The decision has the released cost.
    [x] = json.loads(decision)["decision"]
    assert abs(1.5 * x["value"] - scalar.released(card)) < 1e-6
    with pytest.raises(conveil.OverBudget):
        bench.release({}, ledger=ledger, dataset="loads")
    [account] = json.loads(_core.ledger_show(ledger, "loads")[0])
    assert account["charges"] == 1
    assert json.loads(_core.ledger_verify(ledger)[0])["sound"]
    assert len(_core.ledger_export(ledger).splitlines()) >= 2


def test_a_spend_made_elsewhere_is_recorded_even_over_budget(tmp_path):
    ledger = tmp_path / "budget.sqlite"
    stated = {"adjacency": "one-entry", "alpha": 1.0, "numbers": 3, "called": "a, b, c"}
    _core.ledger_init(ledger, "d", 1.0, neighbours=stated)
    assert _core.ledger_spend(ledger, "d", 0.8, basis="declared", like_budget=True)[2] is None
    over = _core.ledger_spend(ledger, "d", 0.8, basis="declared", neighbours=stated)[2]
    assert isinstance(over, conveil.OverBudget) and over.recorded
    with pytest.raises(conveil.InputError):
        _core.ledger_init(ledger, "e", 1.0)
    with pytest.raises(conveil.InputError):
        _core.ledger_spend(ledger, "d", 0.1, basis="guessed", like_budget=True)


def test_a_study_that_is_not_private_says_so_and_repeats():
    def study():
        [(card, text, *_)] = scalar.bench().release({}, not_private=True, seed=5)
        assert "not private" in text.lower()
        return scalar.released(card)

    assert study() == study()
