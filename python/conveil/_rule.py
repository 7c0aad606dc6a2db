"""The linear decision rule x(ζ) = x̄ + Xζ, by the columns of the program. Private."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._errors import SolverError


@dataclass(frozen=True)
class Rule:
    """Mean, recourse and the law of the noise."""

    mean: np.ndarray
    recourse: np.ndarray
    mechanism: str
    scale: float
    bound: float | None = None

    @staticmethod
    def through(noises, decisions, mean, guarantee):
        """The rule through decisions and their noises; raises where no linear rule fits them.

        `guarantee` is the engine's: it names the law of the noise.
        """
        moved = decisions - mean
        recourse, *_ = np.linalg.lstsq(noises, moved, rcond=None)
        miss = np.abs(noises @ recourse - moved).max(initial=0.0)
        size = max(1.0, np.abs(decisions).max(initial=0.0))
        if miss > 1e-5 * size:
            raise SolverError(f"the decisions do not lie on one linear rule: they miss it by {miss:.2e}")
        mechanism, scale, bound = guarantee["mechanism"], guarantee["scale"], None
        if "truncated" in mechanism:
            bound = scale * np.log1p(np.expm1(guarantee["epsilon"]) / (2.0 * guarantee["delta"]))
        return Rule(mean, recourse.T, mechanism, scale, bound)

    @property
    def noises(self):
        """How many independent noises there are."""
        return self.recourse.shape[1]

    def draw(self, count, seed=1):
        """Noise for studies, one row for each draw."""
        rng = np.random.default_rng(seed)
        if "Gauss" in self.mechanism:
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
