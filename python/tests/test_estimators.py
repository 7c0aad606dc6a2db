"""The scikit-learn estimators: what they protect, what they refuse, what they keep."""

import gc
import inspect
import pickle
import struct
import warnings
from unittest import mock

import numpy as np
import pytest

pytest.importorskip("sklearn")

import conveil
from conveil import InputError, OverBudget, linear_model
from conveil.linear_model import BudgetWarning, PrivateLinearSVC, PrivateLogisticRegression, PrivateRegressor, default_lam
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

pytestmark = pytest.mark.filterwarnings("ignore::conveil.linear_model.BudgetWarning")

RNG = np.random.default_rng(7)
SVC = dict(bounds=([0, 0], [120, 12]), classes=("ok", "fail"), not_recorded=True)
CLASSIFIERS = pytest.mark.parametrize("Classifier", [PrivateLinearSVC, PrivateLogisticRegression])
REGRESSOR = dict(bounds=(0, 10), response_bounds=(0, 30), not_recorded=True)


def machines(records=600):
    failed = RNG.random(records) < 0.4
    temperature = np.where(failed, 85.0, 60.0) + RNG.normal(0, 10, records)
    vibration = np.where(failed, 6.0, 3.0) + RNG.normal(0, 1.5, records)
    return np.c_[temperature, vibration], np.where(failed, "fail", "ok")


def curve(records=400):
    x = RNG.uniform(0, 10, records)
    return x[:, None], np.clip(30 - 0.3 * (x - 10) ** 2 + RNG.normal(0, 1, records), 0, 30)


class Untouchable:
    """Data that fail as soon as anything is read of them."""

    def __getattr__(self, name):
        raise AssertionError(f"`{name}` of the private data was read")

    def __array__(self, *_, **__):
        raise AssertionError("the private data were read")

    def __len__(self):
        raise AssertionError("the private data were counted")


# What scikit-learn checks. Two fits draw different noise, and labels are stated.

TWO_FITS = "compares two fits, whose noise differs"
OTHER_LABELS = "trains on other labels than the stated classes"


def results(estimator, expected):
    checks = check_estimator(estimator, expected_failed_checks=expected, on_fail=None, on_skip=None)
    failed = {check["check_name"]: check["exception"] for check in checks if check["status"] == "failed"}
    xfailed = {check["check_name"] for check in checks if check["status"] == "xfail"}
    assert len(checks) > 40
    return failed, xfailed


def test_check_estimator_of_the_regressor():
    expected = {
        "check_regressor_data_not_an_array": TWO_FITS,
        "check_supervised_y_2d": TWO_FITS,
        "check_regressors_int": TWO_FITS,
        "check_fit_idempotent": TWO_FITS,
    }
    wide = dict(bounds=(-100, 100), response_bounds=(-1000, 1000), not_recorded=True)
    failed, xfailed = results(PrivateRegressor(**wide), expected)
    assert failed == {} and xfailed == set(expected)
    failed, xfailed = results(PrivateRegressor(epsilon=1e13, **wide), {})
    assert failed == {}, "with noise too small to see, no check fails"


@CLASSIFIERS
def test_check_estimator_of_the_classifier_with_its_stated_classes(Classifier):
    expected = {
        "check_estimators_dtypes": OTHER_LABELS,
        "check_classifier_data_not_an_array": OTHER_LABELS,
        "check_classifiers_classes": OTHER_LABELS,
        "check_fit2d_1feature": OTHER_LABELS,
    }
    stated = dict(bounds=(-100, 100), classes=(0, 1), not_recorded=True)
    failed, xfailed = results(Classifier(epsilon=1e13, lam=0.01, **stated), expected)
    assert failed == {} and xfailed == set(expected)
    # Under noise that can be seen, a small sample of one class may be told to be of the other.
    expected |= {"check_fit_idempotent": TWO_FITS, "check_supervised_y_2d": TWO_FITS, "check_classifiers_one_label": "guesses"}
    assert results(Classifier(**stated), expected)[0] == {}


class StatesWhatItSees:
    """For the checks alone, which train on many kinds of labels: the labels of y are stated. Not private."""

    def fit(self, X, y):
        found = np.unique(np.asarray(y))
        if len(found) == 1 and found.dtype.kind in "if":
            found = np.append(found, found[-1] + 1)
        with mock.patch.object(linear_model._PrivateClassifier, "_stated_classes", lambda self: found[:2]):
            return super().fit(X, y)


class SeeingSVC(StatesWhatItSees, PrivateLinearSVC):
    pass


class SeeingLogisticRegression(StatesWhatItSees, PrivateLogisticRegression):
    pass


@pytest.mark.parametrize("Classifier", [SeeingSVC, SeeingLogisticRegression])
def test_check_estimator_of_the_classifier_on_any_labels_and_without_visible_noise(Classifier):
    estimator = Classifier(bounds=(-100, 100), classes=(0, 1), not_recorded=True, epsilon=1e13, lam=0.01)
    assert results(estimator, {})[0] == {}


# What is never read from the data.


@pytest.mark.parametrize(
    ("estimator", "missing"),
    [
        (PrivateLinearSVC(classes=(0, 1), not_recorded=True), "bounds must be given"),
        (PrivateLinearSVC(bounds=(0, 1), not_recorded=True), "classes must be given"),
        (PrivateLinearSVC(bounds=(0, 1), classes=(0, 1)), "not_recorded=True"),
        (PrivateLinearSVC(bounds=(0, 1), classes=(0, 1), ledger="a.sqlite"), "needs `dataset`"),
        (PrivateLinearSVC(bounds=(0, 1), classes=(0, 1), ledger="a", dataset="d", not_recorded=True), "exclude each other"),
        (PrivateLinearSVC(bounds=(0, 1), classes=(0, 1), not_recorded=True, epsilon=0), "`epsilon` must be"),
        (PrivateLinearSVC(bounds=(0, 1), classes=(0, 1), not_recorded=True, delta=0.0), "`delta` must be"),
        (PrivateLogisticRegression(classes=(0, 1), not_recorded=True), "bounds must be given"),
        (PrivateLogisticRegression(bounds=(0, 1), not_recorded=True), "classes must be given"),
        (PrivateLogisticRegression(bounds=(0, 1), classes=(0, 1)), "not_recorded=True"),
        (PrivateRegressor(response_bounds=(0, 1), not_recorded=True), "bounds must be given"),
        (PrivateRegressor(bounds=(0, 1), not_recorded=True), "response_bounds must be given"),
        (PrivateRegressor(bounds=(0, 1), response_bounds=(0, 1)), "not_recorded=True"),
    ],
)
def test_what_is_missing_is_an_error_before_any_data_are_read(estimator, missing):
    with pytest.raises(InputError, match=missing):
        estimator.fit(Untouchable(), Untouchable())


@CLASSIFIERS
def test_the_plan_and_the_card_are_the_same_for_all_records(Classifier):
    (X, y), (other, others) = machines(), machines()
    other[0] = [1e9, -1e9]
    svc = Classifier(**SVC)
    assert svc.plan(X, y).spec == svc.plan(other, others).spec
    assert svc.plan(X, y).check().data == svc.plan(other, others).check().data
    cards = [clone(svc).fit(*data).card_ for data in ((X, y), (other, others))]
    answers = [card.pop("answer") for card in cards]
    assert cards[0] == cards[1] and answers[0] != answers[1]


def test_the_plan_and_the_card_of_a_regressor_are_the_same_for_all_responses():
    X, y = curve()
    other = np.full_like(y, 1e9)
    regressor = PrivateRegressor(degree=2, conditions={0: "increasing"}, **REGRESSOR)
    assert regressor.plan(X, y).check().data == regressor.plan(X, other).check().data
    cards = [clone(regressor).fit(X, data).card_ for data in (y, other)]
    for card in cards:
        del card["answer"], card["before_projection"]
    assert cards[0] == cards[1]


def test_labels_that_were_not_stated_are_an_error_that_does_not_repeat_them():
    X, y = machines(20)
    y = np.where(y == "ok", "ok", "secret")
    with pytest.raises(InputError, match="not one of the stated classes") as error:
        PrivateLinearSVC(**SVC).fit(X, y)
    assert "secret" not in str(error.value)


def test_one_class_alone_in_the_data_is_no_error():
    X, _ = machines(50)
    assert set(PrivateLinearSVC(**SVC).fit(X, ["ok"] * 50).classes_) == {"ok", "fail"}


def test_there_is_no_random_state_and_no_sample_weight():
    for estimator in (PrivateLinearSVC, PrivateLogisticRegression, PrivateRegressor):
        assert "random_state" not in inspect.signature(estimator).parameters
        assert list(inspect.signature(estimator.fit).parameters) == ["self", "X", "y"]


# The mechanism.


@CLASSIFIERS
@pytest.mark.parametrize("norm", [None, 1.2])
def test_one_replaced_record_moves_the_weights_by_no_more_than_the_card_says(Classifier, norm):
    X, y = machines(60)
    svc = Classifier(lam=0.01, norm=norm, **SVC)
    plan = svc.plan(X, y)
    sensitivity = plan.guarantee.sensitivity
    before, largest = plan.solve().answer.to_numpy(), 0.0
    for features, label in (([0, 0], "fail"), ([120, 12], "ok"), ([1e9, -1e9], "ok")):
        other, labels = X.copy(), y.copy()
        other[0], labels[0] = features, label
        moved = np.abs(svc.plan(other, labels).solve().answer.to_numpy() - before).sum()
        largest = max(largest, moved)
    assert 0 < largest <= sensitivity


def test_the_released_weights_have_the_noise_of_the_card():
    from scipy.stats import kstest

    X, y = machines(80)
    plan = PrivateLinearSVC(lam=0.1, **SVC).plan(X, y)
    mean, scale = plan.solve().answer.to_numpy(), plan.guarantee.scale
    noise = np.array([plan.release(not_recorded=True).answer.to_numpy() - mean for _ in range(120)])
    assert kstest(noise.ravel() / scale, "laplace").pvalue > 1e-6


def test_the_default_lam_makes_the_noise_half_as_long_as_a_unit_hyperplane():
    X, y = machines(500)
    for delta, spread in ((None, np.sqrt(2)), (1e-5, 1.0)):
        card = PrivateLinearSVC(delta=delta, **SVC).fit(X, y).card_
        length = card["scale"] * spread * np.sqrt(3)
        assert 0.45 < length < 0.55
    assert default_lam(2000, 2, 1.0) == default_lam(1000, 2, 2.0)


@CLASSIFIERS
def test_the_default_lam_is_the_rule_of_the_engine(Classifier):
    X, y = machines(300)
    for delta in (None, 1e-5):
        fitted = Classifier(delta=delta, **SVC).fit(X, y)
        (setting,) = fitted.card_["settings"]
        assert fitted.lam_ == setting["value"] == pytest.approx(default_lam(len(y), 2, 1.0, delta), rel=1e-12)
        assert f"by the rule for {len(y)} records, 2 features" in setting["text"]
    # A stated λ is nobody's rule.
    fitted = Classifier(lam=0.1, **SVC).fit(X, y)
    assert fitted.lam_ == 0.1 and "settings" not in fitted.card_


TUNE = {"grid": [0.02, 0.1, 0.5], "share": 0.25}


def test_a_fit_chooses_lam_privately_from_its_grid(tmp_path):
    X, y = machines(600)
    account = dict(ledger=str(tmp_path / "budget.sqlite"), dataset="machines", not_recorded=False)
    svc = PrivateLinearSVC(epsilon=2.0, tune=TUNE, **{**SVC, **account})
    check = svc.plan(X, y).check()
    assert not check.private and check["tuning"]["choice_epsilon"] == 0.5 and check["tuning"]["noise_epsilon"] == 1.5
    svc.plan(X, y).create_budget(account["ledger"], "machines", epsilon=3.0)
    svc.fit(X, y)
    (setting,) = svc.card_["settings"]
    assert svc.lam_ == setting["value"] and svc.lam_ in TUNE["grid"] and "privately" in setting["text"]
    # The choice is part of the one charge.
    (spent,) = conveil.Ledger(account["ledger"]).to_frame()["epsilon"]
    assert spent == 2.0 and "ε = 2" in svc.privacy_
    assert svc.predict(X).shape == y.shape and svc.coef_.shape == (1, 2)
    with pytest.raises(OverBudget):
        svc.fit(X, y)
    # Training for the noise has a grid as well.
    assert PrivateLinearSVC(tune=TUNE, strategy="program", **SVC).fit(X, y).lam_ in TUNE["grid"]


def test_a_grid_of_lam_is_a_parameter_like_others():
    svc = PrivateLinearSVC(tune=TUNE, norm=1.5, **SVC)
    assert clone(svc).get_params() == svc.get_params() and svc.get_params()["tune"] == TUNE
    X, y = machines(200)
    again = clone(svc).set_params(tune=None).fit(X, y)
    assert again.lam_ == again.card_["settings"][0]["value"] and "norm 1.5" in again.card_["settings"][0]["text"]
    assert pickle.loads(pickle.dumps(clone(svc).fit(X, y))).lam_ in TUNE["grid"]


def test_a_norm_lowers_the_noise_of_a_fit_in_proportion():
    X, y = machines(400)
    wide, narrow = (PrivateLinearSVC(lam=0.1, norm=norm, **SVC).fit(X, y).card_["scale"] for norm in (None, 1.2))
    assert narrow / wide == pytest.approx(1.2 / np.sqrt(3), rel=0.01)


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"tune": TUNE, "lam": 0.1}, "lam=None"),
        ({"tune": {"grid": [0.1, 0.2]}}, "share"),
        ({"tune": {"grid": [0.1], "share": 0.2}}, "grid"),
        ({"tune": {"grid": [0.1, -1.0], "share": 0.2}}, "grid"),
        ({"tune": "auto"}, "tune"),
        ({"norm": -1.0}, "norm"),
        ({"norm": 100.0}, "norm"),
    ],
)
def test_a_grid_or_a_norm_that_makes_no_sense_is_refused(wrong, said):
    X, y = machines(50)
    with pytest.raises(InputError, match=said):
        PrivateLinearSVC(**SVC, **wrong).fit(X, y)


def test_a_choice_of_lam_reads_nothing_before_its_parameters_are_in_order():
    with pytest.raises(InputError, match="lam=None"):
        PrivateLinearSVC(tune=TUNE, lam=0.1, **SVC).fit(Untouchable(), Untouchable())


def test_the_plan_of_a_fit_explores_a_public_twin():
    (X, y), twin = machines(300), machines(120)
    plan = PrivateLinearSVC(**SVC).plan(X, y, twin=twin)
    assert "twin" in str(plan.check())
    compared = plan.compare(at="twin", draws=50)
    assert not compared.private and "PUBLIC" in compared.text
    other = PrivateLinearSVC(**SVC).plan(X[::-1], y[::-1], twin=twin)
    assert other.compare(at="twin", draws=50).data == compared.data
    (x, z), made_up = curve(100), np.linspace(0, 30, 100)
    plan = PrivateRegressor(**REGRESSOR).plan(x, z, twin=made_up)
    assert not plan.solve(at="twin").private


def test_conditions_of_noisy_weights_always_hold():
    X, y = curve(40)
    grid = np.linspace(-5, 15, 101)[:, None]
    for degree, words in ((1, "increasing"), (2, ["increasing", "concave"]), (3, "concave")):
        regressor = PrivateRegressor(degree=degree, conditions={0: words}, epsilon=0.1, **REGRESSOR)
        for _ in range(10):
            fitted = regressor.fit(X, y).predict(grid)
            tolerance = 1e-5 * np.abs(fitted).max() + 1e-6
            if "increasing" in words:
                assert (np.diff(fitted) >= -tolerance).all()
            if "concave" in words:
                inside = fitted[(grid[:, 0] >= 0) & (grid[:, 0] <= 10)]
                assert (np.diff(inside, 2) <= tolerance).all()


def test_conditions_that_make_no_sense_are_refused():
    X, y = curve(20)
    for conditions, why in (({3: "increasing"}, "that there is not"), ({0: "convex"}, "says nothing"), ([0], "must map")):
        with pytest.raises(InputError, match=why):
            PrivateRegressor(conditions=conditions, **REGRESSOR).fit(X, y)


def test_settings_that_keep_no_condition_or_no_degree_are_refused():
    X, y = np.linspace(0, 1, 20)[:, None], np.linspace(0, 1, 20)
    with pytest.raises(InputError, match="keeps no condition"):
        PrivateRegressor(conditions={0: "increasing"}, strategy="output", **REGRESSOR).fit(X, y)
    for degree in (0, 1.5, 33, "two"):
        with pytest.raises(InputError, match="whole number from 1 to 32"):
            PrivateRegressor(degree=degree, **REGRESSOR).fit(X, y)


@CLASSIFIERS
def test_weights_in_own_units_and_features_clipped_to_their_bounds(Classifier):
    X, y = machines()
    svc = Classifier(**SVC).fit(X, y)
    inside = np.clip(X, 0, [120, 12])
    assert np.allclose(inside @ svc.coef_[0] + svc.intercept_, svc.decision_function(X))
    assert np.allclose(inside @ svc.coef_[0] + svc.intercept_[0], svc.decision_function(X))
    assert np.allclose(svc.decision_function([[1e9, -1e9]]), svc.decision_function([[120, 0]]))
    x, z = curve()
    regressor = PrivateRegressor(**REGRESSOR).fit(x, z)
    assert np.allclose(x @ regressor.coef_ + regressor.intercept_, regressor.predict(x))


def test_good_weights_where_there_are_many_records():
    X, y = machines(4000)
    for strategy in ("output", "program"):
        assert PrivateLinearSVC(epsilon=10.0, lam=0.01, strategy=strategy, **SVC).fit(X, y).score(X, y) > 0.85
    x, z = curve(4000)
    assert PrivateRegressor(epsilon=1.0, degree=2, **REGRESSOR).fit(x, z).score(x, z) > 0.9


def test_probabilities_are_those_of_the_score():
    X, y = machines(4000)
    model = PrivateLogisticRegression(epsilon=10.0, lam=0.003, **SVC).fit(X, y)
    assert model.score(X, y) > 0.85
    probability, score = model.predict_proba(X), model.decision_function(X)
    assert np.allclose(probability.sum(axis=1), 1) and np.allclose(probability[:, 1], 1 / (1 + np.exp(-score)))
    assert (model.classes_[probability.argmax(axis=1)] == model.predict(X)).all()
    assert np.allclose(np.exp(model.predict_log_proba(X)), probability)
    # What is said of a class is right on average, where there is next to no noise.
    failed = model.classes_.tolist().index("fail")
    assert abs(probability[:, failed].mean() - (y == "fail").mean()) < 0.05


# What the fitted estimator holds.


def reachable(thing):
    """Everything that can be reached from an object, short of modules and classes."""
    seen, queue = {}, [thing]
    while queue:
        found = queue.pop()
        if id(found) in seen or inspect.ismodule(found) or inspect.isclass(found) or inspect.isroutine(found):
            continue
        seen[id(found)] = found
        queue += gc.get_referents(found)
    return seen.values()


@pytest.mark.parametrize("kind", [PrivateLinearSVC, PrivateLogisticRegression, PrivateRegressor])
def test_no_training_record_is_reachable_from_a_fitted_estimator_or_its_pickle(kind):
    if kind is not PrivateRegressor:
        X, y = machines(300)
        fitted, private = kind(**SVC).fit(X, y), X.ravel()
    else:
        X, y = curve(300)
        fitted, private = PrivateRegressor(degree=2, conditions={0: "increasing"}, **REGRESSOR).fit(X, y), y
    pickled = pickle.dumps(fitted)
    for number in private.tolist():
        if number in (0.0, 30.0):  # a response at one of its public bounds
            continue
        for text in (struct.pack("<d", number), struct.pack(">d", number), repr(number).encode()):
            assert text not in pickled
    for thing in reachable(fitted):
        assert not (isinstance(thing, np.ndarray) and thing.size >= 100)
        assert not (isinstance(thing, float) and thing not in (0.0, 30.0) and thing in set(private.tolist()))
    again = pickle.loads(pickled)
    assert (again.predict(X) == fitted.predict(X)).all() and again.card_ == fitted.card_


def test_what_is_public_is_said():
    X, y = machines(100)
    svc = PrivateLinearSVC(**SVC).fit(X, y)
    assert svc.n_records_ == 100 and "the number of records" in svc.protects_
    x, z = curve(100)
    regressor = PrivateRegressor(**REGRESSOR).fit(x, z)
    assert regressor.n_records_ == 100 and "the regressors and the number of records are public" in regressor.protects_
    assert "ε = 1" in regressor.privacy_


def test_planning_leaves_the_estimator_as_it_is():
    X, y = machines(50)
    svc = PrivateLinearSVC(**SVC)
    svc.plan(X, y).solve()
    assert set(vars(svc)) == set(svc.get_params())


# In scikit-learn's machinery.


def test_every_fit_spends_budget_and_says_so_once():
    X, y = machines(100)
    linear_model._said.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        cross_val_score(PrivateLinearSVC(**SVC), X, y, cv=4)
    said = [str(w.message) for w in caught if issubclass(w.category, BudgetWarning)]
    assert len(said) == 1 and "each fold of a cross-validation" in said[0]


def test_in_a_pipeline_and_a_cross_validation():
    X, y = machines(1200)
    pipeline = make_pipeline(FunctionTransformer(np.negative), PrivateLinearSVC(epsilon=10.0, lam=0.01, **{**SVC, "bounds": ([-120, -12], [0, 0])}))
    scores = cross_val_score(pipeline, X, y, cv=3)
    assert scores.shape == (3,) and scores.mean() > 0.7


def test_fits_charge_the_ledger_until_the_budget_is_spent(tmp_path):
    X, y = machines(120)
    ledger = str(tmp_path / "budget.sqlite")
    svc = PrivateLinearSVC(**{**SVC, "not_recorded": False}, ledger=ledger, dataset="machines")
    svc.plan(X[:90], y[:90]).create_budget(ledger, "machines", epsilon=5.0)
    # Four folds of 120 records train on 90 each.
    assert cross_val_score(svc, X, y, cv=4, error_score="raise").shape == (4,)
    fitted = svc.fit(X[:90], y[:90])
    assert fitted.card_["ledger"]["charge"] == 5
    before = fitted.coef_.copy()
    with pytest.raises(OverBudget):
        svc.fit(X[:90], y[:90])
    assert (svc.coef_ == before).all()


def test_names_and_labels_of_many_kinds():
    pd = pytest.importorskip("pandas")
    X, y = machines(80)
    frame = pd.DataFrame(X, columns=["temperature", "vibration in mm/s"])
    bounds = {"temperature": (0, 120), "vibration in mm/s": (0, 12)}
    svc = PrivateLinearSVC(bounds=bounds, classes=("ok", "fail"), not_recorded=True).fit(frame, pd.Series(y))
    assert [number["name"] for number in svc.card_["answer"]][1] == "weight of vibration in mm/s"
    assert svc.card_["reading"]["decision"]["positive"] == "ok"  # in order, as everywhere in scikit-learn
    for classes, labels in (((0, 1), y == "fail"), ((False, True), y == "fail"), ((-2.0, 1.0), np.where(y == "ok", 1.0, -2.0))):
        labels = np.asarray(labels, dtype=type(classes[0]))
        fitted = PrivateLinearSVC(bounds=bounds, classes=classes, not_recorded=True).fit(frame, labels)
        assert set(fitted.predict(frame)) <= set(classes)
