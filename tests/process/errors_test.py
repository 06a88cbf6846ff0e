"""Each way in which a server or the machine fails lands in its class, and the run goes on and ends on time."""

import json
import os
import resource
import signal
import socket
import ssl
import subprocess
import threading
import time
import unittest

from harness import MUSTER, ProcessTest, closed_port, read_request, reset, response, wait_until


def ask(connection):
    return read_request(connection.makefile("rb"), 0)


def hold(connection):
    """Reads until the client goes."""
    while connection.recv(65536):
        pass


class ErrorClasses(ProcessTest):
    """A request that fails, then one that succeeds: the second shows that the run goes on."""

    def run_against(self, url, *, seconds=0.6, timeout="5s", extra="", options="", vus=2):
        good = self.serve_http()
        run = self.run_muster(yaml=f"""
muster: 1
target: {{ url: "{url}"{', ' + options if options else ''} }}
targets: {{ good: {{ http: "{good.url}" }} }}
workflows:
  - name: bad
    load: {{ vus: {vus}, for: {seconds}s, grace: 1s, every: 10ms }}
    steps: [ {{ name: bad, get: /x, timeout: {timeout} {extra} }} ]
  - name: good
    load: {{ vus: 1, for: {seconds}s, every: 10ms }}
    steps: [ {{ name: good, on: good, get: / }} ]
""", limit=seconds + 8)
        bad = run.workflow("bad")
        # A workflow that never did its work fails the run; one that was cut short may have been about to.
        fruitless = 0 < bad["iterations"] == bad["failed_iterations"]
        self.assertEqual(run.code, 99 if fruitless else 0, run)
        self.assertGreater(run.step("good", "good")["requests"], 5, run)
        self.assertEqual(run.step("good", "good")["failed"], 0, run)
        self.assertLess(run.seconds, seconds + 2.5, run)
        return run

    def expect_only(self, run, error, at_least=1):
        step = run.step("bad", "bad")
        classes = {name: count for name, count in step["errors"].items() if count}
        classes.pop("cancelled", None)
        self.assertEqual(list(classes), [error], f"{step['samples']}\n{run}")
        self.assertGreaterEqual(classes[error], at_least, run)
        self.assertEqual(step["failed"], step["requests"], run)
        samples = [each for each in step["samples"] if each["class"] == error]
        self.assertTrue(samples and samples[0]["detail"], run)
        return samples[0]["detail"]

    def expect_in_phase(self, run, phase):
        """A request that failed in a phase has its time in that phase."""
        step = run.step("bad", "bad")
        phases = step["phases_us"]
        self.assertEqual(phases[phase]["count"], step["requests"], phases)
        told = sum(each["count"] * each["mean"] for each in phases.values()) / step["requests"]
        mean = step["latency_us"]["mean"]
        self.assertAlmostEqual(told, mean, delta=mean / 20, msg=str(phases))
        self.assertGreater(phases[phase]["mean"], mean * 0.9)

    def test_a_refused_connection_is_connect(self):
        port, holder = closed_port()
        with holder:
            run = self.run_against(f"http://127.0.0.1:{port}")
        self.expect_only(run, "connect", 5)

    def test_a_reset_in_place_of_a_reply_is_reset(self):
        def handler(connection):
            ask(connection)
            reset(connection)

        self.expect_only(self.run_against(self.serve(handler).url), "reset", 5)

    def test_a_reset_right_after_accept_is_reset(self):
        self.expect_only(self.run_against(self.serve(reset).url), "reset", 5)

    def test_a_server_that_stalls_after_accept_is_timeout(self):
        run = self.run_against(self.serve(hold).url, timeout="300ms")
        self.expect_only(run, "timeout", 4)
        self.assertLess(run.step("bad", "bad")["latency_us"]["max"], 400_000)
        self.expect_in_phase(run, "wait")

    def test_the_end_of_the_stream_mid_body_is_reset(self):
        def handler(connection):
            ask(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            connection.shutdown(socket.SHUT_WR)
            hold(connection)

        self.expect_only(self.run_against(self.serve(handler).url), "reset", 5)

    def test_the_end_of_the_stream_inside_chunks_is_reset(self):
        def handler(connection):
            ask(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab")

        self.expect_only(self.run_against(self.serve(handler).url), "reset", 5)

    def test_the_end_of_the_stream_inside_the_head_is_reset(self):
        def handler(connection):
            ask(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Le")

        self.expect_only(self.run_against(self.serve(handler).url), "reset", 5)

    def test_garbage_is_protocol(self):
        def handler(connection):
            ask(connection)
            connection.sendall(b"\x00\xff\x13 no such thing as HTTP \r\n\r\n")
            hold(connection)

        self.expect_only(self.run_against(self.serve(handler).url), "protocol", 5)

    def test_a_server_that_speaks_first_is_protocol(self):
        def handler(connection):
            connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
            hold(connection)

        self.expect_only(self.run_against(self.serve(handler).url, timeout="5s"), "protocol", 5)

    def test_what_is_no_http_and_never_ends_its_line_is_protocol(self):
        for reply in (b"+PONG", b"<html>hi</html>"):
            for stay in (True, False):
                with self.subTest(reply=reply, stay=stay):
                    def handler(connection, reply=reply, stay=stay):
                        ask(connection)
                        connection.sendall(reply)
                        if stay:
                            hold(connection)

                    self.expect_only(self.run_against(self.serve(handler).url, timeout="5s"), "protocol", 5)

    def test_what_arrived_before_the_client_looked_is_read(self):
        server = self.serve(lambda connection: (connection.sendall(b"220 not HTTP\r\n"), hold(connection)))
        under = self.start(yaml=f"""
muster: 1
target: {server.url}
load: {{ vus: 50, for: 600ms }}
steps: [ {{ get: /, timeout: 3s }} ]
""")
        executor = under.executor()
        wait_until(lambda: server.accepted > 50, what="some connections")
        for _ in range(10):  # connections are made and spoken on while the client stands still
            os.kill(executor, signal.SIGSTOP)
            before = server.accepted
            time.sleep(0.02)
            os.kill(executor, signal.SIGCONT)
            wait_until(lambda: server.accepted > before or under.process.poll() is not None, what="it to go on")
        run = under.end()
        self.assertEqual(list(run.errors), ["protocol"], run)

    def test_a_server_that_ends_its_side_at_once_is_reset(self):
        def handler(connection):
            connection.shutdown(socket.SHUT_WR)
            hold(connection)

        self.expect_only(self.run_against(self.serve(handler).url, timeout="5s"), "reset", 5)

    def test_a_wrong_content_length_is_protocol(self):
        def handler(connection):
            ask(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd")
            hold(connection)

        self.expect_only(self.run_against(self.serve(handler).url), "protocol", 5)

    def test_a_slow_drip_past_the_time_out_is_timeout(self):
        gone = threading.Event()
        self.addCleanup(gone.set)

        def handler(connection):
            ask(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            while not gone.wait(0.02):
                connection.sendall(b".")

        self.expect_only(self.run_against(self.serve(handler).url, timeout="300ms"), "timeout", 4)

    def test_a_header_line_without_end_is_protocol(self):
        def handler(connection):
            ask(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
            while True:
                connection.sendall(b"x" * 65536)

        self.expect_only(self.run_against(self.serve(handler).url, timeout="5s"), "protocol", 5)

    def test_header_lines_without_end_are_protocol(self):
        def handler(connection):
            ask(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            while True:
                connection.sendall(b"X: y\r\n" * 1000)

        self.expect_only(self.run_against(self.serve(handler).url, timeout="5s"), "protocol", 5)

    def test_a_body_beyond_the_limit_is_protocol(self):
        def handler(connection):
            ask(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 1_000_000)
            hold(connection)

        self.expect_only(self.run_against(self.serve(handler).url, options="max_body: 10KB"), "protocol", 5)

    def test_a_chunked_body_beyond_the_limit_is_protocol(self):
        def handler(connection):
            ask(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while True:
                connection.sendall(b"400\r\n" + b"x" * 1024 + b"\r\n")

        self.expect_only(self.run_against(self.serve(handler).url, options="max_body: 10KB"), "protocol", 5)

    def test_a_listener_that_never_accepts_is_timeout(self):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(0)
            fillers = []
            for _ in range(4):  # beyond a full backlog SYNs are dropped
                filler = socket.socket()
                filler.setblocking(False)
                filler.connect_ex(listener.getsockname())
                fillers.append(filler)
            run = self.run_against(f"http://127.0.0.1:{listener.getsockname()[1]}", timeout="30s",
                                   options="connect_timeout: 200ms")
            for filler in fillers:
                filler.close()
        self.assertIn("connection", self.expect_only(run, "timeout", 4))
        self.expect_in_phase(run, "connect")

    def test_a_name_that_cannot_exist_is_dns(self):
        self.assertIn("x.invalid", self.expect_only(self.run_against("http://x.invalid:81"), "dns"))

    def test_a_name_resolved_for_each_connection_that_cannot_exist_is_dns(self):
        self.expect_only(self.run_against("http://x.invalid:81", options="dns: each"), "dns")

    def test_a_status_that_is_not_expected_is_status(self):
        server = self.serve_http(lambda request: response("no", 503))
        run = self.run_against(server.url)
        self.assertIn("503", self.expect_only(run, "status", 5))
        self.assertEqual(list(run.step("bad", "bad")["statuses"]), ["503"])

    def test_a_missing_value_is_value_and_sends_nothing(self):
        server = self.serve_http()
        run = self.run_against(server.url, extra=", headers: { X: '${regex(\"a\", \"b\")}' }")
        self.expect_only(run, "value", 5)
        self.assertEqual(server.requests, [])

    def test_a_required_check_is_check(self):
        server = self.serve_http(lambda request: response('{"a": 1}'))
        run = self.run_against(server.url, extra=", check: { json.a: { that: 2, required: true } }")
        self.expect_only(run, "check", 5)

    def test_what_the_grace_does_not_wait_for_is_cancelled(self):
        run = self.run_against(self.serve(hold).url, timeout="20s")
        self.assertEqual(run.step("bad", "bad")["errors"], {"cancelled": 2}, run)
        self.assertEqual(run.workflow("bad")["interrupted_iterations"], 2)
        self.expect_in_phase(run, "wait")

    def test_every_request_failing_is_exit_99(self):
        port, holder = closed_port()
        with holder:
            run = self.run_muster("--url", f"http://127.0.0.1:{port}", "-n", "20", "-c", "2")
        self.assertEqual((run.code, run.summary["verdict"]), (99, "failed"), run)
        self.assertEqual(run.errors, {"connect": 20})
        self.assertIn("all-failed", [mark["id"] for mark in run.summary["marks"]])

    def test_failing_at_once_does_not_keep_the_run_from_ending(self):
        port, holder = closed_port()
        with holder:
            run = self.run_muster("--url", f"http://127.0.0.1:{port}", "-d", "1s", "-c", "50")
        self.assertEqual(run.code, 99, run)
        self.assertLess(run.seconds, 2.5)


class TlsErrors(ErrorClasses):
    def setUp(self):
        super().setUp()
        self.certificate("server", "localhost")

    def certificate(self, name, host):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", f"{name}.key", "-out", f"{name}.pem", "-days", "2", "-subj", f"/CN={host}",
                        "-addext", f"subjectAltName=DNS:{host}"], cwd=self.folder, check=True, capture_output=True)

    def serve_tls(self, name="server", **limits):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / f"{name}.pem", self.folder / f"{name}.key")
        for key, value in limits.items():
            setattr(context, key, value)
        return self.serve_http(context=context)

    def local(self, server, **more):
        options = {"hosts": "{ localhost: 127.0.0.1 }", **more}
        return {"url": f"https://localhost:{server.port}",
                "options": ", ".join(f"{key}: {value}" for key, value in options.items())}

    def test_a_self_signed_certificate_is_tls(self):
        self.assertIn("self-signed", self.expect_only(self.run_against(**self.local(self.serve_tls())), "tls", 5))

    def test_a_self_signed_certificate_is_accepted_when_told_so(self):
        run = self.run_against(**self.local(self.serve_tls(), insecure="true"))
        self.assertEqual(run.errors, {}, run)

    def test_a_trusted_certificate_of_another_host_is_tls(self):
        self.certificate("other", "other.test")
        run = self.run_against(**self.local(self.serve_tls("other"), ca=self.folder / "other.pem"))
        self.assertIn("mismatch", self.expect_only(run, "tls", 5))

    def test_https_to_a_plain_port_is_tls(self):
        server = self.serve(lambda connection: connection.recv(65536) and connection.sendall(response("what?", 400)))
        said = self.expect_only(self.run_against(**self.local(server)), "tls", 5)
        self.assertIn("the server does not speak TLS on this port (wrong version number); is it http://?", said)

    def test_a_handshake_that_hangs_is_timeout(self):
        server = self.serve(hold)
        run = self.run_against(timeout="20s", **self.local(server, tls_timeout="200ms"))
        self.assertIn("handshake", self.expect_only(run, "timeout", 4))
        self.expect_in_phase(run, "tls")

    def test_a_server_below_the_lowest_version_is_tls(self):
        server = self.serve_tls(maximum_version=ssl.TLSVersion.TLSv1_2)
        run = self.run_against(**self.local(server, insecure="true", tls_min='"1.3"'))
        self.assertIn("look at 'tls_min'", self.expect_only(run, "tls", 5))

    def test_a_server_that_wants_a_client_certificate_is_tls(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "server.pem", self.folder / "server.key")
        context.load_verify_locations(self.folder / "server.pem")
        context.verify_mode = ssl.CERT_REQUIRED
        server = self.serve_http(context=context)
        self.expect_only(self.run_against(**self.local(server, insecure="true")), "tls", 5)

    def test_a_server_that_closes_tls_connections_while_bodies_are_sent_is_reset(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "server.pem", self.folder / "server.key")

        def handler(connection):
            connection.recv(1)
            reset(connection)

        server = self.serve(handler, context=context)
        body = self.write("body.bin", b"x" * 4_000_000)
        run = self.run_against(**self.local(server, insecure="true"), extra=f", file: {body}")
        self.expect_only(run, "reset", 5)

    def serve_tls_that_ends(self, reply, end):
        """Answers one request of each connection with `reply`, then calls `end(connection)`."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "server.pem", self.folder / "server.key")

        def handler(connection):
            if ask(connection) is not None:
                connection.sendall(reply)
                end(connection)

        return self.serve(handler, context=context)

    @staticmethod
    def cut(connection):
        """Ends TCP, but not TLS."""
        connection.shutdown(socket.SHUT_WR)

    def test_a_body_until_the_end_of_a_tls_connection_that_was_cut_is_reset(self):
        server = self.serve_tls_that_ends(b"HTTP/1.1 200 OK\r\n\r\nhalf of the", self.cut)
        run = self.run_against(**self.local(server, insecure="true"))
        self.assertIn("cut without a close_notify", self.expect_only(run, "reset", 5))

    def test_a_body_until_the_end_of_a_tls_connection_that_was_closed_is_whole(self):
        server = self.serve_tls_that_ends(b"HTTP/1.1 200 OK\r\n\r\nall of it", lambda connection: connection.unwrap())
        run = self.run_against(**self.local(server, insecure="true"), extra=", check: { body: all of it }")
        self.assertEqual(run.errors, {}, run)
        self.assertGreater(run.step("bad", "bad")["checks"][0]["ok"], 5, run)

    def test_a_tls_connection_that_is_cut_behind_a_framed_body_costs_no_request(self):
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"
        for reply in (response("x"), response("x", headers=[("Connection", "close")]), chunked):
            with self.subTest(reply=reply):
                run = self.run_against(**self.local(self.serve_tls_that_ends(reply, self.cut), insecure="true"))
                self.assertEqual(run.errors, {}, run)


# The TLS cases inherit the ways to run and to judge, not the plain cases.
for name in [name for name in vars(ErrorClasses) if name.startswith("test_")]:
    setattr(TlsErrors, name, None)


class Exhaustion(ProcessTest):
    def test_file_descriptors_running_out_is_resource(self):
        server = self.serve_http()

        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))

        run = self.run_muster("--url", server.url, "-c", "60", "-d", "1s", "--cores", "1", preexec_fn=few)
        self.assertEqual(run.code, 0, run)
        self.assertEqual(list(run.errors), ["resource"], run)
        self.assertGreater(run.summary["requests"], run.summary["failed"])
        self.assertIn("ulimit", run.text())
        self.assertLess(run.seconds, 3)

    def test_local_ports_running_out_is_resource(self):
        enter = ["unshare", "--net", "--map-root-user", "sh", "-c"]
        if subprocess.run([*enter, "ip link set lo up"], capture_output=True).returncode != 0:
            self.skipTest("no network namespaces here")
        output = self.folder / "summary.json"
        script = f"""
            ip link set lo up
            echo '50000 50019' > /proc/sys/net/ipv4/ip_local_port_range
            '{MUSTER}' target --listen 127.0.0.1:8080 > ready & server=$!
            tries=0
            until grep -q http ready 2>/dev/null; do
              tries=$((tries + 1)); [ $tries -lt 500 ] || exit 9; sleep 0.01
            done
            '{MUSTER}' run --url http://127.0.0.1:8080/ -c 40 -d 1s --cores 1 --out json='{output}'; code=$?
            kill $server; wait; exit $code"""
        done = subprocess.run([*enter, script], cwd=self.folder, capture_output=True, timeout=30, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        summary = json.loads(output.read_text())
        self.assertEqual(list(summary["errors"]), ["resource"], done.stdout)
        self.assertGreater(summary["requests"], summary["failed"])
        self.assertIn("source", done.stdout + output.read_text())


if __name__ == "__main__":
    unittest.main()
