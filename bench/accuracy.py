"""Is what muster reports true? Percentiles against a server that logs its own delays; an open schedule of 20,000/s; a server
that stalls for a second, which an honest generator must show. Prints one table and writes build/bench/accuracy.json."""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import tempfile

import lab

DELAYER = lab.RELEASE / "delayer"
QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}
# What is asked of the p99 of lateness. Where a loop that only sleeps does not meet it either, no program can.
CALM_US = 1000
PLAN = """\
muster: 1
target: "{url}"
workflows:
  - name: accuracy
    load: {load}
    steps:
      - get: /
"""


class Delayer:
    """The server that knows its delays, on the server's core. A context manager; delays() once it has ended."""

    def __init__(self, folder, *options):
        self.log = pathlib.Path(folder, "delays")
        self.port = lab.free_port()
        self.process = subprocess.Popen(["taskset", "-c", str(lab.SERVER_CORE), DELAYER, "--port", str(self.port), "--log", self.log,
                                         *map(str, options)])

    def __enter__(self):
        lab.wait_for_port(self.port, self.process)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def delays(self):
        """In microseconds, ascending."""
        return sorted(int(line) / 1000 for line in self.log.read_text().split())


def run(url, load, folder):
    plan, summary = pathlib.Path(folder, "plan.yaml"), pathlib.Path(folder, "summary.json")
    plan.write_text(PLAN.format(url=url, load=load))
    lab.measure([lab.MUSTER, "run", plan, "--cores", "1", "--ui", "none", "--no-save", "--out", f"json={summary}"])
    return json.loads(summary.read_text())


def exact_quantile(ascending, quantile):
    return ascending[max(0, math.ceil(quantile * len(ascending) - 1e-9) - 1)]


def verdict(good):
    return "NOT JUDGED: no calm round" if good is None else "ok" if good else "NOT MET"


def percentiles(folder, seconds, tries):
    """Of the first calm round, or else of the last."""
    def once():
        with Delayer(folder, "--median-us", 5000, "--sigma", 0.8) as server:
            summary = run(server.url(), f"{{ vus: 20, for: {seconds}s }}", folder)
        return server.delays(), summary

    # Both cores and the last quantile: an answer is late where either stands still, and so is every answer behind it.
    rounds = lab.in_calm(once, 1, tries, "p999", CALM_US, lab.ALL_CORES)
    true, summary = rounds.counted()[-1].result
    print(f"percentiles against the server's own log ({len(true)} answers, {summary['requests']} counted)")
    rows = {}
    for name, quantile in QUANTILES.items():
        wanted, got = exact_quantile(true, quantile), summary["latency_us"][name]
        allowed = wanted * 0.02 + 200
        rows[name] = {"true_us": wanted, "reported_us": got, "ok": abs(got - wanted) <= allowed if rounds.judged() else None}
        print(f"  {name:5} true {wanted / 1000:9.3f} ms   reported {got / 1000:9.3f} ms   {(got - wanted) / 1000:+7.3f} ms"
              f" (allowed ±{allowed / 1000:.3f})  {verdict(rows[name]['ok'])}")
    print("  error of p99 in ms (and p99.9 of a loop that only sleeps) – "
          + rounds.text(lambda one: (one[1]["latency_us"]["p99"] - exact_quantile(one[0], 0.99)) / 1000))
    return rows


def schedule(folder, seconds, rate, wanted, tries):
    """Several calm rounds, judged by their median."""
    due = rate * seconds
    with lab.Nginx() as server:
        def once():
            return run(server.url(path=""), f"{{ rate: {rate}/s, for: {seconds}s, max_vus: 2000 }}", folder)

        rounds = lab.in_calm(once, wanted, tries, "p99", CALM_US)
    every = [each.result for each in rounds.calm + rounds.restless]
    off = max(((summary["requests"] - due) / due for summary in every), key=abs)
    print(f"open schedule of {rate}/s for {seconds} s, {len(every)} rounds, {len(rounds.calm)} of them calm: {due} due, at worst "
          f"{off * 100:+.3f} % issued  {verdict(abs(off) <= 0.001)}")
    late = [summary["workflows"][0]["lateness_us"] for summary in (each.result for each in rounds.counted())]
    middle = {name: statistics.median(each[name] for each in late) / 1000 for name in ("p50", "p99", "p999", "max")}
    good = middle["p99"] * 1000 < CALM_US if rounds.judged() else None
    print("  lateness: " + "  ".join(f"{name} {value:.3f} ms" for name, value in middle.items()) + f"  {verdict(good)}")
    print("  p99 in ms (and that of a loop that only sleeps) – "
          + rounds.text(lambda summary: summary["workflows"][0]["lateness_us"]["p99"] / 1000))
    return {"due": due, "issued": [summary["requests"] for summary in every], "calm": len(rounds.calm), "lateness_us": late,
            "bare_us": [each.bare_us for each in rounds.calm + rounds.restless]}


def stall(folder, seconds):
    results = {}
    for title, load in (("enough VUs", "max_vus: 2000"), ("50 VUs", "max_vus: 50")):
        with Delayer(folder, "--stall-at", seconds // 2, "--stall-for", 1) as server:
            summary = run(server.url(), f"{{ rate: 1000/s, for: {seconds}s, {load} }}", folder)
        marks = [mark["id"] for mark in summary.get("marks", [])]
        p99 = summary["latency_us"]["p99"]
        # The stall holds up 1,000 of the requests: p99 lies where 1 % of all have waited longer.
        wanted = 1e6 * (1 - 0.01 * seconds)
        good = abs(p99 - wanted) < 0.15e6 if load == "max_vus: 2000" else bool(marks)
        results[title] = {"p99_us": p99, "wanted_us": wanted, "marks": marks, "ok": good}
        print(f"one stall of 1 s in {seconds} s at 1,000/s, {title}: p99 {p99 / 1000:.0f} ms (expected {wanted / 1000:.0f}), "
              f"marks: {', '.join(marks) or 'none'}  {verdict(good)}")
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--rate", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5, help="calm ones of the open schedule")
    parser.add_argument("--tries", type=int, default=10, help="rounds at most, calm or not")
    arguments = parser.parse_args()
    lab.raise_limits()
    with tempfile.TemporaryDirectory() as folder:
        lab.save("accuracy", {"percentiles": percentiles(folder, arguments.seconds, arguments.tries),
                              "schedule": schedule(folder, arguments.seconds, arguments.rate, arguments.rounds,
                                                   arguments.tries),
                              "stall": stall(folder, arguments.seconds)})


if __name__ == "__main__":
    main()
