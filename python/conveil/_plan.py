"""`privatize`: a CVXPY problem, what is private in it and what is asked, as a plan.

A plan is public. Private values are read from the parameters at the moment of a verb that needs them (`solve`,
`compare`, `explain`, `frontier`, `release`), and handed to that call alone.
"""

from __future__ import annotations

import json
from dataclasses import replace
from time import perf_counter

import numpy as np

from . import _cells, _without_values
from ._ask import Adjacency, Ask, Sensitivity, auto, envelope
from ._errors import InputError, Refused, kept
from ._phrases import Speaker
from ._progress import Watched
from ._results import Card, Release, Report, Values
from ._rule import Rule
from ._verbs import Verbs

PROBLEM_FILE = "problem.json"
THETA_FILE = "theta.csv"
_LEFT_OUT = "the numbers above leave out terms of the objective that no decision changes"


def privatize(
    problem,
    private,
    release="value",
    *,
    epsilon,
    adjacency,
    price=None,
    sensitivity=None,
    eta=None,
    delta=None,
    mechanism=None,
    bounds=None,
    nominal=None,
    strategy="program",
    slope=None,
    decisions=None,
    here_and_now=(),
    shape=None,
    method=None,
    rows=None,
    split=None,
    factor=None,
    tolerance=None,
    threads=None,
):
    """Plans a private answer from a CVXPY problem. No private value is read.

    ``private`` are the parameters that hold private numbers; every other parameter is public and needs a value.
    ``release`` is ``"value"`` for the optimal value, a variable, an affine expression, or a list of these.

    ``adjacency`` says which datasets must be hard to tell apart (`one_entry`, `l1`, `l2`, `one_record`); ``epsilon``,
    ``delta`` and ``mechanism`` (``"laplace"``, ``"gaussian"``, ``"truncated-laplace"``) say how hard. How far the answer
    moves between them is known by ``price=``, the price of the `envelope`, or by ``sensitivity=``: `radius`,
    `strong_convexity`, `moreau`, `saddle`, `auto`, `declared` or `sampled`.

    ``eta`` is the largest probability that the decision violates the problem's constraints. ``bounds`` and ``nominal``
    are dictionaries by parameter: a public pair (low, high), and a public value that stands for the private one.

    ``decisions`` names the variables that somebody carries out, unless that is all of them; others then only have to
    exist. ``here_and_now`` names variables that are decided before the noise. ``slope`` is the public slope of a curved
    objective whose value is released.

    ``strategy="output"`` puts the noise on the answer alone, ``"linear-term"`` on private linear costs before the problem is
    solved, where it applies; ``"shifted"`` adds a public room to a noisy optimal value; ``"input"`` puts the noise on the private
    numbers and solves at these, which needs no sensitivity; ``"truncated"`` does so with bounded noise on numbers that limits hang on,
    each moved to its strict side, so that every constraint holds. ``"auto"`` chooses by a public rule (docs/defaults.md), and the card
    says why.
    """
    private = list(private) if isinstance(private, (list, tuple)) else [private]
    ask = _ask(
        adjacency,
        price,
        sensitivity,
        epsilon,
        delta,
        mechanism,
        eta,
        strategy,
        shape,
        tolerance,
        threads,
        {"method": method, "rows": rows, "split": split, "factor": factor},
    )
    for argument, mapping in (("bounds", bounds), ("nominal", nominal)):
        if mapping is not None and not hasattr(mapping, "items"):
            raise InputError(f"{argument}= is a dictionary by parameter; found {type(mapping).__name__}")
    from ._bridge import read
    from ._bridge.form import constraint_name

    def named(constraint):
        for position, one in enumerate(getattr(problem, "constraints", ())):
            if one is constraint:
                return constraint_name(one, position)
        raise InputError(f"prices= holds {constraint!r}, which is neither a constraint of the problem nor the name of one")

    ask = replace(ask, sensitivity=ask.sensitivity.of_problem(named))
    with Watched() as heard:
        heard.begin("read")

        def reading(strategy):
            return read(
                problem,
                private,
                release,
                bounds=bounds,
                nominal=nominal,
                slope=slope,
                strategy=strategy,
                decisions=decisions,
                here_and_now=here_and_now,
                keeps_private_prices=ask.sensitivity.by in ("radius", "saddle", "auto"),
            )

        if strategy == "auto":
            # What decisions can carry is the narrower question: what they cannot may still get noise on the answer.
            try:
                model = reading("program")
            except Refused:
                model = reading("output")
        else:
            model = reading(strategy)
    _known_keys(bounds, private, "bounds")
    _known_keys(nominal, private, "nominal")
    return Plan(model, ask)


STRATEGIES = ("auto", "program", "output", "shifted", "projected", "linear-term", "input", "truncated")


def _ask(
    adjacency, price, sensitivity, epsilon, delta, mechanism, eta, strategy, shape, tolerance, threads, feasibility
):
    if not isinstance(adjacency, Adjacency):
        raise InputError(f"adjacency= is one of conveil.one_entry, l1, l2 and one_record; found {adjacency!r}")
    if price is not None and sensitivity is not None:
        raise InputError("price= is the sensitivity by an envelope: give price= or sensitivity=, not both")
    if price is not None:
        sensitivity = envelope(price)
    if strategy not in STRATEGIES:
        known = ", ".join(f'"{word}"' for word in STRATEGIES[:-1])
        raise InputError(f'strategy= is {known} or "{STRATEGIES[-1]}"; found {strategy!r}')
    if sensitivity is None and strategy in ("input", "truncated"):
        # The noise is on the data: what the answer does is of no use.
        sensitivity = auto()
    if sensitivity is None:
        raise InputError(
            "how far can the answer move between neighbours? Give price= (the optimal value, private right-hand sides), "
            "sensitivity=conveil.radius() (the optimal value, private prices), conveil.strong_convexity() (variables, "
            "private linear costs), conveil.moreau(…) (variables, private right-hand sides), conveil.saddle(…) (private "
            "numbers anywhere), conveil.auto(…) (whichever of these serves best), conveil.declared(…) or conveil.sampled(…)"
        )
    if not isinstance(sensitivity, Sensitivity):
        raise InputError(
            f"sensitivity= is one of conveil.declared, sampled, envelope, moreau, saddle, auto, radius and strong_convexity; found {sensitivity!r}"
            " (a bare number has no basis: conveil.declared(number, reason) states it as yours)"
        )
    if mechanism is None:
        with_delta = "truncated-laplace" if strategy == "truncated" else "gaussian"
        mechanism = "laplace" if delta is None else with_delta
    if mechanism not in ("laplace", "gaussian", "truncated-laplace"):
        raise InputError(f'mechanism= is "laplace", "gaussian" or "truncated-laplace"; found {mechanism!r}')
    if mechanism == "laplace" and delta is not None:
        raise InputError("delta= makes no sense with the Laplace mechanism, which needs none")
    if mechanism != "laplace" and delta is None:
        raise InputError(f'mechanism="{mechanism}" needs delta=')
    if eta is None and strategy == "program":
        raise InputError("eta= is missing: with which probability may the decision violate the constraints?")
    if eta is None and strategy == "shifted":
        raise InputError("eta= is missing: with which probability may no decision have the released value?")
    if strategy == "truncated" and mechanism != "truncated-laplace":
        raise InputError('strategy="truncated" makes room for all the noise that there can be: it needs delta= and bounded noise')
    for name, value in (("epsilon", epsilon), ("delta", delta), ("eta", eta)):
        if value is not None and not (isinstance(value, (int, float, np.number)) and np.isfinite(value) and value > 0):
            raise InputError(f"{name}= is a number above 0; found {value!r}")
    if shape is None and sensitivity.by == "strong-convexity":
        shape = "curvature"
    given = {key: value for key, value in feasibility.items() if value is not None}
    return Ask(adjacency, sensitivity, epsilon, delta, mechanism, eta, strategy, shape, given, tolerance, threads)


def _known_keys(mapping, private, argument):
    ids = {getattr(p, "id", None) for p in private}
    for key in mapping or {}:
        if getattr(key, "id", object()) not in ids:
            name = f"`{key.name()}`" if hasattr(key, "name") else repr(key)
            raise InputError(f"{argument}= holds {name}, which is not among the private parameters")


class Plan(Verbs):
    """What would be released and guaranteed. Public, until a verb reads the private values."""

    def __init__(self, model, ask):
        from ._bridge import Conic

        if ask.adjacency.kind == "one-record" and len(model.numbers) != sum(e.count for e in model.entries):
            raise InputError(
                "some private numbers enter the problem nowhere, so that its records have gaps: leave them out of the parameters"
            )
        self.model, self.ask = model, ask
        self._conic = Conic(model)
        speaker = Speaker(self._conic.spoken(), self._conic.place)
        started = perf_counter()
        self._open(self._conic.spec_text(ask), {PROBLEM_FILE: self._conic.problem_json()}, speaker)
        self.seconds = {**model.seconds, "public solves": perf_counter() - started}
        """How long the bridge to CVXPY took, its comparison with CVXPY's data in it, and the engine's public solves."""

    @property
    def private(self):
        """The private parameters, whose values the verbs read. A plan that was pickled has parameters of its own."""
        return [entry.parameter for entry in self.model.entries]

    def __reduce__(self):
        return _without_values.restore, (type(self), _without_values.pickled(self.__dict__, self.private))

    @property
    def warnings(self):
        """What a careful reader should know before anything is released."""
        found, every = super().warnings, sum(e.count for e in self.model.entries)
        if len(self.model.numbers) < every:
            found.append(
                f"{every - len(self.model.numbers)} of {every} private numbers enter the problem nowhere: they are no data of it"
            )
        return found

    def solve(self, at=None, draws=1000):
        """The decision before noise, and what privacy costs. ``at="nominal"`` uses the public nominal values instead.

        Where parts of the objective are priced at the mean decision, the mean of the whole objective over ``draws`` of the
        noise is beside it; ``draws=0`` leaves it out.
        """
        theta = self._theta(at)
        data, said, warnings = self._solve(self._data(theta))
        model = self.model
        columns = self._conic.by_column(data["mean"])
        expected = None
        if model.at_the_mean and self.ask.strategy == "program" and draws:
            expected = self._expected(self._rule(theta), model.clipped(theta), draws)
        outside = self._outside(theta)
        optimum, objective = data["optimum"] + outside, data["objective"] + outside
        for level in ("optimum", "without_noise"):
            if outside and (data.get("costs") or {}).get(level) is not None:
                data["costs"][level] += outside
        numbers = [value for _, value in data["answer"]]
        items = model.query.items
        answer = items[0].shaped(numbers) if len(items) == 1 else {i.name: i.shaped(numbers) for i in items}
        if outside:
            said += f"\n{_LEFT_OUT}: with them the optimum is {optimum:.6f} and the objective {objective:.6f}"
        if expected is not None:
            said += f"\nobjective of the mean decision {objective:.6f}; mean objective over the noise {expected:.6f} ({draws} draws)"
        report = Report(
            said,
            data,
            at is None,
            optimum=optimum,
            objective=objective,
            answer=answer,
            mean=Values(model, columns),
            expected_objective=expected,
            draws=draws if expected is not None else None,
        )
        return report.warned(warnings)

    def rule(self, at=None):
        """The linear rule x(ζ) = x̄ + Xζ by which the decisions follow the noise. Private, unless at nominal values."""
        return self._rule(self._theta(at))

    def compare(self, at=None, draws=None, seed=None):
        """All strategies side by side on the same noise."""
        theta = self._theta(at)
        comparison, warnings = self._compare(self._data(theta), None, draws, seed, at is None)
        return self._restated(comparison, theta).warned(warnings)

    def explain(self, at=None):
        """What holds the program back, and how far ε, α and η can go."""
        explanation, warnings = self._explain(self._data(self._theta(at)), None, at is None)
        return explanation.warned(warnings)

    def report(self, path, at=None):
        """Writes the curator's report to ``path``, a new file: one page with the guarantee, the decision, what it costs, strategies
        side by side, an audit. Private, unless ``at="nominal"``. It loads nothing, and prints on A4. Returns the path."""
        theta = self._theta(at)
        note = None
        if self._outside(theta):
            note = f"{_LEFT_OUT[0].upper()}{_LEFT_OUT[1:]}."
        return self._report(self._data(theta) if at is None else {}, path, at=at, note=note)

    def frontier(self, over="epsilon", values=None, at=None, *, executor=None, keep=None, allow_private=False):
        """The loss against ``over``: "epsilon", "alpha", "eta", or a number of the certificate: "width", "curvature", "price".

        ``executor``, a `concurrent.futures.Executor`, computes a value in each cell, with the same result; ``keep`` is a
        private folder for finished cells, from which a broken run goes on. The private values reach the executor only with
        ``allow_private=True``; ``at="nominal"`` needs none of them.
        """
        if at is None:
            names = ", ".join(f"`{parameter.name()}`" for parameter in self.private)
            _cells.require_public(executor, allow_private, f"the values of {names}; at=\"nominal\" needs none")
        theta = self._theta(at)
        data = self._data(theta)
        frontier, warnings = self._frontier(data, over, values, None, at is None, executor=executor, keep=keep)
        return self._restated(frontier, theta).warned(warnings)

    def release(
        self,
        *,
        ledger=None,
        dataset=None,
        part=None,
        part_moves=False,
        planned=False,
        not_recorded=False,
        not_private=False,
        seed=None,
        dry_run=False,
        strict=False,
    ):
        """Charges the ledger, solves, draws the noise once. Never repeated by itself: a second answer is a second charge.

        ``not_recorded=True`` releases without an account, and the card says so. ``not_private=True`` is for studies: with
        ``seed`` the noise repeats, the card says NOT PRIVATE, and nothing is charged. ``dry_run=True`` does all that comes
        before the charge and returns a document of what would be charged: nothing is charged or solved. ``strict=True``
        refuses what the nominal values show to be poor, before the charge.
        """
        charged = {
            "ledger": ledger,
            "dataset": dataset,
            "part": part,
            "part_moves": part_moves,
            "planned": planned,
            "not_recorded": not_recorded,
        }
        data = self._data(self._theta(None))
        if dry_run:
            return self._dry_run(data, not_private=not_private, **charged)
        documents, warnings = self._release(data, not_private=not_private, seed=seed, report=True, strict=strict, **charged)
        with kept(documents):
            ((card, card_text, decision, report, report_text),) = documents
            decided = None
            if decision is not None:
                pairs = [(entry["name"], entry["value"]) for entry in json.loads(decision)["decision"]]
                decided = Values(self.model, self._conic.by_column(pairs))
            said = None if report_text is None else self._speaker.say(report_text)
            card = Card(self._speaker.say(card_text), json.loads(card))
            return Release(self.model, card, decided, said, warnings)

    def _theta(self, at):
        """The private numbers: of the parameters as they are now, or the nominal ones."""
        entries = self.model.entries
        changed = self.model.public.changed()
        if changed is not None:
            raise InputError(
                f"the public parameter `{changed.name()}` has another value than when the plan was made: plan again"
            )
        if at is None:
            values = []
            for entry in entries:
                parameter = entry.parameter
                # CVXPY wants entries of a sparse parameter to be read so, where it can.
                is_sparse = parameter.attributes.get("sparsity") and hasattr(parameter, "value_sparse")
                value = parameter.value_sparse if is_sparse else parameter.value
                if value is None:
                    raise InputError(f"the private parameter `{entry.parameter.name()}` has no value")
                values.append(value)
            return self.model.theta(values)
        if at != "nominal":
            raise InputError(f'at= is None, for the private values, or "nominal"; found {at!r}')
        for entry, nominal in zip(entries, self.model.nominal):
            if nominal is None:
                raise InputError(f"`{entry.parameter.name()}` has no nominal value: give nominal= to privatize")
        return np.concatenate(self.model.nominal)

    def _data(self, theta):
        return {THETA_FILE: self._conic.theta_csv(theta)}

    def _rule(self, theta):
        decided, _, _ = self._heard_from(self._bench.rule, self._data(theta))
        return Rule.of(decided, self._conic.by_column)

    def _expected(self, rule, theta, draws):
        """The mean of the user's objective over the noise; None where CVXPY has no value for it (some atoms have none)."""
        objective = self.model.user_objective(theta)
        try:
            objective(rule.mean)
        except Exception:
            return None
        return rule.expected(objective, draws)

    def _outside(self, theta):
        """What depends on the private numbers alone, such as d'd in `sum_squares(x - d)`: no part of the engine's objective.

        The engine knows the sense and the public constant.
        """
        return self.model.sign * (self.model.constant(self.model.clipped(theta)) - self.model.form.d)

    def _restated(self, table, theta):
        """The same table with percentages of the user's own optimum, where the engine's leaves something out."""
        outside, data = self._outside(theta), table.data
        if not outside:
            return table
        data["optimum"] += outside
        size = abs(data["optimum"])
        for row in data["rows"]:
            if row.get("objective") is not None:
                row["objective"] += outside
            for kind in ("loss", "sampled_loss"):
                if row.get(kind) is not None:
                    row[f"{kind}_percent"] = 100.0 * row[kind] / size if size else None
        table.text += f"\n{_LEFT_OUT}; `to_frame()` has percentages of the whole optimum, {data['optimum']:.6f}"
        return table
