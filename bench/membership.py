"""What membership does in the simulator: Lifeguard's experiment, and groups of ten to ten thousand members. Writes
docs/membership.md with its plots (docs/membership/*.svg); `--quick` prints the same to the terminal with fewer runs.
What the simulator told is kept beside it, under the digest of its binary: a measurement that was interrupted goes on, and
figures of two builds are never mixed."""

import argparse
import collections
import hashlib
import json
import math
import os
import pathlib
import platform
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SIM = ROOT / "build" / "release" / "muster-sim"
DOCS = ROOT / "docs"

VARIANTS = ["plain SWIM", "health-aware probe", "dynamic suspicion", "buddy", "Lifeguard",
            "Lifeguard, f = 0.25", "all, as muster runs"]
PAUSED = [1, 4, 8, 16, 32]
SECONDS = [1, 4, 16]
# What is shown of the other kinds of pauses, which are many runs.
SHOWN = [VARIANTS[0], VARIANTS[4], VARIANTS[6]]
KINDS = ["held, 64 ms apart", "held, 1 s apart", "stopped, 64 ms apart", "stopped, 1 s apart"]
CELLS = len(VARIANTS) * len(PAUSED) * len(SECONDS)
SIZES = [10, 32, 100, 316, 1000, 3162, 10_000]
COLOURS = ["#b3261e", "#c77700", "#7a6f00", "#2e7d32", "#00796b", "#1565c0", "#5e35b1", "#111111"]


def simulate(scenario, first, last, threads):
    """The JSON that the simulator tells, with what it cost: seconds of wall and of CPU, and peak memory."""
    with SIM.open("rb") as binary:
        digest = hashlib.file_digest(binary, "sha256").hexdigest()[:16]
    kept = SIM.parent / "membership" / f"{digest}-{scenario}-{first}-{last}.json"
    if kept.exists():
        return json.loads(kept.read_text())
    command = [SIM, "--scenario", scenario, "--seed", f"{first}..{last}", "--json", "--jobs", str(threads)]
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    told = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{told}")
    result = json.loads(told) | {"wall": time.monotonic() - began, "cpu": usage.ru_utime + usage.ru_stime,
                                 "peak_mib": usage.ru_maxrss / 1024}
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(json.dumps(result))
    return result


def lifeguard(repetitions, other_repetitions, threads):
    held = simulate("swim-lifeguard", 1, CELLS * repetitions, threads)
    cells = collections.defaultdict(lambda: collections.defaultdict(int))
    for result in [held, *(simulate("swim-pauses", first, last, threads) for first, last in other_pauses(other_repetitions))]:
        for name, count in result["counters"].items():
            parts = name.split("|")
            if len(parts) == 5:
                kind, variant, paused, seconds, what = parts
                cells[kind, variant, int(paused), int(seconds)][what] += count
    return held, cells


def other_pauses(repetitions):
    """The seeds of what is shown; the cells of one variant follow one another."""
    each = len(PAUSED) * len(SECONDS)
    return [(first, first + each - 1) for block in range((len(KINDS) - 1) * repetitions)
            for first in (1 + block * CELLS + VARIANTS.index(variant) * each for variant in SHOWN)]


def total(cells, variant, what, paused=None, seconds=None, kind=KINDS[0]):
    return sum(cell[what] for (pause, name, c, d), cell in cells.items()
               if pause == kind and name == variant and paused in (None, c) and seconds in (None, d))


def fewer(plain, count):
    if count == 0:
        return "none left"
    return f"{plain / count:,.0f}× fewer" if plain > 1.5 * count else "about as many"


def false_death_lines(cells):
    lines = ["| false deaths at healthy members | " + " | ".join(f"C = {c}" for c in PAUSED) + " | all | against plain |",
             "|---|" + "---:|" * (len(PAUSED) + 2)]
    plain = total(cells, VARIANTS[0], "false at healthy")
    for variant in VARIANTS:
        counts = [total(cells, variant, "false at healthy", paused=c) for c in PAUSED]
        lines.append(f"| {variant} | " + " | ".join(f"{n:,}" for n in counts) + f" | {sum(counts):,} | "
                     + ("" if variant == VARIANTS[0] else fewer(plain, sum(counts))) + " |")
    lines += ["", "The same by the length of the pauses, and at all members, the paused ones included:", "",
              "| | " + " | ".join(f"D = {d} s" for d in SECONDS) + " | at all members | refutations | datagrams per member and s |",
              "|---|" + "---:|" * (len(SECONDS) + 3)]
    for variant in VARIANTS:
        datagrams = total(cells, variant, "datagrams") / (total(cells, variant, "runs") * 125 * 160)
        lines.append(f"| {variant} | " + " | ".join(f"{total(cells, variant, 'false at healthy', seconds=d):,}" for d in SECONDS)
                     + f" | {total(cells, variant, 'false'):,} | {total(cells, variant, 'refutations'):,} | {datagrams:.1f} |")
    return lines


def kind_lines(cells):
    """False deaths a run, for every kind of pause."""
    lines = ["| false deaths at healthy members, a run | " + " | ".join(KINDS) + " |", "|---|" + "---:|" * len(KINDS)]
    for variant in SHOWN:
        rates = [(total(cells, variant, "false at healthy", kind=kind), total(cells, variant, "runs", kind=kind)) for kind in KINDS]
        lines.append(f"| {variant} | " + " | ".join(f"{deaths / runs:,.0f}" if runs else "–" for deaths, runs in rates) + " |")
    return lines


def detection_lines(held):
    lines = ["| a crash is found, seconds | crashes | first, median | first, p99 | by all healthy, median | by all healthy, p99 |",
             "|---|---:|---:|---:|---:|---:|", "| predicted for a fixed time-out | | 12.2 | 15.7 | | |"]
    for variant in VARIANTS:
        first, everybody = (held["measures"].get(f"{KINDS[0]}|{variant}|{what}") for what in ("first", "all"))
        row = [f"{m[p]:.1f}" if m else "–" for m in (first, everybody) for p in ("p50", "p99")]
        lines.append(f"| {variant} | {first['count'] if first else 0} | " + " | ".join(row) + " |")
    return lines


def scale(repetitions, largest):
    """Each size in a process of its own, so that its memory and time are its own."""
    rows = []
    for place, size in enumerate(size for size in SIZES if size <= largest):
        seeds = [1 + place + n * len(SIZES) for n in range(repetitions if size < 1000 else 1)]
        runs = [simulate("swim-scale", seed, seed, 1) for seed in seeds]
        row = {"size": size, "peak_mib": max(run["peak_mib"] for run in runs), "cpu": sum(run["cpu"] for run in runs) / len(runs),
               "events": sum(run["events"] for run in runs) / sum(run["cpu"] for run in runs),
               "false deaths": sum(run["counters"].get("false deaths", 0) for run in runs)}
        for name in {name for run in runs for name in run["measures"]}:
            values = [run["measures"][name] for run in runs if name in run["measures"]]
            short = name.split("|", 1)[1]
            row[short] = sorted(value["p50"] for value in values)[len(values) // 2]
            row[f"{short}, most"] = max(value["most"] for value in values)
        rows.append(row)
        print(f"  {size} members: {row['cpu']:.1f} s, {row['peak_mib']:.0f} MiB", flush=True)
    return rows


def scale_lines(rows):
    def table(head, columns):
        lines = ["| members | " + " | ".join(head) + " |", "|---:|" + "---:|" * len(columns)]
        for row in rows:
            cells = [form.format(row[name]) if name in row else "–" for name, form in columns]
            lines.append(f"| {row['size']:,} | " + " | ".join(cells) + " |")
        return lines

    traffic = table(["idle: datagrams", "bytes", "busy: datagrams", "bytes", "push/pull: bytes"],
                    [("idle datagrams", "{:.2f}"), ("idle datagram bytes", "{:.1f}"), ("busy datagrams", "{:.2f}"),
                     ("busy datagram bytes", "{:,.0f}"), ("idle push/pull bytes", "{:,.0f}")])
    times = table(["join known to 99 %, s", "to all", "at 25 % loss to 99 %", "to all", "crash first found, median", "most",
                   "by all, median", "most"],
                  [("join known to 99 %", "{:.2f}"), ("join known to all", "{:.2f}"), ("join at 25 % loss known to 99 %", "{:.2f}"),
                   ("join at 25 % loss known to all", "{:.2f}"), ("crash known to one", "{:.1f}"), ("crash known to one, most", "{:.1f}"),
                   ("crash known to all", "{:.1f}"), ("crash known to all, most", "{:.1f}")])
    cost = table(["CPU seconds", "events per CPU second", "peak MiB"],
                 [("cpu", "{:.2f}"), ("events", "{:,.0f}"), ("peak_mib", "{:,.0f}")])
    return traffic, times, cost


def verdict_lines(cells, rows):
    """What is asked of membership, and what came out."""
    def spread(name):
        values = [row[name] for row in rows]
        return f"{min(values):.2f} to {max(values):.2f}, {100 * (max(values) / min(values) - 1):.1f} %"

    plain, left = (total(cells, VARIANTS[v], "false at healthy") for v in (0, 4))
    ours = total(cells, VARIANTS[-1], "false at healthy")
    join = max(row["join known to 99 %, most"] for row in rows)
    sizes = f"{rows[0]['size']} to {rows[-1]['size']:,} members"
    lines = ["| asked | measured |", "|---|---|",
             "| false deaths with all parts of Lifeguard at least 50 times below plain SWIM "
             f"| {plain:,} → {left:,}; as muster runs {ours:,} |",
             f"| traffic of probes per member flat within 10 %, {sizes} "
             f"| datagrams {spread('idle datagrams')}; bytes {spread('idle datagram bytes')} |",
             f"| with gossip, too | datagrams {spread('busy datagrams')} |",
             f"| a join known to 99 % within 2 s | {join:.2f} s at most |",
             f"| false deaths in groups of {sizes} | {sum(row['false deaths'] for row in rows)} |"]
    for row in rows:
        if row["size"] == 10_000:
            lines += ["| predicted for 10,000: join known to 99 % in 0.95 s, to all in 1.3 s, at 25 % loss in 1.7 s "
                      f"| {row['join known to 99 %']:.2f} s, {row['join known to all']:.2f} s, "
                      f"{row['join at 25 % loss known to all']:.2f} s |",
                      "| predicted for 10,000: crash first found after 17.7 s, p99 22.3 s "
                      f"| {row['crash known to one']:.1f} s, the last of 20 after {row['crash known to one, most']:.1f} s |"]
    return lines


def ticks(low, high, logarithmic):
    if logarithmic:
        return [10.0 ** power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    step = 10 ** math.floor(math.log10(max(high - low, 1e-9)))
    step = next(s for s in (step / 5, step / 2, step, step * 2, step * 5) if (high - low) / s <= 6)
    return [step * n for n in range(math.floor(low / step), math.ceil(high / step) + 1)]


def plot(path, title, x_label, y_label, series, log_y=False):
    """Lines over a logarithmic x axis; series is {name: [(x, y), ...]}."""
    width, height, left, right, top, bottom = 760, 400, 64, 190, 36, 48
    points = [point for line in series.values() for point in line]
    floor = 0.5 if log_y else 0
    xs = ticks(min(x for x, _ in points), max(x for x, _ in points), True)
    ys = ticks(floor or 0.5, max(2, max(y for _, y in points)), True) if log_y else ticks(0, max(y for _, y in points), False)
    x_low, x_high = math.log10(min(x for x, _ in points)), math.log10(max(x for x, _ in points))

    def place(x, y):
        across = (math.log10(x) - x_low) / (x_high - x_low)
        low, high, value = (math.log10(ys[0]), math.log10(ys[-1]), math.log10(max(y, ys[0]))) if log_y else (ys[0], ys[-1], y)
        return (left + across * (width - left - right), height - bottom - (value - low) / (high - low) * (height - top - bottom))

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="#fff"/>', f'<text x="{left}" y="20" font-size="14">{title}</text>']
    for y in ys:
        _, down = place(10 ** x_low, y)
        out.append(f'<line x1="{left}" x2="{width - right}" y1="{down:.1f}" y2="{down:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{left - 6}" y="{down + 4:.1f}" text-anchor="end">{y:g}</text>')
    for x in sorted({x for x, _ in points}):
        across, _ = place(x, ys[0])
        out.append(f'<text x="{across:.1f}" y="{height - bottom + 18}" text-anchor="middle">{x:,}</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 10}" text-anchor="middle">{x_label}</text>')
    out.append(f'<text x="14" y="{height / 2}" text-anchor="middle" transform="rotate(-90 14 {height / 2})">{y_label}</text>')
    for index, (name, line) in enumerate(series.items()):
        colour = COLOURS[index % len(COLOURS)]
        dashes = f' stroke-dasharray="9 {6 * (index - 4)}"' if index > 4 else ""  # lines may lie upon one another
        path_points = " ".join(f"{a:.1f},{b:.1f}" for a, b in (place(x, y) for x, y in line))
        out.append(f'<polyline points="{path_points}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in (place(x, y) for x, y in line)]
        down = top + 16 + index * 18
        out.append(f'<line x1="{width - right + 10}" x2="{width - right + 30}" y1="{down - 4}" y2="{down - 4}" stroke="{colour}" stroke-width="3"/>')
        out.append(f'<text x="{width - right + 36}" y="{down}">{name}</text>')
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(out) + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few runs, nothing written")
    parser.add_argument("--repetitions", type=int, default=1, help="of each cell of Lifeguard's experiment")
    parser.add_argument("--other-repetitions", type=int, default=1, help="the same with other kinds of pauses")
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="group to measure")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    repetitions = 1 if arguments.quick else arguments.repetitions

    print(f"groups of 10 to {arguments.largest:,}", flush=True)
    rows = scale(1 if arguments.quick else 3, arguments.largest)
    print(f"Lifeguard's experiment: {CELLS * repetitions} runs of 128 members, and other pauses", flush=True)
    held, cells = lifeguard(repetitions, arguments.other_repetitions, arguments.jobs)
    traffic, times, cost = scale_lines(rows)
    parts = {"verdict": verdict_lines(cells, rows), "lifeguard": false_death_lines(cells), "kinds": kind_lines(cells),
             "detection": detection_lines(held), "traffic": traffic, "times": times, "cost": cost}
    if arguments.quick:
        print("\n\n".join("\n".join(lines) for lines in parts.values()))
        return

    facts = {name: "\n".join(lines) for name, lines in parts.items()} | {
        "runs": f"{CELLS * repetitions:,}", "repetitions": str(repetitions),
        "events": f"{held['events']:,}",
        "virtual_hours": f"{held['virtual_seconds'] / 3600:,.0f}",
        "speed": f"{held['events'] / held['cpu']:,.0f}",
        "largest": f"{rows[-1]['size']:,}", "kib": f"{rows[-1]['peak_mib'] * 1024 / rows[-1]['size']:.0f}",
        "machine": f"{os.cpu_count()} cores, {platform.machine()}"}
    template = (ROOT / "bench" / "membership.md.in").read_text()
    for name, value in facts.items():
        template = template.replace(f"@{name}@", value)
    (DOCS / "membership.md").write_text(template)
    plot(DOCS / "membership" / "lifeguard.svg", "False deaths at healthy members, all pauses together", "members paused (C) of 128",
         "false deaths, + 0.5", {v: [(c, total(cells, v, "false at healthy", paused=c) + 0.5) for c in PAUSED] for v in VARIANTS}, log_y=True)
    plot(DOCS / "membership" / "traffic.svg", "Datagrams sent per member and second", "members", "datagrams / s",
         {"idle": [(r["size"], r["idle datagrams"]) for r in rows], "busy: 5 updates/s": [(r["size"], r["busy datagrams"]) for r in rows]})
    shown = {"join, to 99 %": "join known to 99 %", "at 25 % loss, to 99 %": "join at 25 % loss known to 99 %",
             "crash, to one": "crash known to one", "crash, to all": "crash known to all"}
    plot(DOCS / "membership" / "times.svg", "How long until it is known (crashes: median)", "members", "seconds",
         {label: [(r["size"], r[name]) for r in rows if name in r] for label, name in shown.items()})
    print("wrote docs/membership.md")


if __name__ == "__main__":
    main()
