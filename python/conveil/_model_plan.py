"""The plan of a ready-made model: the verbs of every plan, over a spec and a function that makes the private files.

A plan is public. The private files are made at the moment of a verb that needs them, and handed to that call alone.
"""

from __future__ import annotations

import json
import math

from . import _cells, _html
from ._errors import InputError, kept
from ._figure import Line, figure
from ._phrases import Speaker
from ._results import Card, Document
from ._verbs import Verbs

# What the private and public files of a plan are called by whoever passed their numbers as arguments.
_ARGUMENTS = {
    "twin-data.csv": "`twin`",
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


class ModelPlan(Verbs):
    """What would be released and guaranteed. Public, until a verb reads the private numbers."""

    def __init__(self, spec: str, files: dict[str, str], private):
        self._private = private
        self.spec = spec
        """The spec that the command line would read. Public."""
        self._open(spec, files, _ModelSpeaker())

    def solve(self, row=None, *, at=None):
        """The decision before noise, and what privacy costs. Private. Of a series the dataset in this row, from 1.

        In this verb and in the three below ``at="nominal"`` takes the public nominal values in the place of the private
        numbers, and ``at="twin"`` the public data that were given as ``twin=``. Nothing private is read then, what they return
        is public, and settings chosen by it are covered by the guarantee.
        """
        data, text, warnings = self._solve(self._data(at), row, at)
        return ModelReport(text, data, at is None).warned(warnings)

    def compare(self, row=None, draws=None, seed=None, *, at=None):
        """All strategies side by side on the same noise. Private, unless ``at`` names public data."""
        comparison, warnings = self._compare(self._data(at), row, draws, seed, at is None, at)
        return comparison.warned(warnings)

    def explain(self, row=None, *, at=None):
        """What holds the program back, and how far ε, α and η can go. Private, unless ``at`` names public data."""
        explanation, warnings = self._explain(self._data(at), row, at is None, at)
        return explanation.warned(warnings)

    def report(self, path, row=None, *, at=None):
        """Writes the curator's report to ``path``, a new file: one page with the guarantee, the decision as a picture, what it costs,
        strategies side by side, an audit. Private, unless ``at`` names public data. It loads nothing, and prints on A4. Returns the path."""
        return self._report(self._data(at), path, row, at)

    def frontier(self, over="epsilon", values=None, row=None, *, at=None, executor=None, keep=None, allow_private=False):
        """The loss against ``over``: "epsilon", "alpha", "eta", "width", "curvature" or "price". Private, unless ``at`` names public data.

        ``executor``, a `concurrent.futures.Executor`, computes a value in each cell, with the same result; ``keep`` is a
        private folder for finished cells, from which a broken run goes on. The private numbers reach the executor only with
        ``allow_private=True``; ``at`` needs none of them.
        """
        data = self._data(at)
        _cells.require_public(executor, allow_private, self._speaker.say(", ".join(data)))
        frontier, warnings = self._frontier(data, over, values, row, at is None, at=at, executor=executor, keep=keep)
        return frontier.warned(warnings)

    def _data(self, at):
        """The private files; none of them where public data take their place."""
        if at is None:
            return self._private()
        if at not in ("nominal", "twin"):
            raise InputError(f'at= is None, for the private numbers, "nominal" or "twin"; found {at!r}')
        return {}

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
        dry_run=False,
        strict=False,
    ):
        """Charges the ledger, solves, draws the noise once: a :class:`ModelRelease`, or for a series a list of them (:class:`ModelSeries`).

        Never repeated by itself: a second answer is a second charge. ``not_recorded=True`` releases without an account, and
        the card says so. ``series=(24, 1e-6)`` declares all rows in advance: they are charged whole before the first answer,
        their ε's composed optimally at that δ; with ``series=(24, None)`` they add up. ``report=True`` returns the private report too. ``not_private=True`` is for studies: with ``seed``
        the noise repeats, the card says NOT PRIVATE, and nothing is charged. ``dry_run=True`` does all that comes before the
        charge and returns a document of what would be charged: nothing is charged or solved. ``strict=True`` refuses what
        public data show to be poor, and what no public data can judge, before the charge.
        """
        charged = {
            "ledger": ledger,
            "dataset": dataset,
            "part": part,
            "part_moves": part_moves,
            "series": series,
            "planned": planned,
            "not_recorded": not_recorded,
            "row": row,
        }
        if dry_run:
            return self._dry_run(self._private(), not_private=not_private, **charged)
        documents, warnings = self._release(
            self._private(), not_private=not_private, seed=seed, report=report, strict=strict, **charged
        )
        with kept(documents):
            released = [self._released(*found) for found in documents]
            for one in released:
                one.warnings = warnings
            return released[0] if len(released) == 1 else ModelSeries(released)

    def _released(self, card, card_text, decision, report, report_text):
        card = Card(self._speaker.say(card_text), json.loads(card))
        decision = None if decision is None else [(e["name"], e["value"]) for e in json.loads(decision)["decision"]]
        report = None if report is None else ModelReport(self._speaker.say(report_text), json.loads(report))
        return ModelRelease(card, decision, report)


class ModelReport(Document):
    """The decision on the data, before noise, and what privacy costs. Private, unless it is about public data."""

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
    def label(self):
        """What the row of a series is called; None where the rows have no labels. Public."""
        return self.card.data.get("label")

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
        """The answers as a pandas DataFrame with a row for each release: by label, or counted from 1. Public."""
        import pandas as pd

        rows = pd.RangeIndex(1, len(self) + 1, name="row") if self.labels is None else pd.Index(self.labels, name="label")
        return pd.DataFrame([released.answer for released in self], index=rows)

    @property
    def labels(self):
        """What the rows are called; None where they have no labels. Public."""
        labels = [released.label for released in self]
        return None if None in labels else labels

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
        rows = [{"row": released.label or row, **released.answer} for row, released in enumerate(self, start=1)]
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
