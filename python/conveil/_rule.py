"""The linear decision rule x(ζ) = x̄ + Xζ, by the columns of the program. Private."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Rule:
    """Mean, recourse and the law of the noise."""

    mean: np.ndarray
    recourse: np.ndarray
    law: str
    scale: float
    bound: float | None = None

    @staticmethod
    def of(decided, by_column):
        """The rule as the engine states it; `by_column` orders pairs of a name and a number by the columns."""
        names = [name for name, _ in decided["mean"]]
        by_noise = np.zeros((decided["noises"], len(names)))
        for variable, noise, value in decided["recourse"]:
            by_noise[noise, variable] = value
        recourse = [by_column(zip(names, row)) for row in by_noise.tolist()]
        mean = by_column(decided["mean"])
        recourse = np.array(recourse).T if recourse else np.zeros((len(mean), 0))
        return Rule(mean, recourse, decided["law"], decided["scale"], decided["bound"])

    @property
    def noises(self):
        """How many independent noises there are."""
        return self.recourse.shape[1]

    def draw(self, count, seed=1):
        """Noise for studies, one row for each draw."""
        rng = np.random.default_rng(seed)
        if self.law == "Gaussian":
            return rng.normal(0.0, self.scale, (count, self.noises))
        noise = rng.laplace(0.0, self.scale, (count, self.noises))
        while self.bound is not None and np.any(beyond := np.abs(noise) > self.bound):
            noise[beyond] = rng.laplace(0.0, self.scale, np.count_nonzero(beyond))
        return noise

    def at(self, noise):
        """The columns at this noise."""
        return self.mean + self.recourse @ noise

    def expected(self, objective, draws, seed=1):
        """The mean of an objective over the noise; infinite or undefined values count as they are."""
        return float(np.mean([objective(self.at(noise)) for noise in self.draw(draws, seed)]))
