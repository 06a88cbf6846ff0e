"""Memory per VU: resident bytes of all of muster's processes with many VUs, less those of the same run with one VU, per VU.
10,000 VUs that hold a connection each, plain and TLS; 50,000 that think for 10 s and open a connection per iteration.
Prints one table and writes build/bench/memory.json."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import lab

PLAN = """\
muster: 1
target: {{ url: "{url}", insecure: true, connections: {connections} }}
workflows:
  - name: idle
    load: {{ vus: [ {{ to: {vus}, over: {ramp}s }}, {{ hold: {hold}s }} ] }}
    steps: [ {steps} ]
"""
# A VU that opens a connection per iteration is idle before it does; one that keeps it thinks with it open.
STEPS = {"vu": "{ get: / }, { think: 10s }", "iteration": "{ think: 10s }, { get: / }"}
# title, TLS, VUs, connections, limit in KiB per VU; how late the p99 may be of one whose VUs think, in microseconds
CASES = [
    ("10,000 VUs, a connection each, plain", False, 10_000, "vu", 6, None),
    ("10,000 VUs, a connection each, TLS", True, 10_000, "vu", 40, None),
    ("50,000 VUs, 10 s think, a connection per iteration", False, 50_000, "iteration", 2, 2000),
]


def descendants(pid):
    """The process and everything below it."""
    found = [pid]
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        found += [below for child in task.read_text().split() for below in descendants(int(child))]
    return found


def resident(pid):
    """(bytes resident, open sockets) of a process tree; pages that its processes share are counted once (PSS)."""
    size = sockets = 0
    for process in descendants(pid):
        try:
            rollup = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text()
            size += next(int(line.split()[1]) * 1024 for line in rollup.splitlines() if line.startswith("Pss:"))
            sockets += sum(1 for fd in pathlib.Path(f"/proc/{process}/fd").iterdir() if fd.readlink().name.startswith("socket:"))
        except OSError:  # it has ended, or closed that fd, in between
            pass
    return size, sockets


def look_from_the_side():
    """Looking at 10,000 sockets twice a second takes a tenth of a core: not of the one whose lateness is measured."""
    os.sched_setaffinity(0, {lab.SERVER_CORE})


def run(url, vus, connections, ramp, hold):
    """Median resident bytes and most sockets while all VUs are there, and the summary."""
    with tempfile.TemporaryDirectory() as folder:
        plan, summary = pathlib.Path(folder, "plan.yaml"), pathlib.Path(folder, "summary.json")
        plan.write_text(PLAN.format(url=url, vus=vus, connections=connections, ramp=ramp, hold=hold,
                                    steps=STEPS[connections]))
        process = subprocess.Popen(["taskset", "-c", str(lab.GENERATOR_CORE), lab.MUSTER, "run", plan, "--cores", "1", "--ui", "none",
                                    "--no-save", "--out", f"json={summary}"], stdout=subprocess.DEVNULL)
        start, sizes, most = time.monotonic(), [], 0
        while process.poll() is None:
            time.sleep(0.5)
            if ramp + 2 < time.monotonic() - start < ramp + hold - 1:
                size, sockets = resident(process.pid)
                sizes.append(size)
                most = max(most, sockets)
        if not sizes or not summary.exists():
            raise SystemExit(f"muster ended with status {process.returncode} before anything could be measured")
        return sorted(sizes)[len(sizes) // 2], most, json.loads(summary.read_text())


def held_rate(summary, ramp, hold):
    """Requests a second while all VUs are there; that of the summary counts the seconds in which they start."""
    held = [point["requests"] for point in summary["series"] if ramp < point["second"] < ramp + hold - 1]
    return sum(held) / len(held)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ramp", type=int, default=10, help="seconds over which VUs start")
    parser.add_argument("--hold", type=int, default=20, help="seconds during which all are there")
    parser.add_argument("--rounds", type=int, default=5, help="where lateness is judged: runs of muster, each beside one of a bare loop")
    parser.add_argument("--vus", type=int, help="so many in every case, to try it out")
    arguments = parser.parse_args()
    open_files = lab.raise_limits()
    look_from_the_side()
    results = {}
    print(f"{'':52} {'KiB per VU':>10} {'limit':>6} {'idle MiB':>9} {'full MiB':>9} {'sockets':>8} {'failed':>7} {'rate':>7}")
    with lab.Nginx() as server:
        for title, tls, vus, connections, limit, latest in CASES:
            vus = arguments.vus or vus
            if connections == "vu" and vus + 200 > open_files:
                print(f"{title:52} left out: needs {vus + 200} open files, and {open_files} are allowed")
                continue
            idle, _, _ = run(server.url(tls), 1, connections, 1, 8)
            seconds = arguments.ramp + arguments.hold
            runs, bare = lab.in_turn(lambda: run(server.url(tls), vus, connections, arguments.ramp, arguments.hold),
                                     lambda: lab.pace(server.url(tls), vus / 10, seconds) if latest else None,
                                     arguments.rounds if latest else 1)
            late = [summary["workflows"][0]["lateness_us"] for _, _, summary in runs]
            full, sockets, summary = runs[-1]
            per_vu = (full - idle) / (vus - 1) / 1024
            failed = sum(each["failed"] for _, _, each in runs)
            rate = statistics.median(held_rate(each, arguments.ramp, arguments.hold) for _, _, each in runs)
            results[title] = {"kib_per_vu": per_vu, "limit": limit, "idle": idle, "full": full, "sockets": sockets, "failed": failed,
                              "rate": rate, "lateness_us": late, "bare_us": bare if latest else None}
            print(f"{title:52} {per_vu:10.2f} {limit:6} {idle / 2**20:9.1f} {full / 2**20:9.1f} {sockets:8} {failed:7} {rate:7.0f}")
            if failed:
                print(f"    failed: {[each['errors'] for _, _, each in runs]}")
            if latest:
                print("    p99 of lateness " + lab.Lateness([each["p99"] for each in late], [each["p99"] for each in bare]).text(latest))
    lab.save("memory", {"cases": results})


if __name__ == "__main__":
    main()
