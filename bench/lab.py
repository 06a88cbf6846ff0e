"""What all benchmarks share: the server under load, the generators and how to call them, and the measuring of a process
tree. The server is pinned to one core and the generator to another, so that neither takes from the other."""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import resource
import shutil
import socket
import statistics
import struct
import subprocess
import tempfile
import threading
import time

import intervals

ROOT = pathlib.Path(__file__).resolve().parents[1]
RELEASE = ROOT / "build" / "release"
RESULTS = ROOT / "build" / "bench"
MUSTER = pathlib.Path(os.environ.get("MUSTER", RELEASE / "muster"))  # another build may stand in for it
FLOOR = RELEASE / "floor"
PACER = RELEASE / "pacer"
GENERATOR_CORE, SERVER_CORE = 0, 1
ALL_CORES = os.sched_getaffinity(0)

PAGE = "<!doctype html><title>muster</title>\n" + "<p>Nothing to see here, as often as you like.</p>\n" * 12
DOCUMENT = json.dumps({"id": 7, "token": "f1a6b0c4", "items": [
    {"id": number, "name": f"item {number:03}", "price": number * 10 + 99, "tags": ["new", "sale"]} for number in range(14)]})


def raise_limits():
    """As many open files as this user may have; returns that number."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if os.geteuid() == 0 and hard < 200_000:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (200_000, 200_000))
            return 200_000
        except (ValueError, OSError):
            pass
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port, process, seconds=10):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise SystemExit(f"the server ended at once with status {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise SystemExit(f"no server on port {port} after {seconds} s")


class Nginx:
    """nginx with one worker on the server's core: a page, and a JSON document, over HTTP and HTTPS. A context manager."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="muster-bench-"))
        self.port, self.tls_port = free_port(), free_port()

    def url(self, tls=False, path="/"):
        return f"https://127.0.0.1:{self.tls_port}{path}" if tls else f"http://127.0.0.1:{self.port}{path}"

    def __enter__(self):
        (self.folder / "index.html").write_text(PAGE)
        (self.folder / "document.json").write_text(DOCUMENT)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-keyout", "key.pem", "-out", "cert.pem"], cwd=self.folder, check=True, capture_output=True)
        (self.folder / "nginx.conf").write_text(self.configuration())
        nginx = shutil.which("nginx") or "/usr/sbin/nginx"
        self.process = subprocess.Popen(["taskset", "-c", str(SERVER_CORE), nginx, "-p", self.folder, "-c", "nginx.conf"],
                                        stderr=subprocess.DEVNULL)
        wait_for_port(self.port, self.process)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def configuration(self):
        # sendfile off: header and body leave in one segment, as they do from a real back end.
        user = "user root;" if os.geteuid() == 0 else ""
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return f"""
            {user} daemon off; worker_processes 1; worker_rlimit_nofile {limit}; pid nginx.pid; error_log error.log crit;
            events {{ worker_connections {limit - 100}; multi_accept on; }}
            http {{
              access_log off; sendfile off; tcp_nodelay on; open_file_cache max=10 inactive=1h; open_file_cache_valid 1h;
              keepalive_requests 1000000000; keepalive_timeout 1h; server_tokens off; root {self.folder};
              types {{ text/html html; application/json json; }}
              client_body_temp_path temp; proxy_temp_path temp; fastcgi_temp_path temp; uwsgi_temp_path temp; scgi_temp_path temp;
              server {{ listen 127.0.0.1:{self.port} backlog=16384; }}
              server {{ listen 127.0.0.1:{self.tls_port} ssl backlog=16384;
                       ssl_certificate cert.pem; ssl_certificate_key key.pem; ssl_protocols TLSv1.2 TLSv1.3; }}
            }}"""


@dataclasses.dataclass
class Use:
    """What a command and all processes it waited for have used."""
    output: str
    wall: float
    user: float
    sys: float
    peak_kib: int


def measure(command, core=GENERATOR_CORE, environment=None, limit=600):
    """Runs a command on one core, for `limit` seconds at most. wait4 reports the child together with every descendant that it
    reaped itself."""
    with tempfile.TemporaryFile() as output:
        start = time.monotonic()
        process = subprocess.Popen(["taskset", "-c", str(core), *map(str, command)], stdout=output, stderr=output,
                                   env={**os.environ, **(environment or {})})
        watchdog = threading.Timer(limit, process.kill)
        watchdog.start()
        _, status, usage = os.wait4(process.pid, 0)
        watchdog.cancel()
        wall = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\nended with status {process.returncode}:\n{text[-2000:]}")
    return Use(text, wall, usage.ru_utime, usage.ru_stime, usage.ru_maxrss)


def pace(url, rate, seconds, connections=None, cores=(GENERATOR_CORE,)):
    """How late a bare loop is that makes so many requests a second: by quantile, in microseconds. It has so many connections, or
    opens one for each request."""
    command = [PACER, "--url", url, "-R", rate, "-d", seconds, *(["-c", connections] if connections else [])]
    done = subprocess.run(["taskset", "-c", ",".join(map(str, cores)), *map(str, command)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stderr}")
    return json.loads(done.stdout)


@dataclasses.dataclass
class Lateness:
    """Of muster, and of a bare loop that made the same requests in the same minutes (bench/pacer.cpp), in microseconds, one a round.
    On a machine that others share, cores stand still for many milliseconds in some minutes, whatever runs there; the loop shows
    what that does to anybody. Every round counts."""
    ours: list
    bare: list

    # Where the loop misses a limit, too, muster may be later than it by this much.
    ALLOWANCE = 1.25

    def judge(self, limit_us):
        ours, bare = statistics.median(self.ours), statistics.median(self.bare)
        if ours < limit_us:
            return "ok"
        if bare < limit_us or ours > bare * self.ALLOWANCE:
            return "NOT MET"
        return "not met by a bare loop either, and muster is as punctual as that"

    def text(self, limit_us):
        rounds = ", ".join(f"{ours / 1000:.3f} ({bare / 1000:.3f})" for ours, bare in zip(self.ours, self.bare))
        return (f"{statistics.median(self.ours) / 1000:.3f} ms, limit {limit_us / 1000:g}, bare loop "
                f"{statistics.median(self.bare) / 1000:.3f}, ratio {intervals.ratio(self.ours, self.bare).text()}: "
                f"{self.judge(limit_us)}\n    rounds (bare loop): {rounds}")


@contextlib.contextmanager
def awake():
    """Asks the kernel to let no core fall asleep. A core of a virtual machine that halts wakes when its host finds time for it,
    which on a busy host takes milliseconds and says nothing about who waits there. Without the right to ask, it is left."""
    try:
        asked = os.open("/dev/cpu_dma_latency", os.O_WRONLY)
    except OSError:
        yield
        return
    try:
        os.write(asked, struct.pack("i", 0))
        yield
    finally:
        os.close(asked)


@awake()
def in_turn(measure, bare, rounds):
    """The results of both, each measured once a round, the first one first in every other round."""
    results, beside = [], []
    for number in range(rounds):
        for call, kept in ((measure, results), (bare, beside))[::1 if number % 2 == 0 else -1]:
            kept.append(call())
    return results, beside


def number_in(pattern, text):
    match = re.search(pattern, text)
    if not match:
        raise RuntimeError(f"found no '{pattern}' in:\n{text[-2000:]}")
    return int(match.group(1))


@dataclasses.dataclass
class Load:
    url: str
    connections: int
    seconds: float


@dataclasses.dataclass
class Generator:
    """How to call a load generator, and where in its output the number of answered requests stands."""
    name: str
    program: object
    command: object  # Load, scratch file → list of arguments after the program
    requests: object  # output, scratch file → count

    def available(self):
        return pathlib.Path(self.program).exists() or shutil.which(str(self.program)) is not None

    def run(self, load):
        """(requests, Use) of one run."""
        with tempfile.TemporaryDirectory() as folder:
            scratch = pathlib.Path(folder, "summary.json")
            use = measure([self.program, *self.command(load, scratch)], environment={"NODE_TLS_REJECT_UNAUTHORIZED": "0"},
                          limit=load.seconds + 30)
            return self.requests(use.output, scratch), use


def whole(seconds):
    return max(1, round(seconds))


def muster_requests(_, scratch):
    summary = json.loads(scratch.read_text())
    if summary["failed"]:
        raise RuntimeError(f"muster: {summary['failed']} of {summary['requests']} requests failed: {summary.get('errors')}")
    return summary["requests"]


def wrk_requests(output, _):
    if "Non-2xx" in output or "Socket errors" in output:
        raise RuntimeError(f"wrk: requests failed:\n{output}")
    return number_in(r"(\d+) requests in", output)


def insecure(load):
    return ["-k"] if load.url.startswith("https") else []


MUSTER_URL = Generator("muster", MUSTER, lambda load, scratch: [
    "run", "--url", load.url, "-c", load.connections, "-d", f"{whole(load.seconds)}s", "--cores", "1", "--ui", "none",
    "--no-save", "--out", f"json={scratch}", *insecure(load)], muster_requests)

AUTOCANNON = RESULTS / "node_modules" / ".bin" / "autocannon"

GENERATORS = [
    Generator("floor", FLOOR, lambda load, _: ["--url", load.url, "-c", load.connections, "-d", load.seconds, *insecure(load)],
              lambda output, _: number_in(r"requests (\d+)", output)),
    MUSTER_URL,
    Generator("wrk", "wrk", lambda load, _: ["-t1", f"-c{load.connections}", f"-d{whole(load.seconds)}s", load.url],
              wrk_requests),
    Generator("h2load", "h2load", lambda load, _: ["--h1", "-t1", f"-c{load.connections}", f"-D{whole(load.seconds)}", load.url],
              lambda output, _: number_in(r"(\d+) succeeded", output)),
    Generator("hey", "hey", lambda load, _: ["-z", f"{whole(load.seconds)}s", "-c", load.connections, "-cpus", "1", load.url],
              lambda output, _: number_in(r"\[200\]\s+(\d+) responses", output)),
    Generator("autocannon", AUTOCANNON, lambda load, _: ["-c", load.connections, "-d", whole(load.seconds), "-j", load.url],
              lambda output, _: json.loads(output[output.index("{"):])["2xx"]),
]


def machine():
    model = next((line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), "unknown")
    return {"cpu": model, "cores": os.cpu_count(), "kernel": os.uname().release, "date": time.strftime("%Y-%m-%d %H:%M")}


def save(name, result):
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"machine": machine(), **result}, indent=1))
    print(f"\nwritten to {path.relative_to(ROOT)}")
