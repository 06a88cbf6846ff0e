"""What is told about a run: planted bugs one by one, mechanical mutants by kind and by file, and every survivor."""

import collections

COLUMNS = ("violated", "crashed", "hung", "survived")


def table(mutants, verdicts):
    """Rows of planted bugs, then counts of the mechanical mutants."""
    lines = []
    bugs = [mutant for mutant in mutants if mutant.planted and mutant.number in verdicts]
    if bugs:
        width = max(len(mutant.name) for mutant in bugs)
        lines.append(f"{'planted bug':<{width}}  {'verdict':<9} {'by':<17} {'scenario':<24} {'seed':>8} {'s':>6}")
        for mutant in bugs:
            verdict = verdicts[mutant.number]
            lines.append(f"{mutant.name:<{width}}  {verdict.end:<9} {verdict.invariant:<17} {verdict.scenario:<24} "
                         f"{verdict.seed:>8} {verdict.seconds:>6.1f}")
        lines.append("")
    for title, key in (("mechanical, by kind", lambda mutant: mutant.kind), ("mechanical, by file", lambda mutant: mutant.file)):
        lines += counts(title, key, [mutant for mutant in mutants if not mutant.planted], verdicts)
    noticed = collections.Counter(verdict.invariant for verdict in verdicts.values() if verdict.invariant)
    if noticed:
        lines += ["noticed by invariant  " + ", ".join(f"{name}: {count}" for name, count in noticed.most_common()), ""]
    return lines


def counts(title, key, mutants, verdicts):
    rows = collections.defaultdict(collections.Counter)
    for mutant in mutants:
        if mutant.number in verdicts:
            rows[key(mutant)][verdicts[mutant.number].end] += 1
        elif mutant.equivalent:
            rows[key(mutant)]["equivalent"] += 1
    if not rows:
        return []
    width = max(len(title), *map(len, rows))
    columns = (*COLUMNS, "equivalent")
    lines = [f"{title:<{width}}  " + " ".join(f"{column:>10}" for column in columns)]
    for name in sorted(rows):
        lines.append(f"{name:<{width}}  " + " ".join(f"{rows[name][column]:>10}" for column in columns))
    return [*lines, ""]


def survivors(mutants, verdicts, unreached):
    lines = []
    for mutant in mutants:
        verdict = verdicts.get(mutant.number)
        if verdict is None or verdict.killed:
            continue
        lines.append(f"SURVIVED  {mutant.name}  ({mutant.place()}, in {mutant.function}, "
                     f"{verdict.seeds} seeds, {verdict.seconds:.0f} s)")
        if mutant.sentence:
            lines.append(f"    {mutant.sentence}")
        lines += [f"  - {mutant.original}", f"  + {mutant.changed}"]
        if mutant in unreached:
            lines.append("    no scenario was seen to run this function")
    return lines


def rate(mutants, verdicts):
    """Killed and tried mechanical mutants; those named equivalent are not tried."""
    ends = [verdicts[mutant.number].killed for mutant in mutants if not mutant.planted and mutant.number in verdicts]
    return sum(ends), len(ends)
