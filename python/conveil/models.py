"""Ready-made models: power grids, classifiers, regressions, ellipsoids, portfolios.

Each function states a model and returns a plan with the verbs of every plan. A plan is public: it knows how many private
numbers there are and what they are called, and reads them when a verb for the curator or a release is called.

Numbers come as numpy arrays, lists, scipy.sparse matrices or pandas objects; names are the columns of a DataFrame.

In every function `epsilon` is the privacy budget of one release; with `delta` the noise is Gaussian, without it Laplace.
`settings` adds tables and keys of a spec, such as ``{"solver": {"threads": 1}, "feasibility": {"method": "mass-box"}}``.

`twin` are **public** data in the form of the private ones: older ones that are published, or made-up ones. ``check()`` says what
to expect on them, and ``at="twin"`` of ``solve``, ``compare``, ``explain`` and ``frontier`` explores them, so that settings can
be chosen without a look at the private data.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from . import _toml
from ._errors import InputError
from ._frames import (
    LABEL,
    as_pair,
    column_names,
    column_of,
    counted,
    csv_text,
    labelled,
    numbers_text,
    per_feature,
    row_labels,
    rows_of,
)
from ._grid import Network
from ._model_plan import ModelPlan

__all__ = ["opf", "svm", "logistic", "regression", "ellipsoid", "portfolio"]


def opf(
    network,
    demand=None,
    *,
    release="cost",
    epsilon,
    delta=None,
    adjacency,
    bounds=None,
    price=None,
    sensitivity=None,
    loads="with-demand",
    costs="full",
    curvature=None,
    strategy="program",
    eta=0.01,
    labels=False,
    twin=None,
    settings=None,
) -> ModelPlan:
    """A DC optimal power flow with private demands: its cost, or what groups of units generate.

    The network is public, **its own demands included**: they are the nominal ones. Protected are the demands in `demand`.

    Parameters
    ----------
    network : the name of a built-in network (``"24_ieee_rts"``), the path of a MATPOWER case, a mapping of its tables
        ``bus``, ``gen``, ``branch``, ``gencost`` (arrays, or DataFrames with MATPOWER's names of columns), or a pandapower
        net, whose bus b is called bus b + 1 on reports and cards.
    demand : private demands in MW: a mapping or Series by bus, or a DataFrame with a column for each bus and a row for
        each dataset of a series. Buses are those of `network`, for a pandapower net its own. Without it there is nothing
        private, and a release refuses.
    release : ``"cost"``, or groups of units: ``{"north": ["bus 22", "generator 9"]}``.
    adjacency : such as ``one_entry(10)``, in MW.
    bounds : public bounds of the demands: a share of the network's own (0.3), or (low, high) in MW for each bus, as a
        mapping or a DataFrame with the columns ``low`` and ``high``.
    price : with `release` "cost": the sensitivity is certified by allowing deviations from the data at this public price per
        MWh (needs `bounds`). Otherwise state a `sensitivity`.
    labels : with True the index of the DataFrame `demand`, such as hours, labels the rows. **Labels are public**: they stand
        on the cards.
    twin : public demands in the form of `demand`, for ``at="twin"``. ``at="nominal"`` takes the network's own.
    """
    net = Network.of(network)
    files = dict(net.files)
    private: dict = {"adjacency": adjacency, "loads": loads}
    if demand is not None:
        private["demand"] = "demand.csv"
    if labels:
        row_labels(demand, labels, "demand")
        private["label"] = LABEL
    if isinstance(bounds, (int, float)):
        private["bounds"] = {"relative": float(bounds)}
    elif bounds is not None:
        private["bounds"] = {"each": "bounds.csv"}
        files["bounds.csv"] = net.bounds_text(bounds)
    if (price is None) == (sensitivity is None):
        raise InputError("how far the answer moves is known by price=, or by sensitivity=: give one of them")
    if price is not None:
        sensitivity = {"by": "envelope", "price": float(price)}
    if twin is not None:
        _require_apart(twin, demand)
        private["twin"] = TWIN
        files[TWIN] = net.demand_text(twin, row_labels(twin, labels, "twin"))
    query = {"release": "cost"} if release == "cost" else {"release": "generation", "groups": release}
    return _plan(
        {
            "problem": {"model": "opf", **net.problem, "costs": costs, "curvature": curvature},
            "private": private,
            "query": query,
            "privacy": {**_privacy(epsilon, delta), "sensitivity": sensitivity},
            "feasibility": {"strategy": strategy, "eta": eta},
        },
        settings,
        files,
        lambda: {} if demand is None else {"demand.csv": net.demand_text(demand, row_labels(demand, labels, "demand"))},
    )


def svm(
    X,
    y,
    *,
    bounds,
    classes,
    epsilon,
    delta=None,
    lam=1e-3,
    tune=None,
    norm=None,
    intercept=True,
    strategy="output",
    eta=0.05,
    test=None,
    names=None,
    twin=None,
    settings=None,
) -> ModelPlan:
    """A linear support vector machine with private records: min λ‖(w, b)‖² + (1/N) Σ hinge.

    Protected is one whole record, its features and its label. **The number of records N is public**, and so are the names
    and `bounds` of the features and the two `classes`: of `X` and `y` the plan takes N and the names, and nothing else.

    Parameters
    ----------
    X, y : the private records: N rows of features, N labels.
    bounds : ``(low, high)``, each a number or one for each feature, or a mapping of names to ``(low, high)``. Public:
        values are clipped to them and scaled by them. They must not come from the data.
    classes : ``(negative, positive)``, the two labels, public. Any other label in `y` is refused.
    lam : λ > 0; None takes the one that follows from N, the number of features, ε and δ by a public rule
        (docs/defaults.md), which ``check()`` and the card state.
    tune : ``{"grid": [1e-3, 1e-2, 1e-1], "share": 0.2}``: λ is chosen from this public grid by a private selection that takes
        this share of ε; `lam` is then None. The card states which was chosen.
    norm : R, a public bound on the norm of a record ``(x, 1)`` after its features are scaled to [−1, 1]: longer records are
        scaled to it one by one, and the noise is for R in the place of √(n + 1).
    strategy : ``"output"``: noise on the trained weights; ``"program"``: weights that are trained for the noise.
    eta : read by ``"program"`` and by ``compare()``: the probability with which the loss of a record may be larger than planned.
    test : ``(X, y)`` to score on in reports for the curator; private too.
    names : of the features, unless `X` has named columns.
    twin : ``(X, y)``, public records of the same kind, for ``at="twin"``. There may be another number of them: they are taken in
        turn until there are N.
    """
    if tune is not None and lam is not None:
        raise InputError("tune= chooses λ from its grid: give lam=None beside it")
    return _classifier(
        {"model": "svm", "lambda": lam, "tune": tune, "norm": norm, "intercept": intercept},
        (X, y, test, twin),
        (bounds, classes, names),
        _privacy(epsilon, delta),
        {"strategy": strategy, "eta": eta, "rows": "each"},
        settings,
        version=1 if lam is not None else 2,
    )


def logistic(
    X,
    y,
    *,
    bounds,
    classes,
    epsilon,
    delta=None,
    lam=None,
    norm=None,
    intercept=True,
    test=None,
    names=None,
    twin=None,
    settings=None,
) -> ModelPlan:
    """A logistic regression with private records: min λ‖(w, b)‖² + (1/N) Σ log(1 + exp(−y(w'x + b))).

    Protected is one whole record, its features and its label. **The number of records N is public**, and so are the names
    and `bounds` of the features and the two `classes`: of `X` and `y` the plan takes N and the names, and nothing else.

    The noise is on the trained weights. Training for the noise, as :func:`svm` has it, is not proven for this loss.

    Parameters
    ----------
    X, y : the private records: N rows of features, N labels.
    bounds : ``(low, high)``, each a number or one for each feature, or a mapping of names to ``(low, high)``. Public:
        values are clipped to them and scaled by them. They must not come from the data.
    classes : ``(negative, positive)``, the two labels, public. Any other label in `y` is refused.
    lam : λ > 0; None takes the one that follows from N, the number of features, ε and δ by a public rule
        (docs/defaults.md), which ``check()`` and the card state.
    norm : R, a public bound on the norm of a record ``(x, 1)`` after its features are scaled to [−1, 1]: longer records are
        scaled to it one by one, and the noise is for R in the place of √(n + 1).
    test : ``(X, y)`` to score on in reports for the curator; private too.
    names : of the features, unless `X` has named columns.
    twin : ``(X, y)``, public records of the same kind, for ``at="twin"``. There may be another number of them: they are taken in
        turn until there are N.
    """
    return _classifier(
        {"model": "logistic", "lambda": lam, "norm": norm, "intercept": intercept},
        (X, y, test, twin),
        (bounds, classes, names),
        _privacy(epsilon, delta),
        {"strategy": "output"},
        settings,
        version=2,
    )


def _classifier(problem, records, stated, privacy, feasibility, settings, version) -> ModelPlan:
    """A plan of a classifier: `problem` without its records, ``(X, y, test, twin)``, and ``(bounds, classes, names)``."""
    X, y, test, twin = records
    bounds, classes, names = stated
    names = column_names(X) if names is None else list(names)
    label = next(name for name in ("class", "label", "class of the record") if name not in names)
    negative, positive = (_class_word(value) for value in _two(classes))
    private = {"data": "records.csv", "test": None if test is None else "test.csv", "adjacency": {"kind": "one-record"}}
    public = {}

    def text(records, what):
        features, labels = _records(records, what)
        if hasattr(features, "columns") and set(map(str, features.columns)) == set(names):
            features = features[sorted(features.columns, key=lambda column: names.index(str(column)))]
        return _labelled(features, labels, [*names, label], (negative, positive), what)

    if twin is not None:
        for public_part, private_part in zip(_records(twin, "twin"), (X, y)):
            _require_apart(public_part, private_part)
        private["twin"] = TWIN
        public[TWIN] = text(twin, "twin")

    def files():
        made = {"records.csv": text((X, y), "the records")}
        if test is not None:
            made["test.csv"] = text(test, "test")
        return made

    return _plan(
        {
            "problem": {
                **problem,
                "records": counted(X, y),
                "label": {"column": label, "positive": positive, "negative": negative},
                "intercept": "regularised" if problem["intercept"] else "none",
                "features": dict(zip(names, per_feature(bounds, names))),
            },
            "private": private,
            "query": {"release": "weights"},
            "privacy": privacy,
            "feasibility": feasibility,
        },
        settings,
        public,
        files,
        version=version,
    )


def regression(
    X,
    y,
    *,
    basis=None,
    conditions=(),
    bounds=None,
    adjacency=None,
    release="weights",
    epsilon,
    delta=None,
    ridge=0.0,
    units=None,
    strategy=None,
    eta=0.05,
    names=None,
    twin=None,
    settings=None,
) -> ModelPlan:
    """A regression of private responses on **public** regressors: min ½‖y − Φw‖² + ½λ‖w‖² subject to conditions.

    Protected is the response of one record. **The regressors `X` and the number of records are public** and not protected:
    this model does not fit where they are private too.

    Parameters
    ----------
    X : public regressors, a row for each record.
    y : private responses; the name of a Series is public.
    basis : functions of the regressors, in the words of a spec: ``{"kind": "polynomial", "feature": "speed", "degree": 3}``.
        Without it a constant and every column itself.
    conditions : what the fitted function must do: ``{"kind": "increasing", "feature": "speed", "at": [3, 5, 8]}``.
    bounds : ``(low, high)`` of the response, public: values are clipped to them. They must not come from the data.
    adjacency : one record replaced, unless stated; then `bounds` are needed.
    release : ``"weights"``, or a list of weighted sums, ``[{"constant": 1, "speed": 7.5}]``.
    ridge : λ ≥ 0.
    strategy : unless stated, ``"linear-term"``: noise on the linear term of the squares, then the fit under its conditions,
        which always hold. ``"projected"`` and ``"output"`` put the noise on the weights, ``"program"`` leaves room for it.
    eta : read by ``"program"`` and by ``compare()``: the largest probability that a condition is broken.
    names : of the regressors, unless `X` has named columns.
    twin : public responses to the same `X`, one for each of its rows, for ``at="twin"``.
    """
    names = column_names(X) if names is None else list(names)
    records = counted(X, y)
    response = str(getattr(y, "name", None) or "response")
    is_whole = isinstance(release, str)
    if strategy is None:
        strategy = "linear-term"
    public = {"regressors.csv": numbers_text(names, rows_of(X)) if names else csv_text(["record"], [[i] for i in range(records)])}
    if twin is not None:
        _require_apart(twin, y)
        public[TWIN] = numbers_text([response], column_of(twin, "twin"))
    return _plan(
        {
            "problem": {
                "model": "regression",
                "regressors": "regressors.csv",
                "response": response,
                "ridge": ridge,
                "units": units,
                "basis": list(basis or [{"kind": "constant"}, {"kind": "linear", "features": names}]),
                "condition": list(conditions) or None,
            },
            "private": {
                "data": "responses.csv",
                "twin": None if twin is None else TWIN,
                "bounds": None if bounds is None else as_pair(bounds, "bounds"),
                "adjacency": adjacency or {"kind": "one-record"},
            },
            "query": {"release": release} if is_whole else {"release": "rows", "rows": list(release)},
            "privacy": _privacy(epsilon, delta),
            "feasibility": {"strategy": strategy, "eta": eta},
        },
        settings,
        public,
        lambda: {"responses.csv": numbers_text([response], column_of(y, "y"))},
    )


def ellipsoid(
    normals,
    offsets,
    *,
    center,
    relative=None,
    half_width=None,
    epsilon,
    delta=None,
    adjacency=None,
    sensitivity=None,
    release="identity",
    eta=0.1,
    strategy="program",
    twin=None,
    settings=None,
) -> ModelPlan:
    """The largest ellipsoid inside {x : normals·x ≤ offsets} with private offsets, kept inside with probability 1 − η.

    No certificate covers it: the sensitivity is sampled on a public box of offsets, and the claim holds for a share of its
    pairs, with a confidence. See docs/ellipsoids.md.

    Parameters
    ----------
    normals : public, a row for each facet; dense or scipy.sparse.
    offsets : private, a number for each facet.
    center, relative, half_width : the public box: around `center`, a share of it to either side, or so far.
    adjacency : any two members of the box, unless stated.
    sensitivity : ``{"by": "sampled", "gamma": 0.1, "beta": 0.1}`` unless stated.
    twin : public offsets, for ``at="twin"``. ``at="nominal"`` takes the `center`.
    """
    normals = rows_of(normals, "normals")
    public = {}
    if twin is not None:
        _require_apart(twin, offsets)
        public[TWIN] = _lines(column_of(twin, "twin"))
    return _plan(
        {
            "problem": {"model": "ellipsoid", "normals": normals},
            "private": {
                "offsets": "offsets.csv",
                "twin": None if twin is None else TWIN,
                "adjacency": adjacency or {"kind": "universe"},
                "universe": {
                    "kind": "box",
                    "center": np.asarray(center, dtype=float),
                    "relative": relative,
                    "half_width": half_width,
                },
            },
            "query": {"release": release},
            "privacy": {
                **_privacy(epsilon, delta),
                "sensitivity": sensitivity or {"by": "sampled", "gamma": 0.1, "beta": 0.1},
            },
            "feasibility": {"strategy": strategy, "eta": eta},
        },
        settings,
        public,
        lambda: {"offsets.csv": _lines(column_of(offsets, "offsets"))},
    )


def portfolio(
    covariance,
    returns,
    *,
    aversion,
    cap=1.0,
    bounds=None,
    adjacency,
    release="weights",
    epsilon,
    delta=None,
    strategy="program",
    eta=0.05,
    labels=False,
    twin=None,
    settings=None,
) -> ModelPlan:
    """A mean-variance portfolio with private forecasts: max μ'w − ½γw'Σw over 0 ≤ w ≤ cap, Σwᵢ ≤ 1.

    Protected are the forecasts `returns`, above the return of cash. The covariance and the limits are public. The
    sensitivity is certified by strong convexity, and the noise shaped by the curvature γΣ.

    Parameters
    ----------
    covariance : public, a row and a column for each asset; a DataFrame names them.
    returns : private, a number for each asset; or a DataFrame with a row for each dataset of a series.
    aversion : γ > 0.
    cap : the largest weight of an asset.
    bounds : public ``(low, high)``: forecasts are clipped to them.
    labels : with True the index of the DataFrame `returns`, such as days, labels the rows. **Labels are public**: they stand
        on the cards.
    twin : public forecasts in the form of `returns`, for ``at="twin"``.
    """
    assets = [name if hasattr(covariance, "columns") else f"asset {i}" for i, name in enumerate(column_names(covariance))]

    row_labels(returns, labels, "returns")
    if labels and LABEL in assets:
        raise InputError(f"an asset is called {LABEL!r}, which is the column of the labels: rename it")

    def text(forecasts, what):
        if hasattr(forecasts, "columns"):
            rows = rows_of(forecasts[list(covariance.columns)], what).tolist()
            return csv_text(*labelled(assets, rows, row_labels(forecasts, labels, what)))
        by_name = isinstance(forecasts, Mapping) or hasattr(forecasts, "index") and hasattr(covariance, "columns")
        values = [forecasts[name] for name in covariance.columns] if by_name else forecasts
        return numbers_text(assets, column_of(values, what).T)

    public = {}
    if twin is not None:
        _require_apart(twin, returns)
        row_labels(twin, labels, "twin")
        public[TWIN] = text(twin, "twin")
    return _plan(
        {
            "problem": {
                "model": "portfolio",
                "covariance": dict(zip(assets, rows_of(covariance, "covariance"))),
                "aversion": aversion,
                "cap": cap,
            },
            "private": {
                "returns": "returns.csv",
                "twin": None if twin is None else TWIN,
                "label": LABEL if labels else None,
                "bounds": None if bounds is None else as_pair(bounds, "bounds"),
                "adjacency": adjacency,
            },
            "query": {"release": release},
            "privacy": _privacy(epsilon, delta),
            "feasibility": {"strategy": strategy, "eta": eta},
        },
        settings,
        public,
        lambda: {"returns.csv": text(returns, "returns")},
    )


def _plan(spec: dict, settings: Mapping | None, public: dict[str, str], private, version: int = 1) -> ModelPlan:
    """The plan of a spec with further settings in it."""
    for table, keys in (settings or {}).items():
        spec[table] = {**spec.get(table, {}), **keys}
    stated = "" if version == 1 else f"version = {version}\n"
    return ModelPlan(stated + _toml.document(spec), public, private)


def _privacy(epsilon, delta) -> dict:
    return {"mechanism": "laplace" if delta is None else "gaussian", "epsilon": epsilon, "delta": delta}


def _two(classes):
    values = list(classes) if not isinstance(classes, str) else []
    if len(values) != 2:
        raise InputError("classes must be the two labels, (negative, positive); they are public and must not be read from the data")
    return values


def _class_word(value):
    """A label as a spec says it: a number, or a word."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


TWIN = "twin-data.csv"
"""What the file of public data is called in a spec."""


def _require_apart(twin, private):
    """Refuses the private data themselves as their own twin: what is explored on a twin is public."""
    if twin is private:
        raise InputError(
            "twin= is the private data themselves, and a twin is public: give older data that are published, or made-up ones"
        )


def _records(records, what):
    """Features and labels."""
    try:
        X, y = records
    except (TypeError, ValueError):
        raise InputError(f"{what} must be a pair (X, y): records and their labels") from None
    return X, y


def _labelled(X, y, header, classes, what) -> str:
    rows = rows_of(X).tolist()
    labels = [_class_word(value) for value in np.asarray(y).tolist()]
    if not set(labels) <= set(classes):
        raise InputError(f"y of {what} has a label that is not one of the two stated classes")
    if len(rows) != len(labels):
        raise InputError(f"{what} has {len(rows)} records and {len(labels)} labels")
    return csv_text(header, [[*row, label] for row, label in zip(rows, labels, strict=True)])


def _lines(column: np.ndarray) -> str:
    return "".join(f"{value!r}\n" for value in column[:, 0].tolist())
