"""Ready-made models: the numbers of independent solutions, and no private number in a plan."""

import math
from collections.abc import Mapping

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

import conveil
from conveil import InputError, _toml, models
from conveil._model_plan import _noise_halves

RNG = np.random.default_rng(11)
ONE_MW = {"kind": "one-entry", "alpha": 1.0}


def test_toml_says_what_was_written():
    tomllib = pytest.importorskip("tomllib")
    tables = {
        "problem": {"a": 1, "b": 1e-7, "c": True, "d": 'say "x\\y"\tü', "odd key": [[1.0, 2.0], [3.0, 4.0]], "e": {"f g": "h"}},
        "list": {"of": [{"kind": "x", "at": np.array([1.5, 2.0])}, {"kind": "y"}], "n": np.int64(3), "none": None},
    }
    read = tomllib.loads(_toml.document(tables))
    assert read["problem"] == tables["problem"]
    assert read["list"] == {"n": 3, "of": [{"kind": "x", "at": [1.5, 2.0]}, {"kind": "y"}]}
    with pytest.raises(ValueError, match="finite"):
        _toml.document({"a": {"b": float("nan")}})


class Closed(Mapping):
    """Private demands that must not be read yet."""

    def __getitem__(self, bus):
        raise AssertionError("a private demand was read")

    def __iter__(self):
        raise AssertionError("the private demands were listed")

    def __len__(self):
        raise AssertionError("the private demands were counted")


def test_a_plan_reads_no_private_demand():
    plan = models.opf("5_pjm", Closed(), epsilon=1.0, adjacency=ONE_MW, bounds=0.3, price=500)
    assert plan.guarantee.epsilon == 1.0 and plan.check().private is False
    with pytest.raises(AssertionError, match="private demands"):
        plan.solve()


# The three buses of PGLib's case3_lmbd, as tables.
BUS = pd.DataFrame({"bus_i": [1, 2, 3], "type": [3, 2, 2], "Pd": [110.0, 110.0, 95.0]})
GEN = pd.DataFrame({"bus": [1, 2, 3], "Pmax": [2000.0, 2000.0, 0.0]})
BRANCH = pd.DataFrame(
    {"fbus": [1, 3, 1], "tbus": [3, 2, 2], "r": [0.065, 0.025, 0.042], "x": [0.62, 0.75, 0.9], "rateA": [9000.0, 50.0, 9000.0]}
)
COSTS = [[2, 0, 0, 3, 0.11, 5.0, 0.0], [2, 0, 0, 3, 0.085, 1.2, 0.0], [2, 0, 0, 3, 0.0, 0.0, 0.0]]


def test_a_network_of_tables_is_the_built_in_one(tmp_path):
    demand = pd.Series({1: 100.0, 2: 120.0, 3: 90.0})
    asked = dict(epsilon=1.0, adjacency={"kind": "one-entry", "alpha": 0.1}, bounds=0.3, price=50)
    tables = {"bus": BUS, "gen": GEN, "branch": BRANCH, "gencost": COSTS, "baseMVA": 100.0}
    plans = [models.opf("3_lmbd", demand, **asked), models.opf(tables, demand, **asked)]
    from conveil._grid import Network

    case = tmp_path / "case3.m"
    case.write_text(Network.of(tables).files["network.m"])
    plans.append(models.opf(str(case), demand, **asked))
    optima = [plan.solve().optimum for plan in plans]
    # min ½·0.22·p² + 5p + ½·0.17·r² + 1.2r, p + r = 310, the line 3–2 within 50 MW not binding
    assert optima[1] == pytest.approx(optima[0], rel=1e-7) and optima[2] == pytest.approx(optima[0], rel=1e-7)
    with pytest.raises(InputError, match="needs the column 'x'"):
        models.opf({**tables, "branch": BRANCH.drop(columns="x")}, demand, **asked)


def test_a_series_of_demands_and_groups_of_units():
    demand = pd.DataFrame({2: [290.0, 300.0], 3: [300.0, 310.0], 4: [390.0, 400.0]})
    plan = models.opf(
        "5_pjm",
        demand,
        release={"first": ["generator 1"]},
        curvature=0.01,
        costs="linear",
        epsilon=1.0,
        adjacency=ONE_MW,
        bounds={2: (200, 400), 3: (200, 400), 4: (300, 500)},
        sensitivity={"by": "declared", "per_alpha": 1.0, "reason": "for the test"},
        strategy="output",
        eta=None,
    )
    released = plan.release(not_recorded=True)
    assert [list(r.answer.index) for r in released] == [["first"], ["first"]]
    assert plan.solve(row=1).answer["first"] != plan.solve(row=2).optimum


def test_demands_without_buses_and_costs_without_a_sensitivity_are_refused():
    for more in ({}, {"price": 500, "sensitivity": {"by": "envelope", "price": 500}}):
        with pytest.raises(InputError, match="give one of them"):
            models.opf("5_pjm", {2: 300.0}, epsilon=1.0, adjacency=ONE_MW, bounds=0.3, **more)
    plan = models.opf("5_pjm", np.ones(3), epsilon=1.0, adjacency=ONE_MW, bounds=0.3, price=500)
    with pytest.raises(InputError, match="which bus"):
        plan.solve()


def test_a_declared_series_is_one_charge_and_shows_its_cards(tmp_path):
    day = pd.DataFrame({1: [104.0, 96.0, 101.0], 2: [99.5, 95.0, 93.0]})
    plan = models.opf("24_ieee_rts", day, epsilon=0.1, adjacency=ONE_MW, bounds=0.3, price=200)
    ledger = conveil.Ledger(tmp_path / "budget.sqlite")
    ledger.create_budget("day", epsilon=0.3, delta=1e-6, plan=plan)
    released = plan.release(ledger=ledger, dataset="day", series=(3, 1e-6))
    assert [card["ledger"]["series"] for card in released.cards] == [{"release": row, "of": 3} for row in (1, 2, 3)]
    assert len(ledger.to_frame()) == 1
    answers = released.to_frame()
    assert list(answers.index) == [1, 2, 3] and answers.iloc[1, 0] == released[1].answer.iloc[0]
    page = released._repr_html_()
    assert "(public)" in page and "<svg" in page and f"{answers.iloc[2, 0]:.8g}" in page
    # Bars of the figure: 95% of Laplace noise is within ln 20 of its scales.
    [half] = {round(half, 6) for half in _noise_halves(released.cards)}
    assert half == pytest.approx(math.log(20) * plan.guarantee.scale)
    with pytest.raises(InputError):
        plan.release(ledger=ledger, dataset="day", series=(2, 1e-6))


def test_labels_of_a_series_stand_on_its_cards_and_a_dry_run_charges_nothing(tmp_path):
    day = pd.DataFrame({1: [104.0, 96.0], 2: [99.5, 95.0]}, index=["08:00", "09:00"])
    stated = {"epsilon": 0.1, "adjacency": ONE_MW, "bounds": 0.3, "price": 200}
    plan = models.opf("24_ieee_rts", day, labels=True, **stated)
    assert "names its rows; it is public" in str(plan.check())
    ledger = conveil.Ledger(tmp_path / "budget.sqlite")
    ledger.create_budget("day", epsilon=0.3, plan=plan)
    dry = plan.release(ledger=ledger, dataset="day", dry_run=True)
    assert not dry.private and dry["releases"] == 2 and dry["charged"]["now"]["left"] == 0.3
    assert len(ledger.to_frame()) == 0
    released = plan.release(ledger=ledger, dataset="day")
    assert released.labels == ["08:00", "09:00"] == list(released.to_frame().index) == [r.label for r in released]
    assert "08:00" in released._repr_html_() and "label: 09:00" in released[1].card.text
    assert models.opf("24_ieee_rts", day, **stated).release(not_recorded=True).labels is None
    with pytest.raises(InputError, match="same label"):
        models.opf("24_ieee_rts", day.set_axis(["a", "a"]), labels=True, **stated).release(not_recorded=True)
    with pytest.raises(InputError, match="index of a DataFrame"):
        models.opf("24_ieee_rts", {1: 104.0}, labels=True, **stated)
    returns = pd.DataFrame({"a": [0.05, 0.04], "b": [0.03, 0.02]}, index=pd.to_datetime(["2026-01-01", "2026-01-02"]))
    risk = pd.DataFrame({"a": [0.04, 0.0], "b": [0.0, 0.02]}, index=["a", "b"])
    fund = models.portfolio(
        risk, returns, aversion=4.0, bounds=(-0.2, 0.3), adjacency={"kind": "one-entry", "alpha": 1e-4}, epsilon=5.0, labels=True
    )
    assert fund.release(not_recorded=True).labels[1].startswith("2026-01-02")


def test_a_pandapower_net_has_the_optimum_of_pandapower():
    pandapower = pytest.importorskip("pandapower")
    networks = pytest.importorskip("pandapower.networks")
    for case in ("case5", "case14"):
        net = getattr(networks, case)()
        demand = 1.01 * net.load.groupby("bus").p_mw.sum()
        plan = models.opf(net, demand, epsilon=1.0, adjacency=ONE_MW, bounds=0.3, price=500)
        net.load.p_mw *= 1.01
        pandapower.rundcopp(net)
        assert plan.solve().optimum == pytest.approx(net.res_cost, rel=1e-6)


def test_a_regression_is_the_closed_form():
    X = pd.DataFrame({"speed": RNG.uniform(0, 20, 200), "temperature": RNG.uniform(-5, 30, 200)})
    y = pd.Series(2 + 0.5 * X.speed - 0.1 * X.temperature + RNG.normal(0, 0.3, 200), name="power")
    plan = models.regression(X, y, bounds=(-20, 20), ridge=0.5, epsilon=1.0)
    phi = np.c_[np.ones(200), X]
    expected = np.linalg.solve(phi.T @ phi + 0.5 * np.eye(3), phi.T @ y)
    answer = plan.solve().answer
    assert list(answer.index) == ["constant", "speed", "temperature"]
    assert np.allclose(answer, expected, atol=1e-5)
    assert "(power)" in plan.check()["protects"]
    row = models.regression(X, y, bounds=(-20, 20), ridge=0.5, epsilon=1.0, release=[{"constant": 1.0, "speed": 10.0}])
    assert row.solve().answer.iloc[0] == pytest.approx(expected[0] + 10 * expected[1], abs=1e-4)


def test_a_regression_has_noise_on_its_linear_term():
    X, y = RNG.uniform(0, 1, (50, 1)), RNG.uniform(0, 1, 50)
    conditions = [{"kind": "decreasing", "feature": "x0", "at": [0.5]}]
    plan = models.regression(X, y, bounds=(0, 1), ridge=1.0, epsilon=0.1, conditions=conditions)
    assert plan.check()["strategy"] == "linear-term"
    assert all(plan.release(not_recorded=True).answer["x0"] <= 1e-6 for _ in range(10))


def test_a_classifier_is_that_of_scikit_learn():
    svm = pytest.importorskip("sklearn.svm")
    import scipy.sparse as sp

    X = RNG.uniform(-1, 1, (300, 3))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.3 * RNG.normal(size=300) > 0.1, "yes", "no")
    plan = models.svm(sp.csr_array(X), y, bounds=(-1, 1), classes=("no", "yes"), epsilon=1.0, lam=0.05, test=(X, y))
    design = np.c_[X, -np.ones(300)]
    theirs = svm.LinearSVC(loss="hinge", C=1 / (2 * 0.05 * 300), fit_intercept=False, max_iter=200_000, tol=1e-8).fit(design, y)
    assert np.allclose(plan.solve().answer, theirs.coef_[0], atol=2e-3)
    assert {"output", "program"} <= set(plan.compare(draws=50).to_frame().strategy)
    with pytest.raises(InputError, match="not one of the two stated classes"):
        models.svm(X, np.where(y == "no", "no", "perhaps"), bounds=(-1, 1), classes=("no", "yes"), epsilon=1.0).solve()
    with pytest.raises(InputError, match="classes must be the two labels"):
        models.svm(X, y, bounds=(-1, 1), classes=("no",), epsilon=1.0)


def test_a_logistic_regression_is_that_of_scikit_learn():
    linear_model = pytest.importorskip("sklearn.linear_model")
    X = RNG.uniform(-1, 1, (300, 3))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.3 * RNG.normal(size=300) > 0.1, "yes", "no")
    asked = dict(bounds=(-1, 1), classes=("no", "yes"), epsilon=1.0)
    plan = models.logistic(X, y, lam=0.05, test=(X, y), **asked)
    design = np.c_[X, np.ones(300)]
    theirs = linear_model.LogisticRegression(C=1 / (2 * 0.05 * 300), fit_intercept=False, tol=1e-10, max_iter=10_000).fit(design, y)
    assert np.allclose(plan.solve().answer, theirs.coef_[0], atol=1e-6)
    assert set(plan.compare(draws=50).to_frame().strategy) == {"output"}
    assert "by the rule for 300 records" in models.logistic(X, y, **asked).check().text
    narrow = models.logistic(X, y, lam=0.05, norm=1.2, **asked).check().data["guarantee"]["sensitivity"]
    assert narrow / plan.check().data["guarantee"]["sensitivity"] == pytest.approx(1.2 / 2.0, rel=0.01)
    with pytest.raises(InputError, match="cannot be trained for the noise"):
        models.logistic(X, y, settings={"feasibility": {"strategy": "program", "eta": 0.05}}, **asked).check()


def test_a_portfolio_is_the_unconstrained_one_where_no_limit_binds():
    assets = ["stocks", "bonds"]
    covariance = pd.DataFrame([[0.04, 0.006], [0.006, 0.0225]], index=assets, columns=assets)
    returns = pd.Series({"bonds": 0.02, "stocks": 0.05})
    asked = dict(aversion=4.0, bounds=(-0.2, 0.3), adjacency={"kind": "one-entry", "alpha": 0.0005}, epsilon=1.0)
    plan = models.portfolio(covariance, returns, strategy="output", eta=None, **asked)
    expected = np.linalg.solve(4.0 * covariance, returns[assets])
    answer = plan.solve().answer
    assert list(answer.index) == ["weight of stocks", "weight of bonds"] and np.allclose(answer, expected, atol=1e-5)
    array = models.portfolio(covariance.to_numpy(), [0.05, 0.02], strategy="output", eta=None, **asked)
    assert np.allclose(array.solve().answer, expected, atol=1e-5)


def test_an_ellipsoid_in_a_box_is_the_box_s_own():
    normals = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    plan = models.ellipsoid(normals, [2.0, 0.0, 1.0, 1.0], center=[2, 0.001, 1, 1], half_width=0.01, epsilon=1.0, delta=0.1,
                            strategy="output", eta=None)
    answer = plan.solve().answer
    assert np.allclose(answer, [1, 0, 1, 0, 1], atol=1e-3)


def test_a_release_charges_the_budget_of_its_plan(tmp_path):
    ledger = str(tmp_path / "budget.sqlite")
    X, y = RNG.uniform(0, 1, (50, 1)), RNG.uniform(0, 1, 50)
    plan = models.regression(X, y, bounds=(0, 1), ridge=1.0, epsilon=1.0)
    plan.create_budget(ledger, "people", epsilon=1.0)
    released = plan.release(ledger=ledger, dataset="people", report=True)
    assert released.card["ledger"]["dataset"] == "people" and released.report.private
    assert list(released.answer.index) == ["constant", "x0"] and released.decision is None
    with pytest.raises(conveil.OverBudget):
        plan.release(ledger=ledger, dataset="people")
    with pytest.raises(conveil.ConveilError):
        plan.release()


def test_a_group_of_units_has_a_certificate_by_a_moreau_envelope():
    plan = conveil.opf(
        "24_ieee_rts",
        {3: 176.0, 8: 168.0},
        release={"south": ["bus 1", "bus 2", "bus 7", "bus 13"]},
        epsilon=1.0,
        adjacency=conveil.one_entry(2),
        bounds=0.1,
        curvature=0.1,
        sensitivity=conveil.moreau(10.0),
    )
    assert "Moreau envelope" in plan.check().text


def test_a_norm_and_a_private_choice_of_lambda_for_a_classifier():
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, (200, 3))
    y = np.where(X[:, 0] > 0, 1, 0)
    common = {"bounds": (-1, 1), "classes": (0, 1), "epsilon": 1.0}
    wide = conveil.svm(X, y, lam=0.1, **common).check().data["guarantee"]["sensitivity"]
    narrow = conveil.svm(X, y, lam=0.1, norm=1.2, **common).check().data["guarantee"]["sensitivity"]
    ratio = narrow / wide
    assert ratio == pytest.approx(1.2 / 2.0, rel=0.01)
    tune = {"grid": [0.01, 0.1, 1.0], "share": 0.3, "clip": 2.0}
    tuned = conveil.svm(X, y, lam=None, tune=tune, **common)
    assert "0.3" in tuned.check().text
    with pytest.raises(conveil.InputError, match="lam=None"):
        conveil.svm(X, y, lam=0.1, tune=tune, **common)


RECORDS = np.random.default_rng(6).uniform(-1, 1, (120, 2))
SUMS = {"epsilon": 1.0, "adjacency": conveil.one_entry(0.0005)}


def model_plans(seed, twin):
    """A plan of every ready-made model: private data from this seed, and their public twins where they are wanted."""
    rng = np.random.default_rng(seed)
    assets = pd.DataFrame([[0.04, 0.006], [0.006, 0.02]], index=["stocks", "bonds"], columns=["stocks", "bonds"])
    normals = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    public = {
        "opf": {2: 310.0, 3: 290.0},
        "svm": (RECORDS[:50], (RECORDS[:50, 0] > 0).astype(int)),
        "regression": RECORDS[:, 0] + 1.0,
        "ellipsoid": np.array([1.05, 1.0, 0.95, 1.0]),
        "portfolio": {"stocks": 0.05, "bonds": 0.02},
    }
    given = {name: {"twin": data} if twin else {} for name, data in public.items()}
    demand = dict(zip((2, 3), rng.uniform(280, 320, 2)))
    X = rng.uniform(-1, 1, (120, 2))
    y = (X[:, 0] + rng.normal(0, 0.5, 120) > 0).astype(int)
    return {
        "opf": conveil.opf("5_pjm", demand, bounds=0.3, price=500, epsilon=1.0, adjacency=ONE_MW, **given["opf"]),
        "svm": conveil.svm(X, y, bounds=(-1, 1), classes=(0, 1), epsilon=1.0, lam=0.1, **given["svm"]),
        "regression": conveil.regression(RECORDS, rng.uniform(0, 2, 120), bounds=(0, 2), epsilon=1.0, **given["regression"]),
        "ellipsoid": conveil.ellipsoid(
            normals,
            rng.uniform(0.95, 1.05, 4),
            center=np.ones(4),
            relative=0.1,
            epsilon=20.0,
            sensitivity={"by": "sampled", "gamma": 0.5, "beta": 0.5},
            **given["ellipsoid"],
        ),
        "portfolio": conveil.portfolio(
            assets, dict(zip(assets, rng.uniform(0, 0.1, 2))), aversion=4.0, bounds=(-0.2, 0.3), **SUMS, **given["portfolio"]
        ),
    }


NOMINAL = ("opf", "ellipsoid")


def explored(plan, at):
    """All that is said at public data, without timings."""
    documents = [plan.solve(at=at), plan.compare(at=at, draws=20), plan.frontier(values=[1.0], at=at)]
    if plan.check()["strategy"] == "program":
        documents.append(plan.explain(at=at))
    for document in documents:
        document.data.pop("seconds", None)
        assert not document.private and document.data["private"] is False and document.data["at"] == at
        assert "PUBLIC" in document.text and "PRIVATE" not in document.text
    # Warnings of the plan are public; none may be about the private numbers.
    return [(document.data, document.warnings) for document in documents]


def test_models_explored_at_public_data_say_the_same_whatever_the_private_data():
    first, second = model_plans(1, twin=True), model_plans(2, twin=True)
    for name, plan in first.items():
        for at in ("twin", "nominal") if name in NOMINAL else ("twin",):
            assert explored(plan, at) == explored(second[name], at), (name, at)
        assert plan.solve().private and plan.solve().optimum != second[name].solve().optimum
        assert "twin" in str(plan.check()) or name == "ellipsoid"


def test_public_data_that_were_not_given_are_asked_for_in_the_words_of_python():
    from conveil._phrases import SPEC_WORDS

    for name, plan in model_plans(1, twin=False).items():
        with pytest.raises(InputError, match="twin=") as found:
            plan.solve(at="twin")
        assert not SPEC_WORDS.search(str(found.value)), str(found.value)
        if name not in NOMINAL:
            with pytest.raises(InputError, match="no nominal values") as found:
                plan.compare(at="nominal")
            assert "twin=" in str(found.value) and not SPEC_WORDS.search(str(found.value)), str(found.value)
        with pytest.raises(InputError, match='"nominal" or "twin"'):
            plan.explain(at="last year")


def test_exploring_at_public_data_reads_no_private_number():
    plan = models.opf("5_pjm", Closed(), twin={2: 310.0}, epsilon=1.0, adjacency=ONE_MW, bounds=0.3, price=500)
    assert plan.solve(at="nominal").optimum < plan.solve(at="twin").optimum
    assert len(plan.frontier(values=[0.5, 1.0], at="twin").to_frame()) == 2


def test_noise_that_does_not_fit_names_no_plan_that_there_is_not():
    with pytest.raises(conveil.NoiseDoesNotFit, match="a larger epsilon or eta, or a smaller alpha, may fit") as found:
        models.opf("5_pjm", {2: 300.0}, epsilon=0.01, adjacency=ONE_MW, bounds=0.3, price=500)
    assert "explain" not in str(found.value)


def test_the_private_data_are_not_their_own_twin():
    demand, y = {2: 300.0}, np.ones(120)
    labels = (RECORDS[:, 0] > 0).astype(int)
    with pytest.raises(InputError, match="a twin is public"):
        models.opf("5_pjm", demand, twin=demand, epsilon=1.0, adjacency=ONE_MW, bounds=0.3, price=500)
    with pytest.raises(InputError, match="a twin is public"):
        conveil.regression(RECORDS, y, twin=y, bounds=(0, 2), epsilon=1.0)
    for twin in ((RECORDS, labels.copy()), (RECORDS.copy(), labels)):
        with pytest.raises(InputError, match="a twin is public"):
            conveil.svm(RECORDS, labels, twin=twin, bounds=(-1, 1), classes=(0, 1), epsilon=1.0)
    with pytest.raises(InputError, match="pair"):
        conveil.svm(RECORDS, labels, twin=RECORDS[:3], bounds=(-1, 1), classes=(0, 1), epsilon=1.0)


def test_a_twin_of_a_series_has_labels_where_the_series_has():
    day = pd.DataFrame({2: [300.0, 305.0]}, index=["08:00", "09:00"])
    asked = {"labels": True, "epsilon": 1.0, "adjacency": ONE_MW, "bounds": 0.3, "price": 500}
    plan = models.opf("5_pjm", day, twin=day - 20.0, **asked)
    assert plan.solve(row=2, at="twin").optimum < plan.solve(row=2).optimum
    with pytest.raises(InputError, match="`twin` is dict"):
        models.opf("5_pjm", day, twin={2: 280.0}, **asked)


def test_a_frontier_of_a_classifier_follows_the_rule_for_lambda():
    y = (RECORDS[:, 0] > 0).astype(int)
    common = {"bounds": (-1, 1), "classes": (0, 1)}
    plan = conveil.svm(RECORDS, y, lam=None, epsilon=1.0, **common)
    frontier = plan.frontier(values=[0.5, 2.0])
    frame = frontier.to_frame()
    for epsilon, lam, bar in zip(frame["value"], frame["lambda"], frame["error_bar"]):
        check = conveil.svm(RECORDS, y, lam=None, epsilon=epsilon, **common).check()
        assert lam == check["settings"][0]["value"]
        assert bar == pytest.approx(math.log(20) * check["guarantee"]["scale"], rel=1e-3)
    assert frame["error"].between(0, 1).all() and frame["loss"].isna().all()
    assert "error against ε" in frontier.plot().svg and "± (95%)" in frontier._repr_html_()
    stated = conveil.svm(RECORDS, y, lam=0.1, epsilon=1.0, **common).frontier(values=[1.0]).to_frame()
    assert "lambda" not in stated and stated["error"].notna().all()
