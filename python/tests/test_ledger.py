"""The ledger as Python has it."""

import multiprocessing

import conveil
import cvxpy as cp
import pytest

NEIGHBOURS = {"adjacency": "one-entry", "alpha": 10.0, "numbers": 1, "called": "limit"}


def plan():
    x, limit = cp.Variable(name="x"), cp.Parameter(name="limit", value=100.0)
    problem = cp.Problem(cp.Minimize(1.5 * x), [x >= limit, x <= 400])
    return conveil.privatize(
        problem, [limit], epsilon=0.25, adjacency=conveil.one_entry(1), bounds={limit: (50, 150)}, eta=0.01,
        sensitivity=conveil.declared(1.5, "x follows the limit one to one, and the cost is 1.5 x"),
    )


@pytest.fixture
def ledger(tmp_path):
    return conveil.Ledger(tmp_path / "budget.sqlite")


def test_releases_are_charged_until_the_budget_is_spent(ledger):
    made = plan()
    assert ledger.create_budget("d", 0.5, plan=made)["budget"]["epsilon"] == 0.5
    for count in (1, 2):
        released = made.release(ledger=ledger, dataset="d")
        assert released.card["ledger"]["charge"] == count
    with pytest.raises(conveil.OverBudget) as caught:
        made.release(ledger=ledger, dataset="d")
    assert not caught.value.recorded
    account = ledger.account("d")
    assert account["charges"] == 2 and not account.private
    assert list(ledger.to_frame()["epsilon"]) == [0.25, 0.25]
    assert len(ledger.entries("d")) == 3 and ledger.datasets() == ["d"]
    assert "d" in str(ledger)


def test_what_was_drawn_is_not_lost_where_python_stops_after_it(ledger, monkeypatch):
    made = plan()
    ledger.create_budget("d", 0.5, plan=made)

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("conveil._plan.Release", stopped)
    with pytest.raises(KeyboardInterrupt) as caught:
        made.release(ledger=ledger, dataset="d")
    [(card, *_)] = caught.value.answers
    assert '"charge":1' in card
    assert ledger.account("d")["charges"] == 1


def test_what_was_cut_off_is_found(ledger):
    head = ledger.create_budget("d", 1.0, neighbours=NEIGHBOURS)["head"]
    ledger.spend("d", 0.5, basis="declared", like_budget=True)
    assert ledger.verify("d", head)["head_found"]
    with pytest.raises(conveil.LedgerError):
        ledger.verify("d", "0" * 64)
    with pytest.raises(conveil.InputError):
        ledger.verify("d")


def test_a_spend_over_budget_is_recorded_and_raised(ledger):
    ledger.create_budget("d", 1.0, neighbours=NEIGHBOURS)
    with pytest.raises(conveil.OverBudget) as caught:
        ledger.spend("d", 1.5, basis="declared", neighbours=NEIGHBOURS)
    assert caught.value.recorded
    assert ledger.account("d")["charges"] == 1


def test_a_budget_needs_neighbours_and_is_made_once(ledger):
    with pytest.raises(conveil.InputError):
        ledger.create_budget("d", 1.0)
    with pytest.raises(conveil.InputError, match="called"):
        ledger.create_budget("d", 1.0, neighbours={"adjacency": "one-entry", "numbers": 1})
    with pytest.raises(conveil.InputError, match="plan="):
        ledger.create_budget("d", 1.0, plan="spec.toml")
    ledger.create_budget("d", 1.0, neighbours=NEIGHBOURS)
    with pytest.raises(conveil.LedgerError):
        ledger.create_budget("d", 2.0, neighbours=NEIGHBOURS)


def spend_tenths(path, count):
    """How many of these spends of a tenth were within the budget."""
    within = 0
    for _ in range(count):
        try:
            conveil.Ledger(path).spend("d", 0.125, basis="declared", like_budget=True)
            within += 1
        except conveil.OverBudget:
            pass
    return within


def test_processes_share_one_budget(ledger):
    ledger.create_budget("d", 1.0, neighbours=NEIGHBOURS)
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        within = pool.starmap(spend_tenths, [(ledger.path, 4)] * 3)
    assert sum(within) == 8
    assert ledger.account("d")["charges"] == 12
    ledger.verify()
