"""The plan of a ready-made model: the verbs of every plan, over a spec and a function that makes the private files.

A plan is public. The private files are made at the moment of a verb that needs them, and handed to that call alone.
"""

from __future__ import annotations

import json
import math

from . import _cells, _core, _html, _many
from ._errors import InputError, kept
from ._figure import Line, figure
from ._phrases import Speaker
from ._progress import Watched
from ._results import Audit, Card, Check, Comparison, Document, Explanation, Frontier, Guarantee, Movement

# What the private and public files of a plan are called by whoever passed their numbers as arguments.
_ARGUMENTS = {
    "records.csv": "the records X, y",
    "test.csv": "the records `test`",
    "regressors.csv": "the regressors X",
    "responses.csv": "the responses y",
    "demand.csv": "`demand`",
    "bounds.csv": "`bounds`",
    "network.m": "the network",
    "offsets.csv": "`offsets`",
    "returns.csv": "`returns`",
}


class _ModelSpeaker(Speaker):
    """Says the engine's texts in the words of the functions in `models`."""

    def say(self, text):
        for file, argument in _ARGUMENTS.items():
            text = text.replace(file, argument)
        return super().say(text)


class ModelPlan:
    """What would be released and guaranteed. Public, until a verb reads the private numbers."""

    def __init__(self, spec: str, files: dict[str, str], private):
        self._private = private
        self._speaker = _ModelSpeaker()
        self.spec = spec
        """The spec that the command line would read. Public."""
        with self._speaker, Watched(self._speaker) as heard:
            self._bench = _core.Bench(spec, files, "plan")
            document, text = self._bench.check(observer=heard)
        self._check = Check(self._speaker.say(text), json.loads(document))

    @property
    def guarantee(self):
        """What is promised: final before any data is read."""
        return Guarantee(self._speaker.say(self._check["text"]), self._check["guarantee"])

    @property
    def warnings(self):
        """What a careful reader should know before anything is released."""
        return [self._speaker.say(warning) for warning in self._check["warnings"]]

    def check(self):
        """The blocks of the problem, what is private, the guarantee and the warnings. Public."""
        return self._check

    def solve(self, row=None):
        """The decision before noise, and what privacy costs. Private. Of a series the dataset in this row, from 1."""
        heard = self._heard()
        with self._speaker, heard:
            document, text = self._bench.solve(self._private(), row, observer=heard)
        return ModelReport(self._speaker.say(text), json.loads(document)).warned(heard.warnings)

    def compare(self, row=None, draws=None, seed=None):
        """All strategies side by side on the same noise. Private."""
        heard = self._heard()
        with self._speaker, heard:
            document, text = self._bench.compare(self._private(), row, draws, seed, observer=heard)
        return Comparison(self._speaker.say(text), json.loads(document)).warned(heard.warnings)

    def explain(self, row=None):
        """What holds the program back, and how far ε, α and η can go. Private."""
        heard = self._heard()
        with self._speaker, heard:
            document, text = self._bench.explain(self._private(), row, observer=heard)
        return Explanation(self._speaker.say(text), json.loads(document)).warned(heard.warnings)

    def frontier(
        self, over="epsilon", values=None, row=None, *, executor=None, keep=None, allow_private=False
    ):
        """The loss against ``over``: "epsilon", "alpha" or "eta". Private.

        ``executor``, a `concurrent.futures.Executor`, computes a value in each cell, with the same result; ``keep`` is a
        private folder for finished cells, from which a broken run goes on. The private numbers reach the executor only with
        ``allow_private=True``.
        """
        values = None if values is None else [float(value) for value in values]
        data, heard = self._private(), self._heard()
        _cells.require_public(executor, allow_private, self._speaker.say(", ".join(data)))
        with self._speaker, heard:
            document, text = _many.frontier(
                self._bench, data, over, values, row, executor=executor, keep=keep, observer=heard
            )
        return Frontier(self._speaker.say(text), json.loads(document)).warned(heard.warnings)

    def sensitivity(self, pairs=None, seed=None, *, executor=None, keep=None, allow_private=False):
        """How far neighbouring datasets between the public bounds move the answer, beside the sensitivity in use.

        ``executor``, a `concurrent.futures.Executor`, computes it in cells, with the same result; ``keep`` is a private folder
        for finished cells, from which a broken run goes on. No private number is used, with or without ``allow_private``.
        """
        with self._speaker, Watched(self._speaker) as heard:
            document, text, error = _many.sensitivity(
                self._bench, pairs=pairs, seed=seed, executor=executor, keep=keep, observer=heard
            )
        return Movement(self._speaker.say(text), json.loads(document), error)

    def audit(self, pairs=None, seed=None, *, draws=None, executor=None, keep=None, allow_private=False):
        """Looks for neighbouring datasets between the public bounds that the noise hides less well than claimed.

        With ``draws``, so many answers are drawn from each side of the worst pair as a release would draw them, and bound ε
        from below; a false alarm has probability 1e-6 in the whole audit, as one pair is drawn for.

        ``executor``, a `concurrent.futures.Executor`, computes it in cells, with the same result; ``keep`` is a private folder
        for finished cells, from which a broken run goes on. Answers are always drawn here. No private number is used, with or
        without ``allow_private``.
        """
        with self._speaker, Watched(self._speaker) as heard:
            document, text, error = _many.audit(
                self._bench, pairs=pairs, seed=seed, draws=draws, executor=executor, keep=keep, observer=heard
            )
        return Audit(self._speaker.say(text), json.loads(document), error)

    def create_budget(self, ledger, dataset, epsilon, delta=0.0, *, basic=False):
        """Gives a dataset its budget in a ledger, between the neighbours of this plan; makes the file where there is none."""
        with self._speaker:
            _core.ledger_init(ledger, dataset, float(epsilon), float(delta), basic=basic, bench=self._bench)

    def release(
        self,
        *,
        ledger=None,
        dataset=None,
        part=None,
        part_moves=False,
        series=None,
        planned=False,
        not_recorded=False,
        not_private=False,
        seed=None,
        row=None,
        report=False,
    ):
        """Charges the ledger, solves, draws the noise once: a :class:`ModelRelease`, or for a series a list of them (:class:`ModelSeries`).

        Never repeated by itself: a second answer is a second charge. ``not_recorded=True`` releases without an account, and
        the card says so. ``series=(24, 1e-6)`` declares all rows in advance: they are charged whole before the first answer,
        their ε's composed optimally at that δ; with ``series=(24, None)`` they add up. ``report=True`` returns the private report too. ``not_private=True`` is for studies: with ``seed``
        the noise repeats, the card says NOT PRIVATE, and nothing is charged.
        """
        if seed is not None and not not_private:
            raise InputError("seed= repeats the noise, which is for studies alone: say not_private=True with it")
        account = getattr(ledger, "path", ledger)
        carries = self._check["strategy"] == "program"
        heard = self._heard()
        with self._speaker, heard:
            documents = self._bench.release(
                self._private(),
                ledger=None if account is None else str(account),
                dataset=dataset,
                part=part,
                part_moves=part_moves,
                series=series,
                planned=planned,
                not_recorded=not_recorded,
                not_private=not_private,
                seed=seed,
                row=row,
                decision=carries,
                report=report,
                observer=heard,
            )
        with kept(documents):
            released = [self._released(*found) for found in documents]
            for one in released:
                one.warnings = heard.warnings
            return released[0] if len(released) == 1 else ModelSeries(released)

    def _released(self, card, card_text, decision, report, report_text):
        card = Card(self._speaker.say(card_text), json.loads(card))
        decision = None if decision is None else [(e["name"], e["value"]) for e in json.loads(decision)["decision"]]
        report = None if report is None else ModelReport(self._speaker.say(report_text), json.loads(report))
        return ModelRelease(card, decision, report)

    def _heard(self):
        """For the warnings of a call that reads private numbers."""
        return Watched(self._speaker, self.warnings)

    def _repr_html_(self):
        return self.guarantee.warned(self.warnings)._repr_html_()

    def __repr__(self):
        return f"<conveil.ModelPlan: {str(self.guarantee).splitlines()[0]}>"


class ModelReport(Document):
    """The decision on the data, before noise, and what privacy costs. Private."""

    title = "Curator report"

    def _html(self):
        facts = [("optimum without noise", self.optimum), ("objective with privacy", self.objective)]
        facts.append(("infeasible at most", self.data.get("certified")))
        return [_html.pairs(facts), _html.line("answer before noise"), _html.pairs(self.data["answer"])]

    @property
    def optimum(self):
        """The optimal objective without noise."""
        return self.data["optimum"]

    @property
    def objective(self):
        """The objective under the plan."""
        return self.data["objective"]

    @property
    def answer(self):
        """The answer before noise, as a pandas Series."""
        return _series(self.data["answer"], "answer")

    def to_frame(self):
        """The mean decision as a pandas DataFrame."""
        return _series(self.data["mean"], "mean").to_frame()


class ModelRelease:
    """One answer: the public card, and where asked for the private decision and report."""

    def __init__(self, card, decision, report):
        self.card, self._decision, self.report = card, decision, report
        self.warnings = []
        """What the curator must know about the data behind it; of a series, about all rows. Private, and no part of the card."""

    @property
    def answer(self):
        """The released numbers, as a pandas Series. Public."""
        return _series([(number["name"], number["value"]) for number in self.card["answer"]], "answer")

    @property
    def decision(self):
        """The decision that carries the answer out, as a pandas Series; None where the noise is on the answer alone. Private."""
        return None if self._decision is None else _series(self._decision, "decision")

    def __repr__(self):
        return str(self.card)

    def _repr_html_(self):
        """The card alone: the decision and the report are private, and shown only where they are asked for."""
        return self.card._repr_html_()


class ModelSeries(list):
    """The releases of a series, one for each row. What it shows is public: the answers on the cards."""

    @property
    def cards(self):
        """The public cards."""
        return [released.card for released in self]

    def to_frame(self):
        """The answers as a pandas DataFrame with a row for each release, counted from 1. Public."""
        import pandas as pd

        return pd.DataFrame([released.answer for released in self], index=pd.RangeIndex(1, len(self) + 1, name="row"))

    def plot(self):
        """The answers as a figure, with bars as long as 95% of the noise is: SVG, shown by itself in a notebook. Public."""
        names = [number["name"] for number in self[0].card["answer"]]
        lines = []
        for position in range(len(names)):
            answers = [card["answer"][position]["value"] for card in self.cards]
            lines.append(Line(list(range(1, len(self) + 1)), answers, _noise_halves(self.cards)))
        title = "released answers" if lines[0].half is None else "released answers, bars: 95% of the noise"
        return figure(title, "row", names[0] if len(names) == 1 else "", lines, logarithmic=False)

    def _repr_html_(self):
        columns = [("row", "row"), *((name, name) for name in self[0].answer.index)]
        rows = [{"row": row, **released.answer} for row, released in enumerate(self, start=1)]
        parts = [self.plot().svg, _html.table(rows, columns), _html.line(self.cards[0]["privacy"] + ", for each row")]
        return _html.page(f"Cards of {len(self)} releases", False, *parts)

    def __repr__(self):
        return f"{self.to_frame()}\n{self.cards[0]['privacy']}, for each row"


# Quantiles of the noise at 95%, in units of its scale.
_QUANTILES = {"Laplace": math.log(20.0), "Gaussian (analytic)": 1.96, "Gaussian (classic)": 1.96}


def _noise_halves(cards):
    """Half the length of an interval with 95% of the noise, for each card; None where its law is another."""
    if any(card["mechanism"] not in _QUANTILES or card["shape"] is not None for card in cards):
        return None
    return [_QUANTILES[card["mechanism"]] * card["scale"] for card in cards]


def _series(pairs, name):
    import pandas as pd

    names, values = zip(*pairs)
    return pd.Series(values, index=names, name=name)
