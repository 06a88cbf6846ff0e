"""Client CPU per request of muster against the floor and other generators: nginx on one core, the generator on the other,
all contestants in shuffled order in every round. What connecting costs is included; the floor alone connects before its
seconds begin, so with many TLS connections compare with wrk. Prints one table per case and writes build/bench/load.json."""

import argparse
import random
import sys
import tempfile

import intervals
import lab

# One data row, one JSON extraction from a 1 KiB body and two checks per request.
WORK = """\
muster: 1
target: {{ url: "{base}", insecure: true }}
data: {{ users: {{ csv: "{rows}", pick: sequential }} }}
workflows:
  - name: work
    load: {{ vus: {connections}, for: {seconds}s }}
    steps:
      - name: document
        get: "/document.json?user=${{data.users.name}}"
        check: {{ status: 200, json.token: exists }}
        save: {{ token: json.token }}
"""
PLAIN = """\
muster: 1
target: {{ url: "{base}", insecure: true }}
workflows:
  - name: page
    load: {{ vus: {connections}, for: {seconds}s }}
    steps:
      - get: /
"""


def from_yaml(name, template, folder):
    """muster on a file that is written for each load."""
    rows = folder + "/rows.csv"
    with open(rows, "w", encoding="utf-8") as file:
        file.write("name\n" + "".join(f"user{number}\n" for number in range(1000)))

    def command(load, scratch):
        base = load.url[:load.url.index("/", 8)]
        plan = scratch.parent / "plan.yaml"
        plan.write_text(template.format(base=base, rows=rows, connections=load.connections, seconds=lab.whole(load.seconds)))
        return ["run", plan, "--cores", "1", "--ui", "none", "--no-save", "--out", f"json={scratch}"]

    return lab.Generator(name, lab.MUSTER, command, lab.muster_requests)


def cases(arguments, server, folder):
    """(title, load, contestants) of everything that is measured."""
    for tls in (False, True):
        for connections in arguments.connections:
            title = f"{'TLS' if tls else 'plain'}, {connections} connections"
            extra = [from_yaml("muster yaml", PLAIN, folder)] if connections == 64 and not tls else []
            yield title, lab.Load(server.url(tls), connections, arguments.seconds), lab.GENERATORS + extra
    work = [generator for generator in lab.GENERATORS if generator.name in ("floor", "wrk", "hey", "autocannon")]
    yield ("data row, 1 KiB JSON extraction and two checks, 64 connections (muster only; others just fetch it)",
           lab.Load(server.url(path="/document.json"), 64, arguments.seconds),
           [*work, from_yaml("muster work", WORK, folder)])


FAILURES = (RuntimeError, OSError, KeyError, ValueError)


def run_case(title, load, contestants, arguments):
    """Samples by contestant, one per round. One that fails twice in a row is left out of the case, and it is said so."""
    samples = {generator.name: [] for generator in contestants}

    def attempt(generator, tries=2):
        for left in reversed(range(tries)):
            try:
                return generator.run(load)
            except FAILURES as error:
                if left == 0:
                    progress("")
                    print(f"  {generator.name} left out: {str(error).strip().splitlines()[-1]}", file=sys.stderr)
        del samples[generator.name]
        return None

    for number in range(-1, arguments.rounds):  # the first round warms up and shows who can run at all
        order = [generator for generator in contestants if generator.name in samples]
        random.Random(number).shuffle(order)
        for generator in order:
            progress(f"{title}: round {number + 1}/{arguments.rounds} {generator.name}")
            outcome = attempt(generator)
            if outcome and number >= 0:
                requests, use = outcome
                samples[generator.name].append({
                    "requests": requests, "rate": requests / load.seconds, "user_us": use.user * 1e6 / requests,
                    "sys_us": use.sys * 1e6 / requests, "total_us": (use.user + use.sys) * 1e6 / requests})
    progress("")
    return samples


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def column(samples, name, field):
    return [sample[field] for sample in samples[name]]


RATIOS = {"total_to_floor": ("floor", "total_us"), "total_to_wrk": ("wrk", "total_us"), "user_to_wrk": ("wrk", "user_us")}
HEADINGS = ("requests/s", "user", "system", "total", "total ÷ floor", "total ÷ wrk", "user ÷ wrk")
WIDTHS = (10, 20, 20, 22, 17, 17, 17)


def report(title, samples):
    print(f"\n{title} (CPU of the client in µs per request, medians with 95 % intervals)")
    print(f"{'':12}" + "".join(f"  {heading:>{width}}" for heading, width in zip(HEADINGS, WIDTHS)))
    rows = {}
    for name in samples:
        row = {field: intervals.median(column(samples, name, field)) for field in ("rate", "user_us", "sys_us", "total_us")}
        for key, (base, field) in RATIOS.items():
            if base in samples:
                row[key] = intervals.ratio(column(samples, name, field), column(samples, base, field))
        shown = [f"{row['rate'].middle:.0f}"] + [row[key].text() if key in row else "–"
                                                 for key in ("user_us", "sys_us", "total_us", *RATIOS)]
        print(f"{name:12}" + "".join(f"  {text:>{width}}" for text, width in zip(shown, WIDTHS)))
        rows[name] = {key: vars(value) for key, value in row.items()}
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--connections", type=lambda text: [int(part) for part in text.split(",")], default=[1, 64, 1000])
    parser.add_argument("--only", help="names of contestants, separated by commas")
    parser.add_argument("--case", default="", help="only cases whose title contains this, such as 'plain, 64'")
    parser.add_argument("--quick", action="store_true", help="3 rounds of 2 seconds: to see that it works, not to judge")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rounds, arguments.seconds = 3, 2
    chosen = arguments.only.split(",") if arguments.only else None
    missing = [generator.name for generator in lab.GENERATORS
               if not generator.available() and (not chosen or generator.name in chosen)]
    if missing:
        sys.exit(f"bench: not installed: {', '.join(missing)}; './dev bench' installs them, '--only' does without")
    lab.raise_limits()
    results = {}
    with lab.Nginx() as server, tempfile.TemporaryDirectory() as folder:
        for title, load, contestants in cases(arguments, server, folder):
            contestants = [generator for generator in contestants if not chosen or generator.name in chosen]
            if contestants and arguments.case in title:
                samples = run_case(title, load, contestants, arguments)
                results[title] = {"samples": samples, "summary": report(title, samples)}
    lab.save("load", {"rounds": arguments.rounds, "seconds": arguments.seconds, "cases": results})


if __name__ == "__main__":
    main()
