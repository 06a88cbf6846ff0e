"""Medians and their ratios with 95 % bootstrap intervals. Samples of one round belong together: ratios resample rounds, so
that what disturbed a whole round does not widen the interval."""

import dataclasses
import math
import random
import statistics

RESAMPLES = 2000


@dataclasses.dataclass
class Interval:
    middle: float
    low: float
    high: float

    def text(self, digits=2):
        return f"{self.middle:.{digits}f} [{self.low:.{digits}f}–{self.high:.{digits}f}]"


def bootstrap(statistic, rounds, seed=1):
    """The statistic of all rounds and the 2.5 and 97.5 percentiles of it over resampled rounds."""
    generator = random.Random(seed)
    values = sorted(statistic(generator.choices(range(rounds), k=rounds)) for _ in range(RESAMPLES))
    return Interval(statistic(range(rounds)), values[int(RESAMPLES * 0.025)], values[int(RESAMPLES * 0.975) - 1])


def median(samples):
    return bootstrap(lambda chosen: statistics.median(samples[i] for i in chosen), len(samples))


def ratio(samples, base):
    """Infinite where the base is 0: ticks are too coarse for what was measured, so measure for longer."""

    def of(chosen):
        below = statistics.median(base[i] for i in chosen)
        return statistics.median(samples[i] for i in chosen) / below if below > 0 else math.inf

    return bootstrap(of, min(len(samples), len(base)))
