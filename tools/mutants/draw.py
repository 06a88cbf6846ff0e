"""Draws a sample of mechanical mutants. A mutant's lot hangs on what it changes and on the seed alone, so that a change
elsewhere in the sources, or a mutant of the sample that turns out to be equivalent, leaves the rest of the sample alone."""

import hashlib


def sample(mutants, counts, seed):
    """The planted bugs, and as many of each core's mechanical mutants as `counts` says; all if there are no counts."""
    if counts is None:
        return mutants
    kept, chosen = {}, set()
    for mutant in sorted(mutants, key=lambda mutant: lot(mutant, seed)):
        if not mutant.planted and kept.setdefault(mutant.core, 0) < counts[mutant.core]:
            kept[mutant.core] += 1
            chosen.add(id(mutant))
    return [mutant for mutant in mutants if mutant.planted or id(mutant) in chosen]


def lot(mutant, seed):
    nth = mutant.name.rsplit(" ", 1)[-1]  # the same change may be possible twice in a line
    return hashlib.sha256(repr((seed, mutant.key(), nth)).encode()).digest()
