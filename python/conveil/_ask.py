"""What is asked of a plan: which datasets are neighbours, how the sensitivity is known, what is promised.

Values only: each says itself in the words of a spec, which is the one thing that the engine reads.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ._errors import InputError


@dataclass(frozen=True)
class Adjacency:
    """Which datasets must be hard to tell apart."""

    kind: str
    alpha: float | None = None
    record: int | None = None
    unit: str | None = None

    def text(self):
        parts = [f'kind = "{self.kind}"']
        if self.alpha is not None:
            parts.append(f"alpha = {float(self.alpha)!r}")
        if self.record is not None:
            parts.append(f"record = {self.record}")
        if self.unit is not None:
            parts.append(f"unit = {_quoted(self.unit)}")
        return "{ " + ", ".join(parts) + " }"


def one_entry(alpha, unit=None):
    """One private number differs by at most ``alpha``.

    >>> one_entry(10).alpha
    10.0
    """
    return Adjacency("one-entry", _positive(alpha, "alpha"), unit=unit)


def l1(alpha, unit=None):
    """All private numbers together differ by at most ``alpha`` in the ℓ₁ norm."""
    return Adjacency("l1", _positive(alpha, "alpha"), unit=unit)


def l2(alpha, unit=None):
    """All private numbers together differ by at most ``alpha`` in the ℓ₂ norm."""
    return Adjacency("l2", _positive(alpha, "alpha"), unit=unit)


def one_record(record, unit=None):
    """One run of ``record`` consecutive private numbers is replaced by any others within the bounds."""
    if int(record) != record or record < 1:
        raise InputError(f"a record has a whole number of private numbers, at least 1; found {record!r}")
    return Adjacency("one-record", record=int(record), unit=unit)


@dataclass(frozen=True)
class Sensitivity:
    """How far the released answer moves between neighbours, and how that is known."""

    by: str
    settings: tuple = ()
    prices: tuple = ()
    """Pairs of a constraint, or of its name or that of one of its rows, and its price."""

    def text(self, names=None):
        """`names` are the engine's names of rows by those that the user knows."""
        parts = [f'by = "{self.by}"', *(f"{k} = {v}" for k, v in self.settings)]
        if self.prices:
            named = (f"{_quoted((names or {}).get(name, name))} = {price!r}" for name, price in self.prices)
            parts.append("prices = { " + ", ".join(named) + " }")
        return "{ " + ", ".join(parts) + " }"

    def of_problem(self, name_of):
        """The same with names in the place of constraints."""
        prices = tuple((key if isinstance(key, str) else name_of(key), price) for key, price in self.prices)
        return replace(self, prices=prices)


def envelope(price):
    """Proven for the optimal value with private right-hand sides: deviating from the data costs ``price`` per unit.

    The price is a public policy number, such as the value of lost load. Needs ``bounds`` on every private parameter.
    """
    return Sensitivity("envelope", (("price", repr(_positive(price, "price"))),))


def moreau(width, *, offset=None, cap=None, curvature=None, around=None):
    """Proven for any variables of a curved problem with private right-hand sides, which may be corrected at a smooth price.

    ``width`` is by how much a private number may be corrected for each unit by which its price differs from ``offset``: the
    prices at the nominal data, unless one number for all is given. ``cap`` limits what a unit of correction costs beyond that;
    ``curvature`` adds a small quadratic cost on what is released; with ``around="nominal"`` around the optimum at the nominal
    data, where it costs nothing. Needs ``bounds`` on every private parameter.
    """
    settings = [("width", repr(_positive(width, "width")))]
    if offset is not None:
        settings.append(("offset", repr(float(offset))))
    if cap is not None:
        settings.append(("price", repr(_positive(cap, "cap"))))
    if curvature is not None:
        settings.append(("curvature", repr(_positive(curvature, "curvature"))))
    if around is not None:
        if around not in ("zero", "nominal") or curvature is None:
            raise InputError(f'around= is "zero" or "nominal", beside a curvature; found {around!r}')
        settings.append(("around", _quoted(around)))
    return Sensitivity("moreau", tuple(settings))


def saddle(*, price=None, prices=None, width=None, curvature=None):
    """Proven for private numbers anywhere in a problem: coefficients of constraints, right-hand sides, costs.

    Constraints with private numbers may be exceeded at a public price for each unit: ``price`` for all of them, ``prices`` for
    single ones, a dictionary by constraint, by its name, or by the name of one of its rows. Every variable that meets private
    numbers needs public limits on both sides. That is enough for the optimal value. For variables give ``width`` too: the
    constraints get a margin of at most width times price, which gives way smoothly; the objective must be curved in what is
    released and in what meets private numbers, and ``curvature`` adds a small quadratic cost there.

    >>> saddle(prices={"protein": 1000}).text()
    '{ by = "saddle", prices = { "protein" = 1000.0 } }'
    """
    return _under("saddle", price, prices, width, curvature)


def auto(*, price=None, prices=None, width=None, offset=None, curvature=None):
    """Whichever of the proofs applies at the stated public numbers and serves best; `check` lists what each one proves.

    The arguments are those of `envelope`, `moreau` and `saddle`. None of them has a default that could be right: a proof
    that needs one that is not stated does not apply.
    """
    return _under("auto", price, prices, width, curvature, offset)


def _under(by, price, prices, width, curvature, offset=None):
    numbers = (("price", price), ("width", width), ("curvature", curvature))
    settings = [(what, repr(_positive(number, what))) for what, number in numbers if number is not None]
    if offset is not None:
        settings.append(("offset", repr(float(offset))))
    if prices is not None and not hasattr(prices, "items"):
        raise InputError(f"prices= is a dictionary by constraint or by its name; found {type(prices).__name__}")
    named = tuple((key, _positive(number, "a price")) for key, number in (prices or {}).items())
    return Sensitivity(by, tuple(settings), named)


def radius():
    """Proven for the optimal value with private prices, over a public and bounded feasible set."""
    return Sensitivity("radius")


def strong_convexity():
    """Proven for variables with private linear costs beside a public, positive definite quadratic cost."""
    return Sensitivity("strong-convexity")


def declared(value=None, reason=None, *, per_alpha=None):
    """You state the bound, or the bound ``per_alpha``; the reason stands beside it in the guarantee."""
    if (value is None) == (per_alpha is None):
        raise InputError("a declared sensitivity has a value, or per_alpha=, and not both")
    if not reason or not str(reason).strip():
        raise InputError("a declared sensitivity needs reason=: it stands in the guarantee as your statement")
    number = (
        ("value", repr(_positive(value, "value")))
        if per_alpha is None
        else ("per_alpha", repr(_positive(per_alpha, "per_alpha")))
    )
    return Sensitivity("declared", (number, ("reason", _quoted(reason))))


def sampled(gamma=0.1, beta=0.1, seed=None):
    """Measured on pairs drawn between the public ``bounds``: holds for a share 1 − γ of them, with confidence 1 − β."""
    settings = [("gamma", repr(float(gamma))), ("beta", repr(float(beta)))]
    if seed is not None:
        settings.append(("seed", str(int(seed))))
    return Sensitivity("sampled", tuple(settings))


@dataclass(frozen=True)
class Ask:
    """All that is asked, in the words of a spec."""

    adjacency: Adjacency
    sensitivity: Sensitivity
    epsilon: float
    delta: float | None
    mechanism: str
    eta: float | None
    strategy: str = "program"
    shape: object = None
    feasibility: dict = field(default_factory=dict)
    tolerance: float | None = None
    threads: int | None = None
    draws: int | None = None

    def adjacency_text(self):
        return self.adjacency.text()

    def universe_lines(self, model):
        """A sampled sensitivity is about the box of the public bounds."""
        if self.sensitivity.by != "sampled":
            return []
        low, high = (side[model.numbers] for side in model.limits())
        if not np.all(np.isfinite(low)):
            missing = next(n for n, v in zip(model.number_names(), low) if not np.isfinite(v))
            raise InputError(
                f"a sampled sensitivity draws its pairs between the public bounds, and `{missing}` has none: give bounds="
            )
        centre, half = (low + high) / 2.0, (high - low) / 2.0
        return [
            "[private.universe]",
            'kind = "box"',
            f"center = [{', '.join(repr(v) for v in centre.tolist())}]",
            f"half_width = [{', '.join(repr(v) for v in half.tolist())}]",
        ]

    def query_lines(self):
        if self.shape is None:
            return []
        if isinstance(self.shape, str):
            return [f"shape = {_quoted(self.shape)}"]
        rows = np.atleast_2d(np.asarray(self.shape, dtype=float)).tolist()
        return [f"shape = [{', '.join('[' + ', '.join(repr(v) for v in row) + ']' for row in rows)}]"]

    def privacy_lines(self, names=None):
        lines = ["[privacy]", f'mechanism = "{self.mechanism}"', f"epsilon = {float(self.epsilon)!r}"]
        if self.delta is not None:
            lines.append(f"delta = {float(self.delta)!r}")
        return [*lines, f"sensitivity = {self.sensitivity.text(names)}"]

    def feasibility_lines(self):
        lines = ["[feasibility]"]
        if self.strategy != "program":
            lines.append(f'strategy = "{self.strategy}"')
        if self.eta is not None:
            lines.append(f"eta = {float(self.eta)!r}")
        for key, value in self.feasibility.items():
            lines.append(f"{key} = {_quoted(value) if isinstance(value, str) else repr(value)}")
        return lines

    def other_lines(self):
        lines = []
        if self.tolerance is not None or self.threads is not None:
            lines.append("[solver]")
            if self.tolerance is not None:
                lines.append(f"tolerance = {float(self.tolerance)!r}")
            if self.threads is not None:
                lines.append(f"threads = {int(self.threads)}")
        return lines


def _positive(value, what):
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not (np.isfinite(number) and number > 0.0) or isinstance(value, bool):
        raise InputError(f"{what} is a number above 0; found {value!r}")
    return number


def _quoted(text):
    import json

    return json.dumps(str(text), ensure_ascii=False)
