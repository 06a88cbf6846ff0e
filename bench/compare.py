"""Does `muster results compare` tell a change from chance? Pairs of real runs against muster's own target: of pairs of the
same thing few may be called a change, and a p95 that is 5 % higher must be found. Runs are short and go several at a time,
since the target's delays rather than the CPU make the latency. Prints the counts and writes build/bench/compare.json."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import tempfile

import lab

MEAN_MS, DEVIATION_MS = 20.0, 5.0


class Target:
    """`muster target` on a free port. A context manager."""

    def __enter__(self):
        self.port = lab.free_port()
        self.process = subprocess.Popen([lab.MUSTER, "target", "--listen", f"127.0.0.1:{self.port}"], stdout=subprocess.DEVNULL)
        lab.wait_for_port(self.port, self.process)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def one_run(target, name, slower, arguments, folder):
    """Runs and returns the file that holds its result."""
    result = pathlib.Path(folder, f"{name}.run")
    query = f"dist=lognormal&mean={MEAN_MS * slower * 1000:.0f}us&sd={DEVIATION_MS * slower * 1000:.0f}us"
    plan = pathlib.Path(folder, f"{name}.yaml")
    plan.write_text(f"""\
muster: 1
name: compare
target: "http://127.0.0.1:{target.port}"
load: {{ rate: {arguments.rate}/s, for: {arguments.seconds}s, spacing: poisson }}
steps: [ {{ name: delay, get: "/delay?{query}" }} ]
""")
    done = subprocess.run([lab.MUSTER, "run", plan, "--cores", "1", "--ui", "none", "--no-save", "--out", f"run={result}"],
                          capture_output=True, text=True, timeout=arguments.seconds + 60)
    if done.returncode != 0:
        raise SystemExit(f"a run ended with status {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return result


def compared(before, after):
    done = subprocess.run([lab.MUSTER, "results", "compare", before, after, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def p95_of(comparison):
    return next(each for each in comparison["deltas"] if each["metric"] == "p95" and not each["step"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=30, help="of each run; ten at least")
    parser.add_argument("--rate", type=int, default=300, help="requests a second of each run")
    parser.add_argument("--parallel", type=int, default=min(8, 2 * (os.cpu_count() or 1)), help="runs at a time")
    parser.add_argument("--quick", action="store_true", help="ten pairs")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.pairs = 10
    with tempfile.TemporaryDirectory() as folder, Target() as target, \
            concurrent.futures.ThreadPoolExecutor(arguments.parallel) as pool:
        wanted = [(f"{kind}{pair}", slower) for pair in range(arguments.pairs)
                  for kind, slower in (("a", 1.0), ("b", 1.0), ("slow", 1.05))]
        runs = {}
        waiting = {pool.submit(one_run, target, name, slower, arguments, folder): name for name, slower in wanted}
        for number, future in enumerate(concurrent.futures.as_completed(waiting), 1):
            runs[waiting[future]] = future.result()
            print(f"\r{number} of {len(wanted)} runs", end="", flush=True)
        print()
        same = [compared(runs[f"a{pair}"], runs[f"b{pair}"]) for pair in range(arguments.pairs)]
        slow = [compared(runs[f"a{pair}"], runs[f"slow{pair}"]) for pair in range(arguments.pairs)]
    alarms = sum(each["verdict"] in ("worse", "better") for each in same)
    found = sum(p95_of(each)["significant"] and p95_of(each)["worse"] for each in slow)
    held = sum(p95_of(each)["low"] <= 0 <= p95_of(each)["high"] for each in same)
    changes = sorted(p95_of(each)["change"] for each in same)
    print(f"{arguments.pairs} pairs of runs of {arguments.seconds} s at {arguments.rate}/s")
    print(f"  the same thing twice: {alarms} called a change; the 95 % interval of p95 holds 0 in {held}")
    print(f"    p95 differed by {changes[0]:+.2%} to {changes[-1]:+.2%}")
    print(f"  everything 5 % slower: p95 found to be worse in {found}")
    lab.save("compare", {"pairs": arguments.pairs, "seconds": arguments.seconds, "rate": arguments.rate, "alarms": alarms,
                         "found": found, "interval_holds": held, "p95_changes_of_the_same": changes})


if __name__ == "__main__":
    main()
