"""What `muster try` shows: every exchange, whole, with the bytes that it leaves out counted."""

import gzip
import json
import signal
import unittest

from harness import ProcessTest, response, wait_until


class Try(ProcessTest):
    def setUp(self):
        super().setUp()
        self.url = self.target()

    def tried(self, *arguments):
        run = self.run_muster(*arguments, command="try")
        self.assertEqual(run.code, 0, run)
        return run.out

    def test_every_exchange_of_a_chain_of_redirects_is_shown(self):
        out = self.tried("--url", f"{self.url}/redirect/2")
        sent = [line for line in out.splitlines() if line.startswith("  > GET ")]
        self.assertEqual(len(sent), 3, out)
        statuses = [line.split()[2] for line in out.splitlines() if line.startswith("  < HTTP/1.1 ")]
        self.assertEqual(statuses, ["302", "302", "200"], out)
        told = json.loads(self.tried("--url", f"{self.url}/redirect/2", "--json"))
        self.assertEqual(len(told["earlier"]), 2)
        self.assertTrue(told["earlier"][0]["response"].startswith("HTTP/1.1 302"))
        self.assertTrue(told["response"].startswith("HTTP/1.1 200"))

    def test_a_large_answer_is_shown_from_its_beginning_and_counted(self):
        out = self.tried("--url", f"{self.url}/bytes/100000", "--bytes", "100")
        self.assertIn("  < HTTP/1.1 200 OK", out)
        left_out = next(int(line.split()[2]) for line in out.splitlines() if line.endswith(" more bytes"))
        head = json.loads(self.tried("--url", f"{self.url}/bytes/100000", "--bytes", "65536", "--json"))["response"]
        self.assertEqual(left_out, head.index("\r\n\r\n") + 4 + 100000 - 100, out)

    def test_a_body_that_cannot_be_read_is_told_beside_what_asked_for_it(self):
        bodies = {"/html": response("<html>"),
                  "/gzip": response(b"no gzip", headers=[("Content-Encoding", "gzip")]),
                  "/large": response(gzip.compress(b"[" + b" " * 100_000 + b"1]"), headers=[("Content-Encoding", "gzip")]),
                  "/fine": response('{"b":1}')}
        server = self.serve_http(lambda request: bodies[request.path])
        why = {"/html": "the body is not JSON: a value was expected at byte 1, but there is '<'",
               "/gzip": "the body is not valid gzip: incorrect header check",
               "/large": "the compressed body decodes to more than the limit of 50000 bytes"}
        for path in bodies:
            with self.subTest(path=path):
                yaml = f"""
muster: 1
target: {{ url: "{server.url}", max_body: 50000 }}
load: {{ vus: 1, iterations: 1 }}
steps: [ {{ get: {path}, check: {{ status: 200, json.a: {{ that: 1, required: true }} }}, save: {{ a: json.a }} }} ]
"""
                out = self.run_muster(yaml=yaml, command="try").out
                check = next(line for line in out.splitlines() if line.startswith("  ✗ check json.a"))
                value = next(line for line in out.splitlines() if line.startswith("  = a: "))
                self.assertIn("  ✓ check status: 200\n", out)
                self.assertIn(" – " + why[path] if path in why else "json.a: 1", check)
                self.assertIn("(missing) – " + why[path] if path in why else "(missing)", value)
                told = json.loads(self.run_muster("--json", yaml=yaml, command="try").out.splitlines()[0])
                self.assertEqual("unread" in told, path in why, told)
                self.assertIn("the required check 'json.a: 1' did not hold", told["detail"])
                self.assertIn("  check: the required check 'json.a: 1' did not hold", out)
                sample = self.run_muster(yaml=yaml).step("GET " + path)["samples"][0]["detail"]
                self.assertIn("did not hold" + (" – " + why[path] if path in why else ""), sample)

    def test_a_large_value_is_shown_from_its_beginning_and_counted(self):
        server = self.serve_http(lambda request: response('{"a":"' + "x" * 100_000 + '"}'))
        yaml = f"""
muster: 1
target: "{server.url}"
load: {{ vus: 1, iterations: 1 }}
steps: [ {{ get: /, save: {{ a: json.a }} }} ]
"""
        out = self.run_muster("--bytes", "100", yaml=yaml, command="try").out
        value = next(line for line in out.splitlines() if line.startswith("  = a: "))
        self.assertLess(len(value), 5000)
        self.assertRegex(value, "x … [0-9]+ more bytes$")

    def test_no_control_character_of_a_name_reaches_the_terminal(self):
        yaml = f"""
muster: 1
name: "idle\\e[31m"
target: {self.url}
load: {{ vus: 1, iterations: 1 }}
steps:
  - {{ name: "home\\e]0;pwned\\a", get: /, check: [ {{ that: "status == 404", label: "lab\\e[31mel" }} ], save: {{ v: status }} }}
  - {{ metric: "m\\e[31m", value: 1 }}
  - {{ set: {{ w: "'\\e[31m\\u009b'" }} }}
"""
        run = self.run_muster(yaml=yaml, command="try")
        self.assertRegex(run.out + run.err, r"^[^\x00-\x09\x0b-\x1f\x7f-\x9f]+$")
        for shown in ("✓ home.]0;pwned.", "✗ check lab.[31mel", "= m.[31m: 1"):
            self.assertIn(shown, run.out)

    def test_control_characters_of_a_server_reached_the_terminal(self):
        odd = "a\u009bb\u202ec".encode() + b"\xffd\x1b[31m\x07"
        server = self.serve_http(lambda request: response(odd, headers=[("X-Odd", "e\u009bf\u202eg".encode().decode("latin-1"))]))
        yaml = f"""
muster: 1
target: "{server.url}"
load: {{ vus: 1, iterations: 1 }}
steps: [ {{ get: /, save: {{ v: body }} }}, {{ log: "h\\u009bi\\u202ej" }} ]
"""
        run = self.run_muster(yaml=yaml, command="try")
        self.assertEqual(run.code, 0, run)
        self.assertIn("  < " + r"a\xc2\x9bb\xe2\x80\xaec\xffd\x1b[31m\x07" + "\n", run.out)
        self.assertIn("  < X-Odd: " + r"e\xc2\x9bf\xe2\x80\xaeg" + "\n", run.out)
        self.assertIn(r"h\xc2\x9bi\xe2\x80\xaej", run.err)
        self.assertNotRegex(run.out + run.err, "[\u0080-\u009f\u202e\ufffd]")

    def test_a_short_password_was_shown_in_base64(self):
        for arguments in (("-u", "ada:pw"), ("-u", "ada:"), ("-u", "ada:" + "long" * 20)):
            for extra in ((), ("--json",)):
                with self.subTest(arguments=arguments, extra=extra):
                    out = self.tried("--url", self.url, *arguments, *extra)
                    self.assertRegex(out, r"(?i)authorization: Basic \*\*\*(\\r|\n)")

    def test_the_secret_that_a_hole_changed_to_upper_case_was_shown(self):
        yaml = f"""
muster: 1
target: {self.url}
secrets: [ TOP ]
load: {{ vus: 1, iterations: 1 }}
steps: [ {{ get: /, headers: {{ X-Loud: "${{upper(env.TOP)}}", X-Low: "${{lower(env.TOP)}}" }} }} ]
"""
        for extra in ((), ("--json",)):
            run = self.run_muster("-e", "TOP=SwordFish", *extra, yaml=yaml, command="try")
            self.assertEqual(run.code, 0, run)
            self.assertIn("X-Loud: ***", run.out)
            self.assertNotIn("swordfish", (run.out + run.err).lower())

    def test_a_request_that_was_never_sent_was_shown_as_sent(self):
        url = f"https://{self.url.removeprefix('http://')}"  # where no TLS is spoken
        run = self.run_muster("--url", url, command="try")
        self.assertEqual(run.code, 99, run)
        self.assertNotIn("  > ", run.out)
        self.assertIn("  not sent:\n    GET / HTTP/1.1\n", run.out)
        self.assertIs(json.loads(self.run_muster("--url", url, "--json", command="try").out.splitlines()[0])["sent"], False)
        server = self.serve_http(lambda request: response("", 302, headers=[("Location", url)]))
        out = self.run_muster("--url", server.url, command="try").out
        self.assertEqual(out.count("  > GET / HTTP/1.1"), 1, out)
        self.assertEqual(out.count("  not sent:\n    GET / HTTP/1.1"), 1, out)

    def test_what_made_no_request_is_told(self):
        page = "{ get: / }"
        for lists, told, code in (
                (f"steps: [ {{ stop: iteration }}, {page} ]", "`stop: iteration` came before any", 99),
                (f"start: [ {{ stop: workflow }} ]\nsteps: [ {page} ]", "`stop: workflow` came before any", 99),
                (f"steps: [ {{ if: vu > 1, then: [ {page} ] }} ]", "no step that makes one was reached", 99),
                ("steps: [ { think: 1ms } ]", "none of its steps makes one", 0)):
            with self.subTest(lists=lists):
                yaml = f"muster: 1\nname: idle\ntarget: {self.url}\nload: {{ vus: 1, iterations: 1 }}\n{lists}\n"
                run = self.run_muster(yaml=yaml, command="try")
                self.assertEqual(run.code, code, run)
                self.assertIn(f": no request was made: {told}\n", run.out)
                told_json = self.run_muster("--json", yaml=yaml, command="try")
                self.assertEqual(told_json.code, code, told_json)
                self.assertIn(f": no request was made: {told}\n", told_json.err)
                for line in told_json.out.splitlines():
                    self.assertTrue(json.loads(line)["step"].startswith("stop: "))

    def test_a_stop_is_shown_where_it_happens(self):
        run = self.run_muster(yaml=f"""
muster: 1
target: {self.url}
load: {{ vus: 1, iterations: 1 }}
steps: [ {{ get: / }}, {{ stop: vu }}, {{ get: /never }} ]
""", command="try")
        self.assertEqual(run.code, 0, run)
        self.assertIn("\n✓ stop: vu\n", run.out)
        self.assertNotIn("no request was made", run.out)

    def test_an_interrupted_try_shows_how_far_it_came(self):
        asked = []

        def handler(connection):
            asked.append(connection.recv(65536))
            connection.recv(65536)

        server = self.serve(handler)
        for extra in ((), ("--json",)):
            with self.subTest(extra=extra):
                asked.clear()
                under = self.start("--url", f"{server.url}/stall", *extra, command="try")
                wait_until(lambda: asked, what="the request")
                under.signal(signal.SIGINT)
                run = under.end()
                self.assertEqual(run.code, 130, run)
                self.assertIn("GET /stall HTTP/1.1", run.out)
                self.assertIn("cancelled", run.out)
                self.assertIn("interrupted: this is how far it came\n", run.err if extra else run.out)

    def test_a_body_without_end_is_refused(self):
        yaml = """
muster: 1
target: http://127.0.0.1:1
load: { vus: 1, iterations: 1 }
steps: [ { post: /, file: /dev/zero } ]
"""
        for command in ("check", "try", "run"):
            run = self.run_muster(yaml=yaml, command=command)
            self.assertEqual(run.code, 2, run)
            self.assertIn("the file '/dev/zero' is larger than 256 MiB", run.err)


if __name__ == "__main__":
    unittest.main()
