"""What imported files send, seen from the server: the same requests as the curl commands they were made from."""

import http.client
import json
import os
import re
import signal
import subprocess
import unittest
import urllib.parse

from harness import MUSTER, ProcessTest, response


class ImportTest(ProcessTest):
    def make(self, kind, *arguments, output="imported.yaml", code=0):
        """Runs `muster import KIND` and returns what --json tells; the load test is in `output`."""
        words = [MUSTER, "import", kind, "-o", output, "--force", "--json", *map(str, arguments)]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, timeout=30)
        self.assertEqual(done.returncode, code, done.stdout.decode() + done.stderr.decode())
        return json.loads(done.stdout)

    def check_and_run(self, output="imported.yaml", environment=None, code=0):
        checked = self.run_muster(output, command="check", environment=environment)
        self.assertEqual(checked.code, 0, checked)
        run = self.run_muster(output, "--cores", "1", environment=environment)
        self.assertEqual(run.code, code, str(run) + (self.folder / output).read_text())
        return run


class LoggingTarget:
    """`muster target` with its request log, cut at marks that the test sends."""

    def __init__(self, test):
        self.log = test.folder / "requests.jsonl"
        self.process = subprocess.Popen([MUSTER, "target", "--listen", "127.0.0.1:0", "--http-log", str(self.log)],
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        test.addCleanup(self.end)
        self.url = next(word.rstrip("/") for line in self.process.stdout for word in line.decode().split()
                        if word.startswith("http://"))
        self.port = urllib.parse.urlsplit(self.url).port

    def mark(self, name):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("GET", f"/mark?{name}")
        connection.getresponse().read()
        connection.close()

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(10)
        self.process.stdout.close()

    def requests(self):
        """The requests after each mark, by its name. Ends the server."""
        self.end()
        found, current = {}, None
        for line in self.log.read_text().splitlines():
            request = json.loads(line)
            if request["path"] == "/mark":
                current = found.setdefault(request["query"], [])
            else:
                current.append(comparable(request))
        return found


def comparable(request):
    """A request without the only thing that is drawn: the boundary of a multipart body."""
    headers = [list(each) for each in request["headers"]]
    body = request["body"]
    for name_and_value in headers:
        match = re.search(r"boundary=(\S+)", name_and_value[1])
        if name_and_value[0].lower() == "content-type" and match:
            body = body.replace(match.group(1), "BOUNDARY")
            name_and_value[1] = name_and_value[1].replace(match.group(1), "BOUNDARY")
            for each in headers:
                if each[0].lower() == "content-length":
                    each[1] = "?"
            request["body_bytes"], request["body_crc32"] = len(body), "?"
    return {"method": request["method"], "target": request["path"] + "?" + request["query"], "headers": headers,
            "body": body, "bytes": request["body_bytes"], "crc": request["body_crc32"]}


# {url} and {port} are filled in; commands are lists of words, as a shell hands them over.
COMMANDS = [
    ["{url}/json"],
    ["{url}/headers?a=1&b=two%20words&c"],
    ["{url}"],
    ["{url}/headers", "-H", "X-One: 1", "-H", "x-two:zwei", "-H", "X-Empty;"],
    ["{url}/headers", "-H", "X-Dup: a", "-H", "X-Dup: b"],
    ["{url}/headers", "-H", "Accept:", "-H", "User-Agent:"],
    ["{url}/headers", "-H", "Accept: text/html", "-H", "User-Agent: mine", "-H", "Z: 1"],
    ["{url}/headers", "-A", "Mozilla/5.0 (X11)", "-e", "http://ref.test/"],
    ["{url}/headers", "-A", ""],
    ["{url}/echo", "-d", "a=1&b=2"],
    ["{url}/echo", "-d", "a=1", "-d", "b=x+y%26"],
    ["{url}/echo", "-d", "hello world"],
    ["{url}/echo", "-d", ""],
    ["{url}/echo", "--data-raw", "@not a file ${{HOME}} $${{x}} {{{{y}}}} \"quoted\" 'too'\r\n\ttab é 中"],
    ["{url}/echo", "-H", "Content-Type: application/json", "-d", '{{"a": "ü", "b": [1, 2]}}'],
    ["{url}/echo", "--json", '{{"x":1}}'],
    ["{url}/echo", "--json", '{{"x":', "--json", "1}}", "-H", "Accept: text/plain"],
    ["{url}/echo", "-d", "@lines.txt"],
    ["{url}/echo", "--data-binary", "@lines.txt"],
    ["{url}/echo", "-d", "x=1", "--data-binary", "@lines.txt"],
    ["{url}/echo", "--data-urlencode", "q=a b&c", "--data-urlencode", "plain text", "--data-urlencode", "f@lines.txt"],
    ["{url}/echo", "--data-urlencode", "me@host=1 2", "--data-urlencode", "@lines.txt=", "--data-urlencode", "=@x"],
    ["{url}/headers", "--url-query", "me@host=1 2", "--url-query", "f@lines.txt"],
    ["{url}/headers", "-G", "-d", "x=1", "--data-urlencode", "y=ä ö"],
    ["{url}/echo", "-F", "a=1", "-F", "file=@pic.png", "-F", 'j={{"k":1}};type=application/json', "-F",
     "t=@lines.txt;filename=n.dat"],
    ["{url}/echo", "-F", "a=1", "-F", "a=2", "--form-string", "s=@x;type=y"],
    ["{url}/echo", "-F", "a= hi ", "-F", "b=\thi\n;type=text/x", "-F", 'c= " quoted; " ;type=text/y', "-F", "d= @x",
     "-F", 'e="open', "-F", "f=<lines.txt ; type=text/z", "-F", "g=x;y=1"],
    ["{url}/echo", "-F", "a=@lines.txt;type=text/plain;charset=utf-8", "-F",
     'b=@ pic.png ; TYPE= image/x ; q="1" ; filename= n m ;z=1', "-F", "c=1;type=text/plain; charset=utf-8;"],
    ["{url}/upload", "-T", "pic.png"],
    ["{url}/status/200", "-X", "DELETE"],
    ["{url}/echo", "-X", "PATCH", "-d", "[]", "-H", "Content-Type: application/json-patch+json"],
    ["{url}/echo", "-X", "POST"],
    ["{url}/echo", "-X", "PROPFIND", "-H", "Depth: 1"],
    ["{url}/basic-auth/user/pa:ss", "-u", "user:pa:ss"],
    ["http://user:p%40ss@127.0.0.1:{port}/basic-auth/user/p%40ss", "-H", "X-A: 1"],
    ["{url}/headers", "--oauth2-bearer", "tok-1", "-H", "X-A: 1"],
    ["{url}/cookies", "-b", "a=1; b=2", "-H", "X-A: 1"],
    ["{url}/cookies/set?k=v", "{url}/cookies"],
    ["{url}/", "-I"],
    ["{url}/redirect/2", "-L", "-H", "X-A: 1"],
    ["{url}/redirect/1"],
    ["{url}/gzip", "--compressed"],
    ["{url}/headers", "-r", "0-99", "--compressed", "-H", "B: 2"],
    ["{url}/headers", "-H", "Host: other.test"],
    ["http://shop.test:{port}/headers", "--resolve", "shop.test:{port}:127.0.0.1"],
    ["http://shop.test/headers", "--connect-to", "shop.test:80:127.0.0.1:{port}"],
    ["{url}/status/{{200,201}}", "{url}/bytes/[1-3]"],
    ["{url}/headers", "-d", "x=1", "--next", "{url}/json", "-H", "Second: yes"],
    ["--digest", "-u", "a:b", "{url}/headers", "--next", "-u", "c:d", "{url}/headers"],
    ["-sS", "-o", "/dev/null", "-w", "%{{http_code}}", "-kLv", "--max-time", "5", "--url", "{url}/headers", "-XPUT", "-dy=2"],
]

SCRIPT = r"""#!/bin/bash
# As a browser copies it.
curl '{url}/echo' \
  -H 'accept: */*' \
  -H 'content-type: application/json' \
  --data-raw $'{{"it\'s": "\u00e9", "tab": "\\t"}}' \
  --compressed ; curl "{url}/headers?who=$WHO" -H "X-Who: $WHO"
curl -s {url}/echo -d @- <<EOF
{{"name": "$WHO"}}
EOF
curl -s {url}/echo -d @- <<'EOF' | cat && curl -s {url}/echo --json @- <<END
first: $WHO
EOF
{{"second": "$WHO"}}
END
echo done | cat
"""


class CurlTest(ImportTest):
    def setUp(self):
        super().setUp()
        self.write("lines.txt", "line one\r\nline=two & more\n")
        self.write("pic.png", bytes(range(256)))
        self.server = LoggingTarget(self)
        self.environment = {**os.environ, "WHO": "Ada", "no_proxy": "*", "HOME": str(self.folder), "LC_ALL": "C.UTF-8"}

    def filled(self, text):
        return text.format(url=self.server.url, port=self.server.port)

    def test_sends_what_curl_sends(self):
        for number, command in enumerate(COMMANDS):
            words = [self.filled(word) for word in command]
            self.server.mark(f"curl-{number}")
            done = subprocess.run(["curl", "-q", "-s", *words], cwd=self.folder, env=self.environment, timeout=30,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 0, f"{words}: {done.stderr.decode()}")
            self.server.mark(f"muster-{number}")
            with self.subTest(command=words):
                self.make("curl", "--", "curl", *words)
                self.check_and_run()
        requests = self.server.requests()
        for number, command in enumerate(COMMANDS):
            with self.subTest(command=command):
                self.assertGreater(len(requests[f"curl-{number}"]), 0)
                self.assertEqual(requests[f"muster-{number}"], requests[f"curl-{number}"])

    def test_sends_the_blanks_of_headers_that_curl_sends(self):
        heads = []

        def keep(connection):
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                piece = connection.recv(65536)
                if not piece:
                    return
                head += piece
            heads.append(head)
            connection.sendall(response())

        server = self.serve(keep)
        words = [server.url + "/a", "-H", "X-C;", "-H", "X-T: v  ", "-H", "X-L:   l", "-H", "X-S; ", "-A", "me ",
                 "-e", "ref ", "-b", "a=b  "]
        subprocess.run(["curl", "-q", "-s", *words], env=self.environment, timeout=30, check=True)
        self.make("curl", "--", "curl", *words)
        self.check_and_run()
        self.assertEqual(heads[1], heads[0])
        self.assertIn(b"\r\nX-C:\r\nX-T: v  \r\nX-L:   l\r\n", heads[0])

    def test_reads_a_script_as_a_shell_does(self):
        script = self.write("commands.sh", self.filled(SCRIPT))
        self.server.mark("curl")
        subprocess.run(["bash", script], cwd=self.folder, env=self.environment, timeout=30, check=True,
                       stdout=subprocess.DEVNULL)
        self.server.mark("muster")
        made = self.make("curl", script)
        self.assertEqual(made["steps"], 5)
        self.assertEqual(made["variables"], ["WHO"])
        notes = " ".join(note["message"] for note in made["notes"])
        self.assertIn("'echo' is not curl", notes)
        self.check_and_run(environment={"WHO": "Ada"})
        requests = self.server.requests()
        self.assertEqual(len(requests["curl"]), 5)
        self.assertEqual(requests["muster"], requests["curl"])

    def test_writes_paths_that_hold_from_another_folder(self):
        (self.folder / "jobs").mkdir()
        self.make("curl", "--", "curl", self.server.url + "/echo", "--data-binary", "@lines.txt", output="jobs/job.yaml")
        self.assertIn("../lines.txt", (self.folder / "jobs/job.yaml").read_text())
        self.check_and_run("jobs/job.yaml")


class CommandTest(ImportTest):
    def test_replaces_nothing_unless_told(self):
        self.write("there.yaml", "mine")
        words = [MUSTER, "import", "curl", "-o", "there.yaml", "--", "curl", "http://a.test"]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, timeout=30)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--force", done.stderr)
        self.assertEqual((self.folder / "there.yaml").read_text(), "mine")

    def test_a_file_that_is_not_there_is_told(self):
        told = self.make("curl", "--", "curl", "-d", "@nope", "http://a.test/")
        self.assertIn("cannot read 'nope': No such file or directory; the load test needs it, so put it there before you "
                      "run it", [note["message"] for note in told["notes"]])

    def test_writes_to_standard_output_and_says_what_comes_next(self):
        done = subprocess.run([MUSTER, "import", "curl", "-"], input=b"curl http://a.test --proxy p:1", cwd=self.folder,
                              capture_output=True, timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"muster: 1", done.stdout)
        self.assertIn(b"note: command 1 (line 1): --proxy", done.stderr)
        self.assertIn(b"next: muster check", done.stderr)

    def test_says_what_is_wrong_with_the_input(self):
        for kind, text in (("curl", "ls"), ("har", "{}"), ("openapi", "a: 1"), ("har", "\xff")):
            with self.subTest(kind=kind):
                done = subprocess.run([MUSTER, "import", kind, "-"], input=text.encode("latin-1"), cwd=self.folder,
                                      capture_output=True, timeout=30)
                self.assertEqual(done.returncode, 2, done)
                self.assertIn(f"muster import {kind}: ".encode(), done.stderr)
        self.assertFalse(self.make("har", "missing.har", code=2)["ok"])


class OpenApiTest(ImportTest):
    def test_calls_every_operation(self):
        server = self.serve_http(lambda request: response("{}", status=201 if request.method == "POST" else 200))
        self.write("api.json", json.dumps({
            "openapi": "3.0.3", "servers": [{"url": server.url + "/v1"}],
            "components": {"securitySchemes": {"t": {"type": "http", "scheme": "bearer"}}}, "security": [{"t": []}],
            "paths": {
                "/pets/{id}": {"get": {"operationId": "get pet", "responses": {"200": {}}, "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "string", "example": "a/b c"}},
                    {"name": "tag", "in": "query", "schema": {"type": "array"}, "example": ["x", "y z"]}]}},
                "/pets": {"post": {"responses": {"201": {}}, "requestBody": {"content": {"application/json": {"schema": {
                    "type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}}}}}}}}))
        made = self.make("openapi", "api.json")
        self.assertEqual(made["variables"], ["TOKEN"])
        self.check_and_run(environment={"TOKEN": "secret-1"})
        self.assertEqual([(each.method, each.target, each.body) for each in server.requests],
                         [("GET", "/v1/pets/a%2Fb%20c?tag=x&tag=y%20z", b""),
                          ("POST", "/v1/pets", b'{"name":"sample","age":1}')])
        self.assertEqual({each.header("authorization") for each in server.requests}, {"Bearer secret-1"})

    def test_sees_the_redirect_that_an_operation_answers_with(self):
        server = self.serve_http(lambda request: response("{}") if request.target == "/home" else
                                 response(status=302, headers=[("Location", "/home")]))
        self.write("api.json", json.dumps({"openapi": "3.0.3", "servers": [{"url": server.url}], "paths": {
            "/login": {"get": {"responses": {"302": {}, "401": {}}}},
            "/either": {"get": {"responses": {"200": {}, "302": {}}}}}}))
        self.make("openapi", "api.json")
        self.check_and_run()
        self.assertEqual([each.target for each in server.requests], ["/login", "/either", "/home"])

    def test_sends_parameters_in_their_style(self):
        server = self.serve_http(lambda request: response("{}"))
        pair = {"x": 3, "y": 4}

        def parameter(name, where, example, **how):
            return {"name": name, "in": where, "required": True, "schema": {}, "example": example, **how}

        self.write("api.json", json.dumps({"openapi": "3.0.3", "servers": [{"url": server.url}], "paths": {
            "/a/{p}": {"get": {"responses": {"200": {}}, "parameters": [
                parameter("p", "path", "v", style="matrix"),
                parameter("csv", "query", [1, 2], explode=False),
                parameter("pipe", "query", [1, 2], style="pipeDelimited"),
                parameter("space", "query", [1, 2], style="spaceDelimited"),
                parameter("obj", "query", pair, explode=False),
                parameter("deep", "query", pair, style="deepObject"),
                parameter("form", "query", pair),
                parameter("more", "query", {"x": 5}),
                parameter("H", "header", [1, 2])]}}}}))
        self.assertEqual(self.make("openapi", "api.json")["notes"], [])
        self.check_and_run()
        self.assertEqual([each.target for each in server.requests],
                         ["/a/;p=v?csv=1,2&pipe=1%7C2&space=1%202&obj=x,3,y,4"
                          "&deep%5Bx%5D=3&deep%5By%5D=4&x=3&x=5&y=4"])
        self.assertEqual(server.requests[0].header("h"), "1,2")


if __name__ == "__main__":
    unittest.main()
