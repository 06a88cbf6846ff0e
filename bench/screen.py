"""What the live screen costs: CPU of the process that draws it, at 200x50 on a pseudo terminal with a load test under way,
beside the same run with `--ui none`. `./dev bench screen [seconds]`; the difference is the screen's."""

import fcntl
import os
import pathlib
import pty
import struct
import sys
import tempfile
import termios
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
MUSTER = os.environ.get("MUSTER", str(ROOT / "build/release/muster"))
TICKS = os.sysconf("SC_CLK_TCK")
JOB = """
muster: 1
target: http://127.0.0.1:1
thresholds: [ latency p95 < 300ms, failed rate < 1%, { that: latency p99 < 1s, window: 10s } ]
workflows:
  - name: browse
    load: { vus: 20, for: SECONDSs, every: 10ms }
    steps:
      - { name: catalog, get: /json, check: { status: 200, latency: < 1s } }
      - { name: item, get: "/delay/1..5", check: { status: 200 } }
  - name: order
    load: { rate: 200/s, for: SECONDSs, max_vus: 50 }
    steps:
      - { name: cart, post: /echo, json: { id: 7 } }
      - { name: pay, get: /flaky/1 }
"""


def cpu_seconds(pid):
    """User and system time of the process itself; its executors are counted apart from it."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def measure(mode, job, seconds):
    """CPU seconds per second of wall time, and bytes written to the terminal per second."""
    pid, master = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
        os.execv(MUSTER, [MUSTER, "run", job, "--target", "embedded", "--ui", mode, "--cores", "2"])
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    written = 0

    def read():
        nonlocal written
        try:
            while data := os.read(master, 65536):
                written += len(data)
        except OSError:
            pass

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    time.sleep(2)
    began, cpu, bytes_before = time.monotonic(), cpu_seconds(pid), written
    time.sleep(seconds)
    spent, wall, out = cpu_seconds(pid) - cpu, time.monotonic() - began, written - bytes_before
    os.waitpid(pid, 0)
    reader.join(5)
    os.close(master)
    return spent / wall, out / wall


def main():
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    with tempfile.TemporaryDirectory() as folder:
        job = pathlib.Path(folder) / "job.yaml"
        job.write_text(JOB.replace("SECONDS", str(seconds + 4)))
        shares = {}
        for mode in ("none", "full"):
            shares[mode], out = measure(mode, str(job), seconds)
            print(f"--ui {mode:5} {shares[mode] * 100:6.2f} % of a core in the parent, {out / 1000:6.1f} kB/s to the terminal")
        print(f"the screen  {(shares['full'] - shares['none']) * 100:6.2f} % of a core over {seconds} s at 200x50")


if __name__ == "__main__":
    main()
