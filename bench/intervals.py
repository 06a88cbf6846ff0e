"""Medians and their ratios with 95 % bootstrap intervals. Samples of one round belong together: ratios resample rounds, so
that what disturbed a whole round does not widen the interval."""

import dataclasses
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
    return bootstrap(lambda chosen: statistics.median(samples[i] for i in chosen)
                     / max(1e-12, statistics.median(base[i] for i in chosen)), min(len(samples), len(base)))
