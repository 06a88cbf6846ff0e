"""What the process tests share: runs of the real binary with a bound on their time, and servers that misbehave on request.

Servers listen on free ports of the loopback interface. Nothing here waits for luck: what a test needs to see is awaited
with a deadline, and a run that does not end is killed and fails its test."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MUSTER = os.environ.get("MUSTER", str(ROOT / "build/release/muster"))
os.environ.setdefault("MUSTER_DATA", os.path.join(tempfile.gettempdir(), f"muster-tests-{os.getuid()}"))
RUN_LIMIT = 30  # seconds after which a run counts as hanging


def wait_until(condition, limit=10.0, what="a condition"):
    """Returns the first true value of `condition`, looking every few milliseconds; fails after `limit` seconds."""
    end = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {limit} s in vain for {what}")
        time.sleep(0.005)


class Run:
    """A run that has ended."""

    def __init__(self, code, out, err, seconds, summary):
        self.code, self.out, self.err, self.seconds, self.summary = code, out, err, seconds, summary

    @property
    def errors(self):
        return self.summary["errors"]

    def workflow(self, name=None):
        flows = self.summary["workflows"]
        return flows[0] if name is None else next(each for each in flows if each["name"] == name)

    def step(self, name, workflow=None):
        return next(each for each in self.workflow(workflow)["steps"] if each["name"] == name)

    def text(self):
        """Everything that the run showed anywhere."""
        return self.out + self.err + json.dumps(self.summary)

    def __str__(self):
        return f"exit {self.code} after {self.seconds:.2f} s\n{self.out}\n{self.err}"


class Under:
    """A run under way."""

    def __init__(self, arguments, cwd, output, **options):
        self.output = output
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [MUSTER, *arguments], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
            start_new_session=True, **options)

    def executors(self):
        return children_named(self.process.pid, "muster-executor")

    def executor(self):
        return wait_until(self.executors, what="an executor process")[0]

    def signal(self, number):
        self.process.send_signal(number)

    def end(self, limit=RUN_LIMIT):
        try:
            out, err = self.process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            out, err = self.process.communicate()
            raise AssertionError(f"no end within {limit} s\n{out.decode(errors='replace')}{err.decode(errors='replace')}")
        seconds = time.monotonic() - self.began
        summary = None
        if self.output is not None and self.output.is_file():
            summary = json.loads(self.output.read_text())
        return Run(self.process.returncode, out.decode(errors="replace"), err.decode(errors="replace"), seconds, summary)


def children_named(parent, name):
    found = []
    for task in pathlib.Path(f"/proc/{parent}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in task.read_text().split():
                with contextlib.suppress(OSError):
                    if pathlib.Path(f"/proc/{child}/comm").read_text().strip() == name:
                        found.append(int(child))
    return found


class ProcessTest(unittest.TestCase):
    """Gives each test a folder, and ends what it started."""

    longMessage = True

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="muster-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, name, text):
        path = self.folder / name
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text)
        return path

    def start(self, *arguments, yaml=None, command="run", environment=None, **options):
        """Starts `muster <command>`; with `yaml`, that text is the file it runs."""
        words = [command]
        output = None
        if yaml is not None:
            words.append(str(self.write("job.yaml", yaml)))
        words += [str(each) for each in arguments]
        if command == "run" and not any(word.startswith("json=") for word in words):
            output = self.folder / "summary.json"
            output.unlink(missing_ok=True)
            words += ["--out", f"json={output}"]
        env = {**os.environ, **(environment or {})}
        under = Under(words, self.folder, output, env=env, **options)
        self.addCleanup(self.reap, under)
        return under

    @staticmethod
    def reap(under):
        if under.process.poll() is None:
            os.killpg(under.process.pid, signal.SIGKILL)
            under.process.wait()
        for pipe in (under.process.stdout, under.process.stderr):
            if pipe and not pipe.closed:
                pipe.close()

    def run_muster(self, *arguments, limit=RUN_LIMIT, **options):
        return self.start(*arguments, **options).end(limit)

    def serve(self, handler, **options):
        server = RawServer(handler, **options)
        self.addCleanup(server.close)
        return server

    def serve_http(self, reply=None, **options):
        server = HttpServer(reply, **options)
        self.addCleanup(server.close)
        return server

    def target(self, *arguments):
        """Starts `muster target` and returns its address."""
        process = subprocess.Popen([MUSTER, "target", "--listen", "127.0.0.1:0", *arguments], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

        def end():
            process.terminate()
            process.wait(10)
            process.stdout.close()

        self.addCleanup(end)
        while line := process.stdout.readline().decode():
            for word in line.split():
                if word.startswith(("http://", "https://")):
                    return word.rstrip("/.,")
        raise AssertionError("muster target did not say where it listens")


def reset(connection):
    """Closes with RST."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def closed_port():
    """A port on which nobody listens, and the socket that keeps it so (close it at the end)."""
    holder = socket.socket()
    holder.bind(("127.0.0.1", 0))
    return holder.getsockname()[1], holder


class RawServer:
    """Calls `handler(connection)` in a thread of its own for each connection that it accepts."""

    def __init__(self, handler, address="127.0.0.1", context=None):
        self.handler, self.context = handler, context
        self.listener = socket.create_server((address, 0), family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                                             backlog=1024)
        self.port = self.listener.getsockname()[1]
        host = f"[{address}]" if ":" in address else address
        self.url = f"{'https' if context else 'http'}://{host}:{self.port}"
        self.accepted = 0
        self.lock = threading.Lock()
        self.open = set()
        self.closing = False
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def accept(self):
        while True:
            try:
                connection, self.peer = self.listener.accept()
            except OSError:
                return
            with self.lock:
                if self.closing:
                    connection.close()
                    return
                self.accepted += 1
                self.open.add(connection)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        plain = connection
        try:
            if self.context is not None:
                connection = self.context.wrap_socket(connection, server_side=True)
            self.handler(connection)
        except (OSError, ValueError):
            pass
        finally:
            with self.lock:
                self.open.discard(plain)
            connection.close()

    def close(self):
        with self.lock:
            self.closing = True
            still_open = list(self.open)
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in still_open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class Request:
    def __init__(self, line, headers, body, connection_number):
        self.line, self.headers, self.body, self.connection = line, headers, body, connection_number
        self.method, self.target, _ = line.split(" ", 2)
        self.path = self.target.partition("?")[0]

    def header(self, name):
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def all(self, name):
        return [value for key, value in self.headers if key.lower() == name.lower()]


def read_request(stream, number):
    line = stream.readline(65536).decode("latin-1").rstrip("\r\n")
    if not line:
        return None
    headers = []
    while text := stream.readline(65536).decode("latin-1").rstrip("\r\n"):
        name, _, value = text.partition(":")
        headers.append((name, value.strip()))
    length = next((int(value) for name, value in headers if name.lower() == "content-length"), 0)
    return Request(line, headers, stream.read(length) if length else b"", number)


def response(body=b"", status=200, headers=(), reason="Some"):
    """The bytes of a response with a Content-Length."""
    if isinstance(body, str):
        body = body.encode()
    head = f"HTTP/1.1 {status} {reason}\r\nContent-Length: {len(body)}\r\n"
    return (head + "".join(f"{name}: {value}\r\n" for name, value in headers) + "\r\n").encode("latin-1") + body


CLOSE = object()  # a reply that ends the connection instead


class HttpServer(RawServer):
    """Records what it is asked. `reply(request)` gives bytes, (bytes, CLOSE) to close afterwards, or CLOSE."""

    def __init__(self, reply=None, **options):
        self.reply = reply or (lambda request: response("ok"))
        self.requests = []
        self.at_once = 0
        self.most_at_once = 0
        super().__init__(self.converse, **options)

    def converse(self, connection):
        with self.lock:
            number = self.accepted
        stream = connection.makefile("rb")
        while (request := read_request(stream, number)) is not None:
            with self.lock:
                self.requests.append(request)
                self.at_once += 1
                self.most_at_once = max(self.most_at_once, self.at_once)
            try:
                answer = self.reply(request)
            finally:
                with self.lock:
                    self.at_once -= 1
            close = answer is CLOSE
            if isinstance(answer, tuple):
                answer, close = answer[0], True
            if answer is not CLOSE:
                connection.sendall(answer)
            if close:
                return

    def paths(self):
        return [request.path for request in self.requests]
