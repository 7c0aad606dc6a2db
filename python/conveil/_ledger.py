"""A ledger: what each dataset may spend, and has spent, in one file that several processes may use at once.

The rules are the engine's: a charge is on disk before its answer is drawn, charges are chained by hashes, and nothing
here tries a release again.
"""

from __future__ import annotations

import json
from os import PathLike, fspath

from . import _core, _html
from ._errors import InputError
from ._phrases import Speaker
from ._results import Document


class Ledger:
    """The ledger in a file, which `create_budget` makes where there is none.

    >>> import tempfile, os
    >>> ledger = Ledger(os.path.join(tempfile.mkdtemp(), "budget.sqlite"))
    >>> neighbours = {"adjacency": "one-entry", "alpha": 10.0, "numbers": 3, "called": "north, south, west"}
    >>> account = ledger.create_budget("loads-2026", epsilon=1.0, neighbours=neighbours)
    >>> spent = ledger.spend("loads-2026", epsilon=0.3, basis="declared", like_budget=True)
    >>> ledger.account("loads-2026")["spent"]["epsilon"]
    0.3
    >>> ledger.datasets()
    ['loads-2026']
    """

    def __init__(self, path: str | PathLike[str]):
        self.path = fspath(path)

    def create_budget(self, dataset, epsilon, delta=0.0, *, plan=None, neighbours=None, basic=False):
        """Gives a dataset its budget, once. It is about one neighbourhood: that of a ``plan``, or ``neighbours`` as a card
        states it (a dictionary with ``adjacency``, ``alpha`` or ``record``, ``unit``, ``numbers``, ``called``, ``universe``).

        With ``delta``, amounts that are chosen after seeing earlier answers need ``basic=True``.
        """
        with Speaker() as speaker:
            document, text = _core.ledger_init(
                self.path, dataset, float(epsilon), float(delta), basic=basic, **_between(plan, neighbours)
            )
        return Account(speaker.say(text), json.loads(document), private=False)

    def datasets(self):
        """The names of the datasets that have a budget."""
        with Speaker():
            document, _ = _core.ledger_show(self.path)
        return [account["dataset"] for account in json.loads(document)]

    def account(self, dataset):
        """What a dataset may spend and has spent."""
        with Speaker() as speaker:
            document, text = _core.ledger_show(self.path, dataset)
        [account] = json.loads(document)
        return Account(speaker.say(text), account, private=False)

    def spend(
        self, dataset, epsilon, delta=0.0, *, basis, rho=None, like_budget=False, plan=None, neighbours=None,
        everywhere=False, gamma=None, beta=None, part=None, planned=False,
    ):
        """Records a spend that was made elsewhere. It is recorded even where it exceeds the budget: then `OverBudget` is
        raised with ``recorded`` true, and every later charge is refused.

        ``basis`` is what the claim rests on: ``"certificate"``, ``"declared"``, ``"sampled"`` (with ``gamma`` and ``beta``) or
        ``"paper-mode"``. It holds between the neighbours of the budget (``like_budget=True``), of a ``plan``, or as stated.
        """
        with Speaker() as speaker:
            document, text, over = _core.ledger_spend(
                self.path, dataset, float(epsilon), float(delta), basis=basis, rho=rho, like_budget=like_budget,
                everywhere=everywhere, gamma=gamma, beta=beta, part=part, planned=planned, **_between(plan, neighbours),
            )
            if over is not None:
                raise over
        return Document(speaker.say(text), json.loads(document), private=False)

    def adopt(
        self, dataset, *, charges=None, budget=False, plan=None, neighbours=None, everywhere=False, gamma=None, beta=None,
        planned=False,
    ):
        """States between which datasets a budget and charges of an earlier version hold. Nothing written before changes."""
        with Speaker() as speaker:
            document, text = _core.ledger_adopt(
                self.path, dataset, charges=charges, budget=budget, everywhere=everywhere, gamma=gamma, beta=beta,
                planned=planned, **_between(plan, neighbours),
            )
        return Document(speaker.say(text), json.loads(document), private=False)

    def verify(self, dataset=None, head=None):
        """Checks the file and every hash chain; with a ``head`` that was kept elsewhere, also that nothing was cut off."""
        with Speaker() as speaker:
            if (dataset is None) != (head is None):
                raise InputError("a head is that of one dataset: give dataset= and head= together, or neither")
            document, text = _core.ledger_verify(self.path, dataset, head)
        return Document(speaker.say(text), json.loads(document), private=False)

    def entries(self, dataset=None):
        """Budgets and charges in the order in which they were recorded, as dictionaries."""
        with Speaker():
            lines = _core.ledger_export(self.path, dataset)
        return [json.loads(line) for line in lines.splitlines()]

    def to_frame(self, dataset=None):
        """The charges as a pandas DataFrame."""
        import pandas as pd

        charges = [{"dataset": e["dataset"], **e["charge"]} for e in self.entries(dataset) if "charge" in e]
        return pd.DataFrame(charges).set_index(["dataset", "id"]) if charges else pd.DataFrame()

    def __fspath__(self):
        return self.path

    def __repr__(self):
        return f"conveil.Ledger({self.path!r})"

    def __str__(self):
        with Speaker() as speaker:
            return speaker.say(_core.ledger_show(self.path)[1])


class Account(Document):
    """What a dataset may spend and has spent. Public."""

    title = "Account"

    def _html(self):
        lines = [line.split(None, 1) for line in self.text.split("\n\n", 1)[0].splitlines()]
        return [_html.pairs([line for line in lines if len(line) == 2 and line[0] != "head"])]


def _between(plan, neighbours):
    """Between which datasets, as the engine takes it."""
    if plan is not None and not hasattr(plan, "_bench"):
        raise InputError(f"plan= is a plan of this package; found {type(plan).__name__}")
    if neighbours is not None:
        missing = [key for key in ("adjacency", "numbers", "called") if key not in neighbours]
        if missing:
            raise InputError(f"neighbours= needs {', '.join(missing)}, as on the card of a release")
    return {"bench": None if plan is None else plan._bench, "neighbours": neighbours}
