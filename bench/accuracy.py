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
LATEST_US = 1000  # what is asked of the p99 of lateness
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
    return "ok" if good else "NOT MET"


def percentiles(folder, seconds, rounds):
    """Judged by the median of the differences: an answer is late where either core stands still, and so is every one behind it."""
    found = {name: [] for name in QUANTILES}
    with lab.awake():
        for _ in range(rounds):
            with Delayer(folder, "--median-us", 5000, "--sigma", 0.8) as server:
                summary = run(server.url(), f"{{ vus: 20, for: {seconds}s }}", folder)
            true = server.delays()
            for name, quantile in QUANTILES.items():
                found[name].append((exact_quantile(true, quantile), summary["latency_us"][name]))
    print(f"percentiles against the server's own log, {rounds} rounds of {seconds} s, the last of {len(true)} answers, "
          f"{summary['requests']} counted; medians")
    rows = {}
    for name, pairs in found.items():
        wanted = statistics.median(true for true, _ in pairs)
        off = statistics.median(got - true for true, got in pairs)
        allowed = wanted * 0.02 + 200
        rows[name] = {"pairs_us": pairs, "off_us": off, "ok": abs(off) <= allowed}
        print(f"  {name:5} true {wanted / 1000:9.3f} ms   reported {off / 1000:+7.3f} ms (allowed ±{allowed / 1000:.3f})  "
              f"{verdict(rows[name]['ok'])}   of {', '.join(f'{(got - true) / 1000:+.3f}' for true, got in pairs)}")
    return rows


def schedule(folder, seconds, rate, rounds):
    due = rate * seconds
    with lab.Nginx() as server:
        every, bare = lab.in_turn(lambda: run(server.url(path=""), f"{{ rate: {rate}/s, for: {seconds}s, max_vus: 2000 }}", folder),
                                  lambda: lab.pace(server.url(), rate, seconds, 2000), rounds)
    off = max(((summary["requests"] - due) / due for summary in every), key=abs)
    print(f"open schedule of {rate}/s for {seconds} s, {rounds} rounds: {due} due, at worst {off * 100:+.3f} % issued  "
          f"{verdict(abs(off) <= 0.001)}")
    late = [summary["workflows"][0]["lateness_us"] for summary in every]
    print("  lateness: " + "  ".join(f"{name} {statistics.median(each[name] for each in late) / 1000:.3f} ms"
                                     for name in ("p50", "p99", "p999", "max")))
    print("  p99 of lateness " + lab.Lateness([each["p99"] for each in late], [each["p99"] for each in bare]).text(LATEST_US))
    return {"due": due, "issued": [summary["requests"] for summary in every], "lateness_us": late, "bare_us": bare}


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
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    lab.raise_limits()
    with tempfile.TemporaryDirectory() as folder:
        lab.save("accuracy", {"percentiles": percentiles(folder, arguments.seconds, arguments.rounds),
                              "schedule": schedule(folder, arguments.seconds, arguments.rate, arguments.rounds),
                              "stall": stall(folder, arguments.seconds)})


if __name__ == "__main__":
    main()
