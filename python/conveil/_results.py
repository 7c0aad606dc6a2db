"""What the verbs of a plan return: values with the user's own names and shapes.

Whatever has `private = True` depends on the private data, and is for the curator alone.
"""

from __future__ import annotations

import json
import re

import numpy as np

from . import _core, _html
from ._figure import Line, figure


_SAID_PRIVATE = re.compile(
    r"\A(CURATOR REPORT|COMPARISON|EXPLANATION|FRONTIER): PRIVATE, [^;\n]*"
    r"(; values chosen because of it are not covered by a guarantee)?"
)
"""How the engine begins its documents about data. Nominal values are data to it."""


class Document:
    """A document of the engine: a text for people, and the same as data."""

    private = True

    warnings: list = []
    """What the curator must know about the data behind it, such as values outside their bounds. Private."""

    def __init__(self, text, data, private=True):
        self.text = text if private else _SAID_PRIVATE.sub(r"\1: public, at the nominal values", text)
        if not private and isinstance(data, dict) and "private" in data:
            data = {**data, "private": False}
        self.data, self.private = data, private

    def warned(self, warnings):
        """The same with warnings, which its text ends with."""
        self.warnings = list(warnings)
        self.text = "\n".join([self.text.rstrip("\n"), *(f"warning: {w}" for w in warnings)]) if warnings else self.text
        return self

    def __str__(self):
        return self.text

    def __repr__(self):
        return self.text

    def __getitem__(self, key):
        return self.data[key]

    def keys(self):
        """The keys of the data."""
        return self.data.keys()

    title = "Document"

    def _html(self):
        """What a notebook shows before the text, as parts of a page."""
        return []

    def _repr_html_(self):
        parts = self._html()
        return _html.page(
            self.title, self.private, *parts, _html.warnings(self.warnings), text=self.text, is_unfolded=not parts
        )


class Guarantee(Document):
    """What is promised, final before any data is read. Public."""

    def __init__(self, text, data):
        super().__init__(text, data, private=False)

    @property
    def epsilon(self):
        return self.data["epsilon"]

    @property
    def delta(self):
        return self.data["delta"]

    @property
    def basis(self):
        """How the sensitivity is known: `envelope`, `declared`, …"""
        kind = self.data["basis"]["kind"]
        return kind["certificate"]["name"] if isinstance(kind, dict) else kind

    @property
    def sensitivity(self):
        return self.data["sensitivity"]

    @property
    def scale(self):
        """The scale of the noise."""
        return self.data["scale"]

    title = "Guarantee"

    def _html(self):
        facts = [("ε", self.epsilon), ("δ", self.delta), ("basis", self.basis), ("sensitivity", self.sensitivity)]
        facts.append(("scale of the noise", self.scale))
        # A strategy that promises nothing about constraints says that they may fail with probability 1.
        if self.data["certified"] < 1.0:
            facts.append(("infeasible at most", self.data["certified"]))
        return [_html.stated(self.text, ("released", "privacy")), _html.pairs(facts)]


class Check(Document):
    """What a plan would release and guarantee. Public: no private value was used."""

    title = "Check"

    def _html(self):
        return [_html.stated(self.text, ("problem", "released", "privacy", "noise", "feasibility", "fit"))]

    def __init__(self, text, data):
        super().__init__(text, data, private=False)


class Values:
    """Values of the user's variables from the columns of the program."""

    def __init__(self, model, columns):
        self._model, self._columns = model, columns

    def __getitem__(self, variable):
        return self._model.value_of(variable, self._columns)

    def __iter__(self):
        return iter(self._model.problem.variables())

    def __len__(self):
        return len(self._model.problem.variables())

    def items(self):
        """Pairs of a variable and its value."""
        return [(v, self[v]) for v in self]

    def by_name(self):
        """The values by the names of the variables."""
        return {v.name(): self[v] for v in self}

    def __repr__(self):
        return repr(self.by_name())


class Report(Document):
    """The decision on the data, before noise, and what privacy costs. Private, unless it is about public data.

    `optimum` is CVXPY's own optimal value. `objective` is that of the mean decision under the plan; where the objective
    has parts that are priced at the mean decision, `expected_objective` is the mean of the user's own objective over the
    noise, from `draws` draws.
    """

    def __init__(self, text, data, private, *, optimum, objective, answer, mean, expected_objective=None, draws=None):
        super().__init__(text, data, private)
        self.optimum, self.objective, self.answer, self.mean = optimum, objective, answer, mean
        self.expected_objective, self.draws = expected_objective, draws

    title = "Curator report"

    def _html(self):
        facts = [("optimum without noise", self.optimum), ("objective with privacy", self.objective)]
        facts += [("cost of privacy in %", _html.percent(self.loss_percent)), ("infeasible at most", self.data.get("certified"))]
        return [_html.pairs(facts), _html.folded("mean decision", _html.pairs(self.data["mean"], most=100))]

    @property
    def loss(self):
        """By how much the objective is worse than the optimum."""
        return abs(self.objective - self.optimum)

    @property
    def loss_percent(self):
        """The same in percent of the optimum; None where that is zero."""
        return None if self.optimum == 0.0 else 100.0 * self.loss / abs(self.optimum)

    @property
    def costs(self):
        """What the decision costs by cause, as a dict; None where no certificate adds terms and no data were clipped.

        ``optimum`` is that of the problem without noise, for the data as they are. ``bounds`` (data outside their public
        bounds), ``curvature`` (a quadratic cost that was added), ``corrections`` (data corrected at public prices) and ``noise``
        are what the objective is worse by; below zero it is better. None where a problem on the way has no answer.
        """
        return self.data.get("costs")

    def value(self, variable):
        """The mean decision, in the shape of the variable."""
        return self.mean[variable]


class Table(Document):
    """A document with rows."""

    def to_frame(self):
        """The rows as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.data["rows"])


_COMPARED = {
    "strategy": "strategy",
    "loss_percent": "loss in %",
    "sampled_loss_percent": "loss, drawn",
    "infeasible_percent": "infeasible in %",
    "sampled_infeasible_percent": "infeasible, drawn",
    "status": "",
}
"""The columns of a comparison that a notebook shows."""


class Comparison(Table):
    """All strategies on the same noise. Private, unless it is about public data."""

    title = "Comparison of strategies"

    def _html(self):
        rows = self.data.get("rows", [])
        keys = list(rows[0]) if rows else []
        # A classifier compares accuracies: what has no title here is titled by its key.
        shown = [key for key in keys if "loss_percent" not in keys or key in _COMPARED]
        shown.sort(key=lambda key: key == "status")
        columns = [(key, _COMPARED.get(key, key.replace("_", " "))) for key in shown]
        percents = [key for key in shown if key.endswith("_percent")]
        rows = [{**row, **{key: _html.percent(row.get(key)) for key in percents}} for row in rows]
        in_short = [line for line in self.text.splitlines() if line.startswith("in short: ")]
        return [*map(_html.line, [*in_short, *self.advice]), _html.table(rows, columns)]

    @property
    def advice(self):
        """What the comparison suggests."""
        return self.data.get("advice", [])


class Explanation(Document):
    """What holds the program back, and how far ε, α and η can go. Private, unless it is about public data."""

    title = "Explanation"

    def _html(self):
        columns = [("what", ""), ("now", "now"), ("edge", "edge of what is feasible")]
        said = "feasible as asked" if self.data.get("feasible") else "not feasible as asked"
        parts = [_html.line(said), _html.table(self.data.get("thresholds", []), columns)]
        if self.levers:
            tried = [("what", "for less noise"), ("now", "now"), ("instead", "instead"), ("noise", "noise, times")]
            parts.append(_html.table(self.levers, tried))
        return parts

    @property
    def levers(self):
        """The public numbers that make the noise smaller, each with what another value does; empty without a certificate."""
        return self.data.get("levers", [])

    def to_frame(self):
        """The thresholds as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.data["thresholds"])


class Frontier(Table):
    """The loss against ε, α, η or a number of the certificate, and the error bar of the released numbers. Private, unless it is about public data.

    A classifier has an `error` beside it, the share of records on the wrong side; where its λ follows ε by a rule, that is all
    there is, as each λ has a loss of its own.
    """

    title = "Frontier"

    def _shown(self):
        """The key and the name of what a figure shows."""
        has_loss = any(row["loss_percent"] is not None for row in self.data["rows"])
        if has_loss or self.data.get("measure") is None:
            return "loss_percent", "loss in %"
        return "error", "error"

    def _html(self):
        key, name = self._shown()
        columns = [("value", self.data["axis"]), ("error_bar", "± (95%)"), (key, name), ("status", "")]
        rows = self.data["rows"]
        if key == "loss_percent":
            rows = [{**row, key: _html.percent(row[key])} for row in rows]
        measure = [_html.line(f"error: {self.data['measure']}, under the noise")] if key == "error" else []
        return [self.plot().svg, *measure, _html.table(rows, columns)]

    def to_frame(self):
        """The rows as a pandas DataFrame; what a rule chose for each value is a column by its name."""
        import pandas as pd

        rows = []
        for row in self.data["rows"]:
            row = dict(row)
            chosen = {setting["name"]: setting["value"] for setting in row.pop("settings", [])}
            rows.append({**row, **chosen})
        return pd.DataFrame(rows)

    def plot(self):
        """The loss in percent, or the error of a classifier, as a figure: SVG, shown by itself in a notebook."""
        key, name = self._shown()
        rows = [r for r in self.data["rows"] if r.get(key) is not None]
        axis = {"epsilon": "ε", "alpha": "α", "eta": "η"}.get(self.data["axis"], self.data["axis"])
        line = Line([r["value"] for r in rows], [r[key] for r in rows])
        title = f"{name.partition(' ')[0]} against {axis}" + (" (private: for the curator)" if self.private else "")
        return figure(title, axis, name, [line])


class Audit(Document):
    """What an attacker who knows all but one number could tell, on the pairs of datasets that were tried.

    `error` is None, or says what the audit amounts to: `Flagged` where a pair contradicts the claim, `NothingTested` where no
    pair had two answers.
    """

    title = "Audit"

    def __init__(self, text, data, error):
        super().__init__(text, data)
        self.error = error

    def _html(self):
        facts = [("claimed ε", self.data["claimed_epsilon"]), ("ε that was found", self.data["audited_epsilon"])]
        verdict = [] if self.error is None else [str(self.error)]
        return [_html.pairs(facts), _html.warnings(verdict)]


class Movement(Document):
    """How far neighbouring datasets move the answer, on the pairs that were tried, beside the sensitivity in use.

    `error` is None, or `NothingTested` where no pair had two answers.
    """

    title = "Sensitivity"

    def __init__(self, text, data, error):
        super().__init__(text, data)
        self.error = error

    def _html(self):
        facts = [("sensitivity in use", self.data["sensitivity"]), ("largest movement", self.largest)]
        verdict = [] if self.error is None else [str(self.error)]
        return [_html.pairs([*facts, ("share of it", self.tightness)]), _html.warnings(verdict)]

    @property
    def largest(self):
        """The largest movement of the released map that was found."""
        return self.data["released"]["searched"]

    @property
    def tightness(self):
        """The same over the sensitivity in use: above 1, and the noise does not cover it."""
        return self.data["tightness"]


class DryRun(Document):
    """What a release would charge, and what the budget has left now and afterwards. Public; nothing was charged or solved."""

    title = "Dry run"


class Card(Document):
    """The public document of a release: the only one that may be published."""

    def __init__(self, text, data):
        super().__init__(text, data, private=False)

    title = "Release card"

    def _html(self):
        numbers = [(number["name"], number["value"]) for number in self.data["answer"]]
        stamps = [_html.line(stamp) for stamp in self.data.get("stamps", [])]
        return [_html.pairs(numbers), _html.line(self.data["privacy"]), *stamps]

    def to_json(self):
        """The card as it is archived."""
        return json.dumps(self.data, ensure_ascii=False, indent=2)

    def to_html(self):
        """The card as a page of its own: one file without scripts that loads nothing. Public, as the card is."""
        return _core.card_page(self.to_json())


class Release:
    """One answer: the public card, and the private decision that carries it out."""

    def __init__(self, model, card, decision, report, warnings=()):
        self._model, self.card, self.decision, self.report = model, card, decision, report
        self.warnings = list(warnings)
        """What the curator must know about the data behind it. Private, and no part of the card."""

    @property
    def answer(self):
        """The released numbers in the shape of what was asked for; public. Several items make a dictionary by name.

        None where the problem has no answer at the noisy data of ``strategy="input"``: the card says so.
        """
        if not self.card.data["answer"]:
            return None
        numbers = [entry["value"] for entry in self.card.data["answer"]]
        items = self._model.query.items
        if len(items) == 1:
            return items[0].shaped(numbers)
        return {item.name: item.shaped(numbers) for item in items}

    def assign(self):
        """Sets the `value` of the problem's variables to the decision. Private: it is the decision."""
        if self.decision is None:
            raise ValueError("this release has no decision: the noise is on the answer alone")
        for variable, value in self.decision.items():
            variable.save_value(np.asarray(value))

    def __repr__(self):
        return self.card.text

    def _repr_html_(self):
        """The card alone: the decision and the report are private, and shown only where they are asked for."""
        return self.card._repr_html_()


class AsPrivate:
    """Another value that depends on private data, such as a decision or a score, in the frame that says so."""

    def __init__(self, value, title="Private"):
        self.value, self.title = value, title

    def __repr__(self):
        return f"{self.title} (private: for the curator, not to be published)\n{self.value!r}"

    def _repr_html_(self):
        for form in ("_repr_html_", "_repr_svg_"):
            shown = getattr(self.value, form, lambda: None)()
            if shown is not None:
                return _html.page(self.title, True, shown)
        return _html.page(self.title, True, text=repr(self.value), is_unfolded=True)


def as_private(value, title="Private"):
    """The value for a notebook, in the frame of private documents: for tables and figures of your own from private results.

    >>> as_private(3.5, "Cost before noise")
    Cost before noise (private: for the curator, not to be published)
    3.5
    """
    return AsPrivate(value, title)
