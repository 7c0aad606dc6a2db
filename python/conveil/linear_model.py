"""scikit-learn estimators whose fitted weights are differentially private.

A fit is a release: it charges the ledger, draws noise once and keeps the weights and the public card. The fitted estimator
holds no training record and can be pickled and published, like the card.

There is no ``random_state``: the noise of a release comes from the operating system. Noise that can be repeated from a seed
can be subtracted by whoever guesses the seed.

What is yours to keep private: the training records, of course; scores on private records (``score``, ``cross_val_score``),
messages of exceptions, how long a fit takes, and whatever a preprocessing step learns from the records. In a Pipeline,
a ``StandardScaler`` keeps the means of the training data unprotected: scale by public bounds instead, which these
estimators do.
"""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Mapping

import numpy as np
from scipy.special import expit, log_expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from . import models
from ._errors import InputError
from ._frames import as_pair, per_feature, require_bounds

__all__ = ["BudgetWarning", "PrivateLinearSVC", "PrivateLogisticRegression", "PrivateRegressor"]


class BudgetWarning(UserWarning):
    """Every fit spends privacy budget: so do the fits inside ``cross_val_score`` or a grid search, one for each."""


# Warnings that this process has shown: scikit-learn's parallel runs make Python forget them between fits.
_said: set[str] = set()


class _Box:
    """Public bounds of the features."""

    def __init__(self, pairs):
        self.low, self.high = np.array(pairs, dtype=float).T
        self.half = 0.5 * self.high - 0.5 * self.low
        self.center = self.low + self.half

    def clipped(self, X):
        return np.clip(X, self.low, self.high)

    def scaled(self, X):
        """Clipped, and −1 at the lower bound, 1 at the upper one."""
        return (self.clipped(X) - self.center) / self.half


class _PrivateEstimator(BaseEstimator):
    """What all estimators share: a fit is one release."""

    def _require_stated(self):
        """How private a fit is, and where it is charged, must be said; nothing private is read before."""
        for name, value, most in (("epsilon", self.epsilon, math.inf), ("delta", self.delta, 1.0)):
            is_number = isinstance(value, numbers.Real) and 0 < value < most
            if not (is_number or name == "delta" and value is None):
                raise InputError(f"`{name}` must be a number above 0{' and below 1' if most == 1.0 else ''}, found {value!r}")
        if self.ledger is None and not self.not_recorded:
            raise InputError(
                "every fit spends privacy budget: give `ledger` and `dataset`, or say not_recorded=True to keep no account"
            )
        if self.ledger is not None and self.not_recorded:
            raise InputError("`ledger` and not_recorded=True exclude each other")
        if self.ledger is not None and self.dataset is None:
            raise InputError("`ledger` needs `dataset`, the name of the data in it")

    def _release(self, plan):
        """Charges, draws, and keeps what is public."""
        if self._spends not in _said:
            warnings.warn(f"{type(self).__name__}: {self._spends}", BudgetWarning, stacklevel=3)
            _said.add(self._spends)
        if self.not_recorded:
            released = plan.release(not_recorded=True)
        else:
            released = plan.release(ledger=self.ledger, dataset=self.dataset)
        card = released.card.data
        self.card_ = card
        self.privacy_ = card["privacy"]
        self.protects_ = card["protects"]
        return np.array([number["value"] for number in card["answer"]])

    def _names(self):
        names = getattr(self, "feature_names_in_", None)
        return [f"x{i}" for i in range(self.n_features_in_)] if names is None else [str(name) for name in names]

    def __sklearn_is_fitted__(self):
        return hasattr(self, "card_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.sparse = False
        return tags


class _PrivateClassifier(ClassifierMixin, _PrivateEstimator):
    """A linear classifier of two classes: `_model` makes its plan, and `_sign` stands before the intercept in its score."""

    _spends = "every fit spends ε of the privacy budget of its records, each fold of a cross-validation as well"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags

    def fit(self, X, y):
        """Trains, and releases the weights: charges the ledger once.

        X, y are private. Exceptions may depend on them and are the curator's.
        """
        self._require_stated()
        plan, kept = self._planned(X, y)
        weights = self._release(plan)
        self.classes_, self._box, self.n_records_ = kept
        # Chosen by a rule or from a grid, it stands on the card.
        self.lam_ = _setting(self.card_, "lambda") if self.lam is None else self.lam
        self._weights = weights
        self.coef_ = (weights[:-1] / self._box.half)[None, :]
        self.intercept_ = np.array([self._sign * weights[-1] - float(self.coef_[0] @ self._box.center)])
        return self

    def plan(self, X, y, *, twin=None):
        """The plan of a fit, for the curator: ``check()`` is public, ``solve()`` and ``compare()`` read the records.

        With ``twin``, public records ``(X, y)`` of the same kind, the verbs explore these instead: ``compare(at="twin")``. The
        plan holds the records; the estimator does not, and stays as it is.
        """
        return clone(self)._planned(X, y, twin)[0]

    def _planned(self, X, y, twin=None):
        classes = self._stated_classes()
        require_bounds(self.bounds)
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        self._check_labels(y, classes)
        names = self._names()
        pairs = per_feature(self.bounds, names)
        plan = self._model(
            X,
            y,
            bounds=dict(zip(names, pairs)),
            classes=classes,
            epsilon=self.epsilon,
            delta=self.delta,
            lam=self.lam,
            norm=self.norm,
            names=names,
            twin=twin,
        )
        return plan, (classes, _Box(pairs), len(y))

    def _stated_classes(self):
        """The labels that were stated, in order."""
        if self.classes is None:
            raise InputError("classes must be given: the two public labels; they are never read from y")
        classes = np.unique(np.asarray(self.classes))
        if len(classes) != 2 or len(self.classes) != 2:
            raise InputError(f"classes must be two different labels, found {len(classes)}")
        return classes

    def _check_labels(self, y, classes):
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind not in ("binary", "multiclass"):
            raise InputError(f"Unknown label type: {kind}")
        if kind == "multiclass":
            raise InputError(f"Only binary classification is supported. The type of the target is {kind}.")
        if not np.isin(y, classes).all():
            raise InputError("y has a label that is not one of the stated classes")

    def decision_function(self, X):
        """The score of each row: above 0 for ``classes_[1]``."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return self._box.scaled(X) @ self._weights[:-1] + self._sign * self._weights[-1]

    def predict(self, X):
        """The class of each row."""
        is_positive = self.decision_function(X) > 0
        return self.classes_[is_positive.astype(int)]


class PrivateLinearSVC(_PrivateClassifier):
    """A linear support vector classifier of two classes with differentially private weights.

    Protected is one whole training record: its features and its label. **The number of records is public** (the noise
    follows from it): it stands on the card and in ``n_records_``. Public as well are everything that is passed to the
    constructor, and the names and the number of the features.

    Parameters
    ----------
    epsilon : float
        ε of one fit.
    delta : float, optional
        With it the noise is Gaussian, without it Laplace. Gaussian noise is smaller from about ten features on.
    bounds : (low, high)
        Public bounds of the features, each a number or one for each feature, or a mapping of names to ``(low, high)``.
        Values are clipped to them and scaled to [−1, 1] by them, in ``fit`` and in ``predict``. They must come from what is
        known about the features: there is no default, and they are never read from the data.
    classes : pair
        The two labels. Public, never read from ``y``; another label in ``y`` is an error.
    lam : float, optional
        Weight λ of the regulariser in λ‖(w, b)‖² + (1/N) Σ hinge. Unless given, the λ at which the noise is expected to be
        half as long as a hyperplane of length 1, from N, ε, δ and the number of features alone (:func:`default_lam`). Do not
        choose it by trying values on the private data: no guarantee covers that.
    tune : mapping, optional
        ``{"grid": [1e-3, 1e-2, 1e-1], "share": 0.2}``: each fit chooses λ from this public grid by a private selection, which
        takes this share of ε. ``lam`` is then None. The card states which λ was chosen (``lam_``).
    norm : float, optional
        R, a public bound on the norm of a record ``(x, 1)`` after its features are scaled to [−1, 1]. Longer records are scaled
        to it one by one in ``fit``, and the noise is for R in the place of √(d + 1). It must not come from the data.
    strategy : "output" or "program"
        Noise on the trained weights, or weights trained for the noise that they get. With the λ above neither is better
        throughout (docs/estimators.md); ``plan(X, y).compare()`` shows both to the curator.
    eta : float
        Read by "program", and by ``plan(X, y).compare()``: the probability with which the loss of a record may be larger than
        planned.
    ledger, dataset : str, optional
        The ledger that every fit charges, and the name of the data in it. A budget is for one number of records.
    not_recorded : bool
        Without a ledger this must be said: nothing keeps count of what was released.

    Attributes
    ----------
    coef_, intercept_ : the released hyperplane in the units of the features, for features within their bounds.
    classes_ : the two labels, in order.
    card_ : the public card of the release, as a dict; ``privacy_`` and ``protects_`` are sentences of it.
    n_records_ : the number of training records, which is public.
    lam_ : λ: the given one, that of the rule, or the one that was chosen from the grid of ``tune``.

    Notes
    -----
    No ``random_state``: see the module. No ``sample_weight``: a weight would be private data that the certificate does not
    cover. What the curator wants to know (how many values were clipped, what the noise costs) is not kept by ``fit``: ask
    for it by ``plan(X, y).solve()``.

    Examples
    --------
    >>> from conveil.linear_model import PrivateLinearSVC
    >>> X = [[20.0, 1.0], [90.0, 6.0]] * 4000
    >>> svc = PrivateLinearSVC(epsilon=1.0, lam=0.1, bounds=([0, 0], [120, 12]), classes=("ok", "fail"), not_recorded=True)
    >>> svc = svc.fit(X, ["ok", "fail"] * 4000)
    >>> svc.predict([[25.0, 1.5]]).tolist()
    ['ok']
    >>> svc.n_records_
    8000
    """

    _sign = -1.0

    def __init__(
        self,
        *,
        epsilon=1.0,
        delta=None,
        bounds=None,
        classes=None,
        lam=None,
        tune=None,
        norm=None,
        strategy="output",
        eta=0.05,
        ledger=None,
        dataset=None,
        not_recorded=False,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.classes = classes
        self.lam = lam
        self.tune = tune
        self.norm = norm
        self.strategy = strategy
        self.eta = eta
        self.ledger = ledger
        self.dataset = dataset
        self.not_recorded = not_recorded

    def _planned(self, X, y, twin=None):
        if self.tune is not None and self.lam is not None:
            raise InputError("tune= chooses λ from its grid: give lam=None beside it")
        return super()._planned(X, y, twin)

    def _model(self, X, y, **asked):
        return models.svm(X, y, tune=self.tune, strategy=self.strategy, eta=self.eta, **asked)


class PrivateLogisticRegression(_PrivateClassifier):
    """A logistic regression of two classes with differentially private weights.

    Protected is one whole training record: its features and its label. **The number of records is public** (the noise
    follows from it): it stands on the card and in ``n_records_``. Public as well are everything that is passed to the
    constructor, and the names and the number of the features.

    Parameters
    ----------
    epsilon : float
        ε of one fit.
    delta : float, optional
        With it the noise is Gaussian, without it Laplace. Gaussian noise is smaller from about ten features on.
    bounds : (low, high)
        Public bounds of the features, each a number or one for each feature, or a mapping of names to ``(low, high)``.
        Values are clipped to them and scaled to [−1, 1] by them, in ``fit`` and in ``predict``. They must come from what is
        known about the features: there is no default, and they are never read from the data.
    classes : pair
        The two labels. Public, never read from ``y``; another label in ``y`` is an error.
    lam : float, optional
        Weight λ of the regulariser in λ‖(w, b)‖² + (1/N) Σ log(1 + exp(−y(w'x + b))). Unless given, by the rule of
        :class:`PrivateLinearSVC` (:func:`default_lam`). Do not choose it by trying values on the private data: no guarantee
        covers that.
    norm : float, optional
        R, a public bound on the norm of a record ``(x, 1)`` after its features are scaled to [−1, 1]: in ``fit`` longer records are
        scaled to it one by one, and the noise is for R in the place of √(n + 1). It must not come from the data.
    ledger, dataset : str, optional
        The ledger that every fit charges, and the name of the data in it. A budget is for one number of records.
    not_recorded : bool
        Without a ledger this must be said: nothing keeps count of what was released.

    Attributes
    ----------
    coef_, intercept_ : the released weights in the units of the features, for features within their bounds.
    classes_ : the two labels, in order.
    card_ : the public card of the release, as a dict; ``privacy_`` and ``protects_`` are sentences of it.
    n_records_ : the number of training records, which is public.
    lam_ : λ.

    Notes
    -----
    The noise is on the trained weights: training for the noise is not proven for this loss. A regulariser as strong as privacy
    needs draws probabilities toward one half, and noise moves them: ``predict_proba`` says what the released weights say, and
    is not calibrated.

    No ``random_state``: see the module. No ``sample_weight``: a weight would be private data that the certificate does not
    cover. What the curator wants to know is not kept by ``fit``: ask for it by ``plan(X, y).solve()``.

    Examples
    --------
    >>> from conveil.linear_model import PrivateLogisticRegression
    >>> X = [[20.0, 1.0], [90.0, 6.0]] * 4000
    >>> model = PrivateLogisticRegression(epsilon=1.0, lam=0.01, bounds=([0, 0], [120, 12]), classes=("ok", "fail"),
    ...                                   not_recorded=True)
    >>> model = model.fit(X, ["ok", "fail"] * 4000)
    >>> model.predict([[25.0, 1.5]]).tolist()
    ['ok']
    >>> bool(model.predict_proba([[90.0, 6.0]])[0, 0] > 0.5), model.classes_.tolist()
    (True, ['fail', 'ok'])
    """

    _sign = 1.0

    def __init__(
        self,
        *,
        epsilon=1.0,
        delta=None,
        bounds=None,
        classes=None,
        lam=None,
        norm=None,
        ledger=None,
        dataset=None,
        not_recorded=False,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.classes = classes
        self.lam = lam
        self.norm = norm
        self.ledger = ledger
        self.dataset = dataset
        self.not_recorded = not_recorded

    def _model(self, X, y, **asked):
        return models.logistic(X, y, **asked)

    def predict_proba(self, X):
        """The probability of each class, in the order of ``classes_``."""
        score = self.decision_function(X)
        # Both by themselves, so that small ones keep their digits.
        return np.c_[expit(-score), expit(score)]

    def predict_log_proba(self, X):
        """The logarithm of the probability of each class."""
        score = self.decision_function(X)
        return np.c_[log_expit(-score), log_expit(score)]


def _setting(card, name):
    """What a rule or a private choice has set, as the card states it."""
    (value,) = (setting["value"] for setting in card["settings"] if setting["name"] == name)
    return value


def default_lam(records: int, features: int, epsilon: float, delta: float | None = None) -> float:
    """λ from public numbers alone: the noise is then expected to be about half as long as a hyperplane of length 1.

    The rule is the engine's, for specs of version 2 (docs/defaults.md); this is the same formula, to see it without a plan. That
    length is a rule of thumb, tuned on the public datasets of docs/estimators.md.

    With p = features + 1 the weights move by at most √p/(λN) in the Euclidean norm when one of N records is replaced, and by
    √p times that in the sum norm. So the expected length of the noise is about √(2p)·p/(λNε) for Laplace noise, and three
    quarters of p·√(2 ln(1.25/δ))/(λNε) for Gaussian noise, which is calibrated more closely than by that formula.

    >>> round(default_lam(10_000, 4, 1.0), 5)
    0.00316
    """
    p = features + 1
    spread = math.sqrt(2 * p) if delta is None else 0.75 * math.sqrt(2 * math.log(1.25 / delta))
    return 2 * p * spread / (records * epsilon)


class PrivateRegressor(RegressorMixin, _PrivateEstimator):
    """A linear or polynomial regression with differentially private weights, monotone or convex where stated.

    Protected is the **response y of one record, and nothing else**: the features ``X`` and the number of records are public.
    Where the features are private too, this estimator does not fit.

    The fitted function is a constant plus, for each feature, a polynomial of ``degree`` in the feature scaled to [−1, 1] by
    its bounds: min ½‖y − Φw‖² + ½·ridge·‖w‖² subject to the conditions.

    Parameters
    ----------
    epsilon : float
        ε of one fit.
    delta : float, optional
        With it the noise is Gaussian, without it Laplace.
    bounds : (low, high)
        Public bounds of the features, each a number or one for each feature, or a mapping of names to ``(low, high)``. Values
        are clipped to them in ``fit`` and in ``predict``: beyond them the function is constant.
    response_bounds : (low, high)
        Public bounds of the response; values are clipped to them. A replaced response may move anywhere between them.
        Both bounds must come from what is known about the quantities: there is no default, and they are never read from
        the data.
    degree : int
        Of the polynomial in each feature, 1 to 32.
    conditions : mapping, optional
        Features, by name or by position, to "increasing", "decreasing", "convex" or "concave", or a list of them. Slopes
        of a degree up to 2 and curvatures of a degree up to 3 then have the right sign everywhere between the bounds; at
        higher degrees they have it at `points` points.
    points : int
        Points of a condition, evenly apart between the bounds, both among them.
    ridge : float
        The ridge. Each feature is scaled, so that 1 weighs as much as one record.
    strategy : "linear-term", "projected", "output" or "program", optional
        "linear-term": noise on the linear term of the squares, then the fit under its conditions, which always hold.
        "projected" puts the noise on the fitted weights and projects them onto the conditions, "output" leaves it there.
        "program" leaves room for the noise, so that conditions hold with probability 1 − eta.
    eta : float
        Read by "program", and by ``plan(X, y).compare()``.
    ledger, dataset : str, optional
        The ledger that every fit charges, and the name of the data in it. A budget is for one number of records.
    not_recorded : bool
        Without a ledger this must be said: nothing keeps count of what was released.

    Attributes
    ----------
    weights_ : the released weights: that of the constant, then those of each feature by degree, on scaled features.
    coef_, intercept_ : with degree 1, the same in the units of the features.
    card_ : the public card of the release, as a dict; ``privacy_`` and ``protects_`` are sentences of it.
    n_records_ : the number of training records, which is public.

    Notes
    -----
    No ``random_state``: see the module. No ``sample_weight``. What the curator wants to know is not kept by ``fit``: ask for
    it by ``plan(X, y).solve()``.

    Examples
    --------
    >>> from conveil.linear_model import PrivateRegressor
    >>> X = [[i / 100] for i in range(1000)]
    >>> model = PrivateRegressor(epsilon=1.0, bounds=(0, 10), response_bounds=(0, 30), conditions={0: "increasing"},
    ...                          not_recorded=True)
    >>> model = model.fit(X, [3 * x for x, in X])
    >>> bool(model.predict([[8.0]])[0] >= model.predict([[2.0]])[0])
    True
    >>> model.protects_
    'the response of one record (response), whatever it is within its public bounds; the regressors and the number of records are public and not protected'
    """

    _spends = (
        "every fit spends ε of the privacy budget of its responses, each fold of a cross-validation as well; "
        "protected are the responses y alone, the features X are public"
    )

    def __init__(
        self,
        *,
        epsilon=1.0,
        delta=None,
        bounds=None,
        response_bounds=None,
        degree=1,
        conditions=None,
        points=9,
        ridge=1.0,
        strategy=None,
        eta=0.05,
        ledger=None,
        dataset=None,
        not_recorded=False,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.response_bounds = response_bounds
        self.degree = degree
        self.conditions = conditions
        self.points = points
        self.ridge = ridge
        self.strategy = strategy
        self.eta = eta
        self.ledger = ledger
        self.dataset = dataset
        self.not_recorded = not_recorded

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    def fit(self, X, y):
        """Fits, and releases the weights: charges the ledger once.

        y is private, X is public. Exceptions may depend on y and are the curator's.
        """
        self._require_stated()
        plan, kept = self._planned(X, y)
        self.weights_ = self._release(plan)
        self._box, self.n_records_ = kept
        if self.degree == 1:
            self.coef_ = self.weights_[1:] / self._box.half
            self.intercept_ = float(self.weights_[0] - self.coef_ @ self._box.center)
        return self

    def plan(self, X, y, *, twin=None):
        """The plan of a fit, for the curator: ``check()`` is public, ``solve()`` and ``compare()`` read the responses.

        With ``twin``, public responses to the same ``X``, the verbs explore these instead: ``compare(at="twin")``. The plan
        holds the responses; the estimator does not, and stays as it is.
        """
        return clone(self)._planned(X, y, twin)[0]

    def _planned(self, X, y, twin=None):
        require_bounds(self.bounds)
        if self.response_bounds is None:
            raise InputError("response_bounds must be given: the public (low, high) of the response, never read from the data")
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        if not (isinstance(self.degree, numbers.Integral) and 1 <= self.degree <= 32):
            raise InputError(f"degree is a whole number from 1 to 32; found {self.degree!r}")
        names = self._names()
        box = _Box(per_feature(self.bounds, names))
        conditions = self._conditions(names, box)
        strategy = self.strategy or "linear-term"
        if conditions and strategy == "output":
            raise InputError(
                'strategy="output" puts noise on the weights alone and keeps no condition: take "linear-term", "projected" or "program", or '
                "leave the conditions out"
            )
        plan = models.regression(
            box.clipped(X),
            y,
            basis=self._basis(names, box),
            conditions=conditions,
            bounds=as_pair(self.response_bounds, "response_bounds"),
            epsilon=self.epsilon,
            delta=self.delta,
            ridge=self.ridge,
            strategy=strategy,
            eta=self.eta,
            names=names,
            twin=twin,
        )
        return plan, (box, len(y))

    def _basis(self, names, box):
        """((x − center)/half)^k for each feature and k, after the constant."""
        scaled = zip(names, box.center.tolist(), box.half.tolist())
        powers = [
            {"kind": "power", "feature": name, "degree": k, "center": center, "scale": half**-k}
            for name, center, half in scaled
            for k in range(1, self.degree + 1)
        ]
        return [{"kind": "constant"}, *powers]

    def _conditions(self, names, box):
        if self.conditions is not None and not isinstance(self.conditions, Mapping):
            raise InputError("conditions must map features, by name or position, to what the function does along them")
        found = []
        for feature, words in (self.conditions or {}).items():
            j = names.index(feature) if feature in names else feature
            if isinstance(j, bool) or not isinstance(j, (int, np.integer)) or not 0 <= j < len(names):
                raise InputError(f"conditions name a feature {feature!r} that there is not")
            for word in [words] if isinstance(words, str) else words:
                # The derivative in question is a polynomial of this degree: the two ends decide the sign of a line.
                left = self.degree - (1 if word in ("increasing", "decreasing") else 2)
                if left < 0:
                    raise InputError(f"{word!r} says nothing about a polynomial of degree {self.degree}")
                if left == 0:
                    at = box.center[j : j + 1]
                else:
                    at = np.linspace(box.low[j], box.high[j], 2 if left == 1 else self.points)
                found.append({"kind": word, "feature": names[j], "at": at.tolist()})
        return found

    def predict(self, X):
        """The fitted function at each row, features clipped to their bounds."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        powers = self._box.scaled(X)[:, :, None] ** np.arange(1, self.degree + 1)
        return self.weights_[0] + powers.reshape(len(X), -1) @ self.weights_[1:]
